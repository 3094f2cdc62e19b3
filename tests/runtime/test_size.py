"""What an agent does takes calls in proportion to how often it does it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from counting import growth
from gllint.guard.exchange import Guard
from gllint_runtime import Policy, Session, audit_run
from gllint_runtime.policy.reader import Reader

MOST = 2.3
SCHEMA = {
    "type": "object",
    "properties": {"load": {"type": "number", "x-unit": "kW"}, "heat_kwh": {"type": "number"}},
}


def _output(number: int) -> dict[str, Any]:
    return {"heat": {"value": 12.5 + number, "unit": "kWh"}}


def _session(**options: Any) -> Session:
    session = Session(mode="sourced", **options)
    session.user("How much?")
    return session


def _parameters(**options: Any) -> Callable[[int], None]:
    def work(n: int) -> None:
        session = _session(**options)
        for number in range(n):
            arguments = {"load": {"value": 1000.5 + number, "unit": "W"}, "heat_kwh": 5.5 + number}
            session.record(
                "meter", session.tool_arguments("meter", arguments, args_schema=SCHEMA), _output(number)
            )

    return work


def _answers(n: int) -> None:
    session = _session()
    for number in range(n):
        session.record("meter", {}, _output(number))
        session.check(f"It used {12.5 + number} kWh.")


def _store(n: int) -> None:
    session = _session()
    for number in range(n):
        session.record("meter", {}, _output(number))
    Session.from_json(session.to_json())


def _message(n: int) -> None:
    session = _session()
    rows = [{"site": f"s{i}", "heat": {"value": 100.5 + 3 * i, "unit": "kWh"}} for i in range(n)]
    session.record("meter", {}, {"rows": rows})
    session.check(" ".join(f"Site s{i} used {100.5 + 3 * i} kWh." for i in range(n)))


def _sentence_of_dates(n: int) -> None:
    days = [date(2024, 1, 1) + timedelta(number) for number in range(n)]
    session = _session()
    session.record("visits", {}, [{"made_at": str(day), "by": f"v{day:%y%m%d}"} for day in days])
    session.verify("Visits were " + " and ".join(f"on {day:%B %d, %Y}" for day in days) + ".")


def _text_of_numbers(n: int) -> None:
    """One sentence without an end, of which nothing follows from anything."""
    session = _session(argument_origin="record")
    session.record("note", {"text": "5/" * (15 * n)}, {"ok": True})


def _audit(n: int) -> None:
    run: list[dict[str, Any]] = []
    for number in range(n):
        call = {"id": f"c{number}", "function": {"name": "meter", "arguments": "{}"}}
        run += [
            {"role": "user", "content": "How much?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(_output(number))},
            {"role": "assistant", "content": f"It used {12.5 + number} kWh."},
        ]
    audit_run(run)


def _guard(n: int) -> None:
    guard = Guard(Policy(), "warn")
    for number in range(n):
        params = {"name": "meter", "arguments": {"load": number}}
        guard.from_client({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        result = {"content": [], "structuredContent": _output(number)}
        guard.from_server({"jsonrpc": "2.0", "id": number, "result": result})


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(
    "work",
    [
        pytest.param(_parameters(argument_units="convert"), id="units of parameters"),
        pytest.param(_parameters(argument_units="refuse", argument_origin="record"), id="origins of arguments"),
        *(pytest.param(work, id=work.__name__) for work in (_answers, _store, _message, _sentence_of_dates, _text_of_numbers, _audit, _guard)),
    ],
)  # fmt: skip
def test_twice_as_often_takes_twice_the_calls(
    work: Callable[[int], None], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "gllint_runtime")
    assert max(growth(work, 10)) < MOST


@pytest.mark.parametrize("piece", ["1 ", "$1.50, ", "5/", "1 of the sites and "])
def test_a_number_of_a_sentence_without_an_end_reads_as_little_of_it(piece: str) -> None:
    def read(n: int) -> int:
        places = (reading.place for reading in Reader().read(piece * n))
        return sum(end - start for place in places for start, end in (place.sentence, place.clause))

    assert read(4_000) < MOST * read(2_000)
