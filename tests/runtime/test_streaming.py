"""A message that is shown while it is written: what is shown was checked, and is how the message begins."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gllint_runtime import GLError, Session
from gllint_runtime.execution.streaming import MessageStream

HEAT = {"heat": {"value": 12.5, "unit": "kWh"}, "rows": {"value": 3, "unit": "count"}}
CLAIM = {"source_call_id": "tc_1", "path": "$.heat", "quantity": HEAT["heat"]}
ROWS = {"source_call_id": "tc_1", "path": "$.rows", "quantity": HEAT["rows"]}


def session() -> Session:
    made = Session(packs=["counts"])
    made.record("meter", {}, HEAT)
    return made


def shown(message: str, claims: Any = (), size: int = 1) -> list[str]:
    """What is shown, piece by piece, of a message that comes ``size`` characters at a time; its claims come first."""
    stream = session().stream()
    pieces = [stream.feed("", claims)]
    pieces += [stream.feed(message[i : i + size]) for i in range(0, len(message), size)]
    verified = stream.close()
    assert "".join(pieces) == stream.released and stream.released + stream.rest == verified.message
    return [piece for piece in [*pieces, stream.rest] if piece]


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(
    ("message", "pieces"),
    [
        ("It is warm. It is dry! Well", ["It is warm. ", "It is dry! ", "Well"]),
        ("It uses {{claim:0}}. It is fine.", ["It uses 12.50 kWh. ", "It is fine."]),
        ("Heat:\n\n- {{claim:0}}\n- none\n- little", ["Heat:\n\n", "- 12.50 kWh\n", "- none\n", "- little"]),
        ("| a | b |\n|---|---|\n| x | {{claim:0}} |\n| y | none |\n", None),
        ("暖かい。{{claim:0}}です。はい", ["暖かい。", "12.50 kWhです。", "はい"]),
        ("He said “yes.” Then no.", ["He said “yes.” ", "Then no."]),
        ("No end", ["No end"]),
        ("", []),
    ],
)
def test_what_is_released_when(message: str, pieces: list[str] | None, size: int) -> None:
    found = shown(message, [CLAIM] if "claim" in message else [], size)
    whole = session().check(message, [CLAIM] if "claim" in message else []).message
    assert "".join(found) == whole
    if pieces is not None and size == 1:
        assert found == pieces
    if pieces is None and size == 1:
        assert len(found) == 4


def test_a_sentence_waits_for_its_claims() -> None:
    stream = session().stream()
    assert stream.feed("It is warm. It uses {{claim:0}}. And {{claim:1}}. ") == "It is warm. "
    assert stream.feed("So ", [CLAIM]) == "It uses 12.50 kWh. "
    assert stream.feed("be it. ", [ROWS]) == "And 3. "  # further ones, or all of them anew
    assert stream.feed("", [CLAIM, ROWS]) == ""
    assert stream.feed("x") == "So be it. "
    assert stream.close([CLAIM, ROWS]).message == "It is warm. It uses 12.50 kWh. And 3. So be it. x"


@pytest.mark.parametrize(
    "message",
    [
        "It is warm. It uses 13 kWh. It is dry. ",
        "It is warm. It uses {{claim:7}}. It is dry. ",
        "It is warm. Minus {{claim:0}}. It is dry. ",
        "It is warm. It uses {{claim:0}} million. It is dry. ",
        "It is warm. It uses {{claim:0}}\nmillion. It is dry. ",
        "It is warm. In millions:\n\n- {{claim:0}} MWh\n- none",
        "It is warm. Some <b>1</b>3 kWh. It is dry. ",
        "It is warm. Some &#49;3 kWh. It is dry. ",
        "It is warm. \x1b[2K It is dry. ",
        "It is warm. ½. It is dry. ",
    ],
)
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_what_does_not_hold_is_held_back(message: str, size: int) -> None:
    stream = session().stream()
    released = "".join(stream.feed(message[i : i + size], [CLAIM]) for i in range(0, len(message), size))
    assert released.startswith("It is warm. ") and not any(c.isnumeric() for c in released)
    assert "dry" not in released
    with pytest.raises(GLError) as caught:
        stream.close()
    assert caught.value.released == released


PARTS = [
    *(
        "It is warm. ",
        "So ",
        "{{claim:0}}",
        "{{claim:1}}",
        ". ",
        "\n",
        "\n\n",
        "- ",
        "| ",
        " |",
        "kWh ",
        "rows",
        "-",
    ),
    *(
        "minus ",
        "million ",
        "<b>",
        "</b>",
        "<!--",
        "-->",
        "&amp;",
        "`",
        "*",
        "$",
        "5",
        "1. ",
        "2024-10-02",
        "。",
        "(",
        ")",
    ),
    *("per year", "Costs in millions: ", "**", "[a](b)", "> ", "# ", "\\", "~", "_"),
]


@pytest.mark.usefixtures("unmeasured")
@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join), st.integers(1, 9))
def test_whatever_is_released_is_how_the_message_begins(message: str, size: int) -> None:
    claims = [CLAIM, ROWS]
    stream, whole = session().stream(), session()
    for i in range(0, len(message), size):
        stream.feed(message[i : i + size], claims)
    used = [claim for i, claim in enumerate(claims) if f"claim:{i}" in message]
    if len(used) < 2:
        return
    verdict = whole.verify(message, claims)
    if verdict.status == "success":
        assert verdict.message.startswith(stream.released)
    else:
        # The number of a list's item is nobody's figure, whatever else is wrong with the message.
        items = re.compile(r"^[-*+>#\s]*(?:[0-9]+\. )+", re.MULTILINE)
        rest = items.sub("", stream.released)
        for of_a_claim_or_a_date in ("12.50", "3", "2024-10-02"):
            rest = rest.replace(of_a_claim_or_a_date, "")
        assert not any(map(str.isnumeric, rest))


def test_a_stream_that_was_closed_takes_no_text() -> None:
    stream = Session(mode="sourced").stream()
    stream.feed("It is done.")
    stream.close()
    with pytest.raises(ValueError, match="closed"):
        stream.feed(" And more. ")


def test_a_stream_takes_text() -> None:
    with pytest.raises(TypeError):
        Session().stream().feed(5)  # type: ignore[arg-type]
    stream = Session().stream()
    assert stream.feed("Well. Yes. ", "no claims") == ""
    with pytest.raises(GLError, match="STEP_SCHEMA"):
        stream.close()


class _Counting:
    """A gate that lets nothing pass, and counts how often it is asked."""

    count, asked = 0, 0

    def check(self, message: str, claims: Any) -> Any:
        raise NotImplementedError

    def shown_part(self, context: str, part: str, claims: Any) -> str | None:
        self.asked += 1
        return None


def test_a_part_that_does_not_hold_is_judged_again_only_once_more_is_there() -> None:
    """Else a sentence that waits costs as much for each piece that comes behind it."""
    gate = _Counting()
    stream = MessageStream(gate)
    for piece in "It uses {{claim:0}}. " * 200:
        stream.feed(piece)
    assert gate.asked == 1
    stream.feed("", [CLAIM])
    gate.count = 1
    stream.feed("", [CLAIM])
    assert gate.asked == 3


@pytest.mark.parametrize(
    "text",
    ["a \n \n \n b. c", "a.\n\n\n- b", "a\n  12345678.   b", "a.)]”’   \n b", "。」』b", "\n\nb", "a\n\n  \n|b", "a. \n\n1) c",
     f"A strict a. {40 * 'b'}.\n- c"],
)  # fmt: skip
def test_an_end_is_seen_in_whichever_pieces_it_comes(text: str) -> None:
    def ends(size: int) -> list[int]:
        stream = MessageStream(_Counting())
        for at in range(0, len(text), size):
            stream.feed(text[at : at + size])
        return stream._ends

    assert ends(len(text)) and all(ends(size) == ends(len(text)) for size in (1, 2, 3, 5))
