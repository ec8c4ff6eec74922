"""A report in a real browser: nothing to complain of, nothing asked of the network."""

import chromium
import numpy as np
import pytest
from pages import Page

from cprime import GaussianMixture, KMeans, report

RNG = np.random.default_rng(0)


def two_columns():
    X = RNG.normal(size=(300, 2)) + 4.0 * RNG.integers(0, 2, size=(300, 1))
    return KMeans(2, random_state=0, n_init=2).fit(X), X


def one_column():
    X = np.concatenate([RNG.normal(size=200), RNG.normal(6.0, 0.5, 100)])[:, None]
    return GaussianMixture(2, random_state=0).fit(X), X


def many_columns_and_clusters():
    X = RNG.normal(size=(1500, 74)) + 8.0 * RNG.integers(0, 3, size=(1500, 74))
    return KMeans(500, init="random", n_init=1, max_iter=2, random_state=0).fit(X), X


CASES = [two_columns, one_column, many_columns_and_clusters]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.__name__)
def path(request, tmp_path_factory):
    name = "r <&> 'ü'.html"
    return report.write(tmp_path_factory.mktemp("report") / name, *request.param())


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program = chromium.installed()
    if program is None:
        pytest.skip("no chromium here: reports are not looked at in a browser")
    found = chromium.Chromium(program, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


def test_a_report_is_one_small_file(path):
    assert path.stat().st_size < 2_000_000
    page = Page(path.read_text())
    n_clusters = len(page.of("tbody", "id"))
    assert page.text.count("typical ") >= min(3 * n_clusters, 700)


@pytest.mark.parametrize("width", [390, 1280])
def test_a_report_in_a_browser(browser, path, width):
    browser.open(path.as_uri(), width)
    assert browser.complaints == []
    elsewhere = [url for url in browser.requests if not url.startswith("data:")]
    assert elsewhere == [path.as_uri()]
    assert browser.value("document.querySelectorAll('h2').length") >= 7
    # The style was let in, pictures are there, and nothing sticks out at the side.
    assert browser.value("getComputedStyle(document.querySelector('nav')).display") == (
        "flex"
    )
    drawn = "[...document.images].map(i => i.complete && i.naturalWidth > 100)"
    pictures = browser.value(drawn)
    assert len(pictures) == 5 and all(pictures)
    # Cells of the heat map are as large as letters, and those past the side scroll.
    cells = "[...document.querySelectorAll('.heat td')].map(c => c.offsetHeight)"
    assert min(browser.value(cells)) >= 18
    assert browser.value("document.documentElement.scrollWidth") <= width
    unseen = "[...document.querySelectorAll('section')].map(s => s.offsetHeight)"
    assert min(browser.value(unseen)) > 40


@pytest.mark.parametrize("path", [two_columns], indirect=True, ids=["spoiled"])
def test_what_should_not_be_there_is_noticed(browser, path, tmp_path):
    """The test above can fail: these are kept out by the policy, aloud."""
    html = path.read_text()
    for foreign in (
        "<script>document.title = 'run'</script>",
        "<img src='http://127.0.0.1:9/x.png'>",
        "<p style='color: red'>x</p>",
    ):
        spoiled = tmp_path / "spoiled.html"
        spoiled.write_text(html.replace("<main>", f"<main>{foreign}"))
        browser.open(spoiled.as_uri(), 1280)
        assert any("Content Security Policy" in said for said in browser.complaints)
        assert browser.value("document.title") != "run"
