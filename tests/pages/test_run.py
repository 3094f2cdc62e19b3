"""An answer of the runtime as a page: each number leads to the call it came from, also by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gllint_runtime import Session

pytest.importorskip("gllint_runtime.show")

OUTPUT = {"heat": {"value": 12.5, "unit": "kWh"}, "cost": {"value": 3.2, "unit": "EUR"}}


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    session = Session()
    call = session.record("meter", {"site": "</script><b>north</b>"}, OUTPUT)
    claims = [
        {"source_call_id": call, "path": f"$.{name}", "quantity": quantity}
        for name, quantity in OUTPUT.items()
    ]
    path = tmp_path_factory.mktemp("answer") / "answer.html"
    path.write_text(session.check("It used {{claim:0}} and cost {{claim:1}}.", claims).to_html(), "utf-8")
    return path


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1000, 360])
def test_each_number_leads_to_its_call(browser: Any, answer: Path, dark: bool, width: int) -> None:
    browser.open(answer, dark=dark, width=width)
    for value, path in (("12.5", "$.heat"), ("3.2", "$.cost")):
        browser.press("Tab", 9)
        focused = "document.activeElement"
        assert browser.run(f"{focused}.value") == value
        assert browser.run(f"getComputedStyle({focused}).outlineStyle") == "solid"
        source = f"{focused}.parentElement.querySelector('.source')"
        settled = f"new Promise(done => setTimeout(() => done(getComputedStyle({source}).visibility), 250))"
        assert browser.run(settled) == "visible"
        said = browser.run(f"{source}.textContent")
        assert "meter" in said and path in said and "</script><b>north</b>" in said
        assert browser.low_contrast() == {}
    assert browser.elsewhere(answer.as_uri()) == [] and browser.complaints == []
