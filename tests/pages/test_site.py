"""The documentation as a site: it builds without a warning, asks no other server, and its search finds what newcomers ask."""

from __future__ import annotations

import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(230)  # it starts what takes its time on a busy machine

pytest.importorskip("zensical")
REPOSITORY = Path(__file__).parents[2]
PAGES = ["", "start/", "tools/", "configuration/", "rules/naked-number/", "gate/langchain/"]
QUESTIONS = [
    ("does it know my framework", "tools/"),
    ("why is this count reported", "kinds/"),
    ("how do I silence one finding with a reason", "silence/"),
    ("how do I see why there is no finding", "why/"),
    ("how do I put the runtime into my LangGraph agent", "gate/langchain/"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("site")
    shutil.copytree(REPOSITORY / "docs", top / "docs")
    shutil.copy(REPOSITORY / "zensical.toml", top)
    command = [sys.executable, str(REPOSITORY / "tools/build_site.py"), "--strict", "--clean"]
    done = subprocess.run(
        command, cwd=top, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout.decode()
    return top / "site"


class Asked(HTMLParser):
    """What a page makes a browser load."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "srcset") or (tag == "link" and name == "href"):
                self.addresses.append(value or "")


def test_models_find_the_pages_as_markdown(site: Path) -> None:
    index = (site / "llms.txt").read_text("utf-8")
    for page in re.findall(r"\]\((\S+?)\)", index):
        assert (site / page).read_text("utf-8").startswith("# ")


def test_nothing_is_asked_of_another_server(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        asked = Asked()
        asked.feed(page.read_text("utf-8"))
        assert asked.addresses and not [url for url in asked.addresses if "//" in url], page
    for sheet in site.rglob("*.css"):
        assert "url(http" not in sheet.read_text("utf-8") and "@import" not in sheet.read_text("utf-8")


def test_every_page_of_the_site_is_in_its_navigation_or_is_a_rule() -> None:
    import tomllib

    named = json.dumps(tomllib.loads((REPOSITORY / "zensical.toml").read_text("utf-8"))["project"]["nav"])
    docs = REPOSITORY / "docs"
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md") if path.parent.name != "rules"}
    assert {page for page in pages if f'"{page}"' not in named} == set()


@pytest.mark.parametrize(("question", "page"), QUESTIONS)
def test_the_index_holds_the_words_of_a_question_on_the_page_that_answers_it(
    site: Path, question: str, page: str
) -> None:
    items = json.loads((site / "search.json").read_text("utf-8"))["items"]
    own = " ".join(
        f"{i['title']} {i['text']}" for i in items if i["location"].partition("#")[0] == page
    ).lower()
    assert all(word in own for word in question.lower().split())


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))
    ) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_pages_are_readable_and_keep_to_themselves(browser: Any, address: str, dark: bool) -> None:
    for page in PAGES:
        browser.open(address + page, dark=dark)
        scheme = browser.run("document.body.dataset.mdColorScheme")
        assert scheme == ("slate" if dark else "default")
        assert browser.low_contrast() == {}, page
        assert browser.complaints == [] and browser.elsewhere(address) == []
        browser.press("Tab", 9)
        assert browser.run("document.activeElement.matches('a, button, input, label')")


SEARCH = """
(async () => {
  const pause = (time) => new Promise((done) => setTimeout(done, time));
  document.querySelector(".md-search__button").click();
  const root = () => [...document.querySelectorAll("div")].map((e) => e.shadowRoot).find((r) => r && r.querySelector("input"));
  while (!root()) await pause(20);
  const input = root().querySelector("input");
  input.value = QUESTION;
  input.dispatchEvent(new Event("input", {bubbles: true, composed: true}));
  for (let i = 0; i < 250 && !root().querySelector("a[href]"); i++) await pause(20);
  return [...root().querySelectorAll("a[href]")].map((a) => new URL(a.href, location).pathname);
})()
"""


def test_the_search_leads_from_a_question_to_its_page(browser: Any, address: str) -> None:
    for question, page in QUESTIONS:
        browser.open(address)
        found = browser.run(SEARCH.replace("QUESTION", json.dumps(question)))
        assert f"/{page}" in found[:3], question
        assert browser.complaints == [] and browser.elsewhere(address) == []
