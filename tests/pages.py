"""An HTML page, taken apart without a browser."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """What is in a page.

    Attributes
    ----------
    tags : dict of str to set of str
        Every element there is, and the attributes it has anywhere.
    values : list of (str, str, str)
        Element, attribute and value of every attribute, in order.
    text : str
        What a user reads, with one space between any two parts.
    """

    # Elements without an end.
    VOID = frozenset({"meta", "link", "img", "rect", "path"})

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.values, self._open, self._parts = {}, [], [], []
        self.style = ""
        self.feed(html)
        self.close()
        self.text = " ".join(" ".join(self._parts).split())

    def handle_starttag(self, tag, attrs):
        self.tags.setdefault(tag, set()).update(name for name, _ in attrs)
        self.values += [(tag, name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            continue

    def handle_data(self, data):
        if self._open and self._open[-1] == "style":
            self.style += data
        else:
            self._parts.append(data)

    def of(self, tag, attribute):
        """Return all values of an attribute, in order."""
        return [v for t, a, v in self.values if (t, a) == (tag, attribute)]
