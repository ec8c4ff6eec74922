"""A browser to look at pages with, driven by nothing but the standard library.

It speaks the DevTools protocol through two pipes: JSON, ended by a zero byte.
"""

import json
import os
import select
import shutil
import subprocess
import sys
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60.0
# The protocol wants exactly these two descriptors.
START = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def installed():
    """Return where a Chromium is, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """A headless browser with one page.

    Attributes
    ----------
    complaints : list of str
        What it wrote to its console: errors, warnings, and what a policy kept out.
    requests : list of str
        The addresses it asked for.
    """

    def __init__(self, program, profile):
        to_it, self._out = os.pipe()
        self._in, from_it = os.pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        options += ["--disable-background-networking", "--disable-dev-shm-usage"]
        options += [f"--user-data-dir={profile}", "--remote-debugging-pipe"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", START, f"{to_it}", f"{from_it}", program, *options],
            pass_fds=(to_it, from_it),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_it)
        os.close(from_it)
        self._rest, self._number, self._session = b"", 0, None
        self.complaints, self.requests, self._events = [], [], []
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def _attach(self):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def open(self, address, width, height=900):
        """Open a page in a window of this size, and wait until all of it is there."""
        self.complaints.clear()
        self.requests.clear()
        self._events.clear()
        size = {"width": width, "height": height, "deviceScaleFactor": 1}
        self.ask("Emulation.setDeviceMetricsOverride", **size, mobile=width < 500)
        self.ask("Page.navigate", url=address)
        deadline = time.monotonic() + PATIENCE
        while "Page.loadEventFired" not in self._events:
            self._receive(deadline)
        # What is complained about while painting comes before the answer.
        self.value("new Promise(f => requestAnimationFrame(() => setTimeout(f, 50)))")

    def value(self, expression):
        """Return what an expression is on the page."""
        found = self.ask(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def ask(self, method, **parameters):
        """Send a command and return its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)

    def _receive(self, deadline):
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], deadline - time.monotonic())
            assert ready, "The browser did not answer."
            part = os.read(self._in, 2**20)
            assert part, "The browser is gone."
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(message)
        self._note(message.get("method"), message.get("params"))
        return message

    def _note(self, method, told):
        self._events.append(method)
        if method == "Log.entryAdded":
            self.complaints.append(told["entry"]["text"])
        elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
            self.complaints.append(json.dumps(told))
        elif method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
