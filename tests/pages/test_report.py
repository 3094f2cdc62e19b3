"""The pages as a browser shows them: nothing asked of the network, no error, readable, and usable by keyboard."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(230)  # it starts what takes its time on a busy machine

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    command = [
        sys.executable,
        "-m",
        "gllint",
        "report",
        "examples/building-energy",
        "--no-cache",
        "-q",
        "-o",
        str(path),
    ]
    subprocess.run(command, cwd=REPOSITORY, check=True, timeout=120, env={**os.environ, "NO_COLOR": "1"})
    return path


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1200, 360])
def test_the_report_is_readable(browser: Any, report: Path, dark: bool, width: int) -> None:
    browser.open(report, dark=dark, width=width)
    browser.run("document.querySelectorAll('details').forEach(element => element.open = true)")
    assert browser.low_contrast() == {}
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.requests == [report.as_uri()] and browser.complaints == []


def test_the_report_is_used_by_keyboard(browser: Any, report: Path) -> None:
    browser.open(report)
    browser.press("Tab", 9)
    assert browser.run("document.activeElement.className") == "skip"
    assert browser.run("document.activeElement.getBoundingClientRect().left") >= 0
    seen = []
    for _ in range(12):
        browser.press("Tab", 9)
        seen.append(
            browser.run(
                "[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]"
            )
        )
    assert {name for name, _ in seen} >= {"A", "BUTTON"} and {style for _, style in seen} == {"solid"}

    button = "document.querySelector('button[data-value=GL401]')"
    browser.run(f"{button}.focus()")
    browser.press("Enter", 13, "\r")
    assert browser.run("document.getElementById('told').textContent") == "1 of 5 findings shown"
    assert browser.run("document.activeElement.name") == "code"
    shown = (
        "[...document.querySelectorAll('article')].filter(e => e.checkVisibility()).map(e => e.dataset.code)"
    )
    assert browser.run(shown) == ["GL401"]
    browser.run("document.querySelector('button[type=reset]').click()")
    assert browser.run(f"new Promise(done => setTimeout(() => done({shown}.length), 50))") == 5
    browser.run("document.forms[0].elements.words.focus()")
    for letter in "kwh":
        browser.press(letter, ord(letter.upper()), letter)
    told = "new Promise(done => setTimeout(() => done(document.getElementById('told').textContent), 400))"
    assert browser.run(told).endswith(" of 5 findings shown") and not browser.run(told).startswith("5 ")
    assert browser.complaints == []
