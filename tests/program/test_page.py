"""The page of ``gllint report``: what it holds, and that nothing in the code under lint can harm it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from gllint_rules.check import map as mapping

Write = Callable[[Mapping[str, str | bytes]], Path]
Run = Callable[..., Any]

CLAIMING = '''\
from langchain_core.tools import tool


@tool
def heat_loss(area: float) -> dict:
    """Heat loss of a building."""
    loss = {"power": {"value": area * 3, "unit": "W"}, "rooms": len("abc"), "shares": [0.5, 2.5]}
    return {**loss, "deep": {"cost": {"value": area, "unit": "EUR"}}, "odd": {"value": area, "unit": UNIT}, "bad": {"value": area, "unit": "kwh"}}


@tool
def silent(city: str) -> str:
    """Says nothing."""
    return city


def finish(call_id: str) -> dict:
    return {
        "kind": "final",
        "final": {
            "message": "The house <b>loses</b> {{claim:0}} & costs {{claim:1}}, not 7.",
            "claims": [
                {"source_call_id": call_id, "path": "$.power", "quantity": {"value": 1, "unit": "W"}},
                {"source_call_id": call_id, "path": "$.deep.cost", "quantity": {"value": 1, "unit": "EUR"}},
            ],
        },
    }


FINAL_MESSAGE = "It needs {{claim:0}}."
'''


def page_of(run: Run, folder: Path, *arguments: str) -> html.HtmlElement:
    done = run("report", "-o", "out.html", *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return html.fromstring((folder / "out.html").read_bytes().decode("utf-8").encode("utf-8"))


def texts(page: html.HtmlElement, path: str) -> list[str]:
    return [" ".join(element.text_content().split()) for element in page.xpath(path)]


def check_harmless(page: html.HtmlElement) -> None:
    """The page asks for nothing, runs no script but its own, and its links lead to what it holds."""
    assert len(page.xpath("//script")) == len(page.xpath("//style")) == 1
    assert not page.xpath("//@src | //link | //iframe | //object | //img | //base")
    assert not [
        name for e in page.iter() if isinstance(e.tag, str) for name in e.attrib if name.startswith("on")
    ]
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    for target in page.xpath("//@href"):
        assert target.startswith("#") and target[1:] in ids


def test_findings_are_counted_and_shown_in_their_source(run: Run, write: Write, agent: str) -> None:
    counted = agent.replace('"rooms": 4', '"rooms": len(area)')
    page = page_of(run, write({"src/one/agent.py": counted, "src/two/plain.py": "x = 1\n"}))
    check_harmless(page)
    figures = dict(zip(texts(page, "//dt"), texts(page, "//dd"), strict=True))
    assert figures == {"findings": "3", "files with findings": "1", "files checked": "2"}
    rows = texts(page, "//table[@class='counts']/tbody/tr")
    assert rows[:2] == ["1count", "1number whose kind is not known"]
    assert any(row.startswith("2GL101 ") for row in rows) and "3src/one" in rows
    heads = texts(page, "//article/h4")
    assert heads[0].startswith("8:23 GL101 demand in the result of tool heat_demand is")
    assert texts(page, "//article[1]//mark") == ["demand"]
    assert texts(page, "//article[1]//pre/i") == ["6", "7", "8"]
    assert "Return a Quantity" in texts(page, "//article[1]/p")[0]


def test_what_is_in_the_baseline_is_told_from_what_is_new(run: Run, write: Write, agent: str) -> None:
    folder = write({"agent.py": agent})
    assert run("check", "--write-baseline", "base.json", cwd=folder).returncode == 0
    (folder / "agent.py").write_text(agent.replace("FINAL", 'FINAL_MESSAGE_B = "About 7."\nFINAL'))
    page = page_of(run, folder, "--baseline", "base.json")
    figures = dict(zip(texts(page, "//dt"), texts(page, "//dd"), strict=True))
    assert figures["new since the baseline"] == "1" and figures["in the baseline"] == "3"
    (new,) = texts(page, "//article[not(@data-known)]/h4")
    assert "GL401 7 in a final message" in new and "baseline" not in new


def test_the_way_of_the_numbers(run: Run, write: Write) -> None:
    page = page_of(
        run, write({"agent.py": CLAIMING, "tests/test_agent.py": CLAIMING.replace("heat_loss", "fixture")})
    )
    check_harmless(page)
    (table,) = page.xpath("//section[@id='map']//table/tbody")
    assert texts(table, "tr") == [
        "$.powerWmessage 1",
        "$.deep.costEURmessage 1",
        "$.oddnot written out–",
        "$.badkwh is not allowed–",
        "$.roomsno unit (count)–",
        "$.shares[*]no unit–",
    ]
    assert texts(page, "//details/summary")[0] == "1 tool returns no number that the source shows"
    first, second = texts(page, "//div[starts-with(@id, 'm')]")
    assert "The house <b>loses</b> {{claim:0}} & costs {{claim:1}}, not 7." in first
    assert "{{claim:0}} is $.power in W of heat_loss" in first
    assert "Its claims are only known at run time." in second
    assert "fixture" not in "".join(texts(page, "//section[@id='map']"))


def test_in_sourced_mode_a_key_shows_a_unit(run: Run, write: Write) -> None:
    agent = CLAIMING.replace('{"power"', '{"area_m2": area, "power"')
    page = page_of(run, write({"agent.py": agent, "gllint.toml": 'mode = "sourced"\n'}))
    assert texts(page, "//p[@id='headline']") == ["6 of 7 numbers have a unit."]
    assert "$.area_m2shown by the output–" in texts(page, "//section[@id='map']//tbody/tr")


def test_a_map_that_is_too_large_says_so(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    from gllint.files.paths import absolute
    from gllint.run.engine import Engine, Options

    folder = write({"agent.py": CLAIMING})
    engine = Engine(Options(cache=False))
    outcome = engine.check([absolute(str(folder))])
    (whole,) = engine.maps(outcome.checked)
    assert not whole.is_cut and len(whole.tools) == 2 and len(whole.messages) == 2
    monkeypatch.setattr(mapping, "MOST_TOOLS", 1)
    monkeypatch.setattr(mapping, "MOST_IN_RESULT", 1)
    (cut,) = engine.maps(outcome.checked)
    assert cut.is_cut and len(cut.tools) == 1 and cut.tools[0].is_cut and not cut.tools[0].returned


def hostile() -> Iterator[tuple[str, str]]:
    yield "tags.py", "</script><script>alert(1)</script>"
    yield "attributes.py", "' onfocus=alert(1) x='"
    yield "comment.py", "<!-- --><style>*{}</style>"
    yield "invisible.py", "\u202eabc\u2066\u200b\x1b[31m\x00"[:-1]
    yield "lines.py", "\\u2028 \u2028 \x0c"


def test_nothing_in_the_code_can_harm_the_page(run: Run, write: Write) -> None:
    files = {f"a<b>&\"'{name}": f'FINAL_MESSAGE = "It is {text} 7 kWh"\n' for name, text in hostile()}
    tool = CLAIMING.replace('"power"', '"<img src=x onerror=alert(1)>"').replace('"EUR"', '"</style>"')
    files["x\u202e<img src=x>/tool.py"] = tool
    folder = write(files)
    page = page_of(run, folder)
    check_harmless(page)
    text = (folder / "out.html").read_text("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\u200b\u2028]", text)
    assert any("alert(1)" in line for line in texts(page, "//article//pre"))
    assert "<img src=x onerror=alert(1)>" in "".join(texts(page, "//section[@id='map']//td"))
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert "default-src 'none'" in policy and "unsafe" not in policy.partition("script-src")[2]


def test_very_long_lines_are_shown_around_the_place(run: Run, write: Write) -> None:
    line = f'FINAL_MESSAGE = "{"a" * 5000} 12 {"b" * 5000}"\n'
    page = page_of(run, write({"agent.py": line}))
    (pre,) = texts(page, "//article//pre")
    assert texts(page, "//article//mark") == ["12"] and len(pre) < 300
    assert pre.startswith("1…aaa") and pre.endswith("bbb…")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("agent.py", b"is a file of the project"),
        ("there", b"is a folder"),
        ("no/such/out.html", b"cannot be written"),
    ],
)
def test_a_page_is_written_over_nothing_else(
    run: Run, write: Write, agent: str, target: str, said: bytes
) -> None:
    folder = write({"agent.py": agent, "there/x.txt": "x"})
    done = run("report", "-o", target, cwd=folder)
    assert done.returncode == 2 and said in done.stderr.lower()
    assert (folder / "agent.py").read_text() == agent


def test_a_page_of_nothing(run: Run, write: Write) -> None:
    folder = write({"plain.py": "x = 1\n"})
    page = page_of(run, folder)
    check_harmless(page)
    assert "There are no findings." in "".join(texts(page, "//section[@id='counts']"))
    assert run("report", "-o", "a.html", "nowhere", cwd=folder).returncode == 2
    assert run("report", cwd=folder).returncode == 2
