"""What adapters and loops of one's own share: calls of tools, code that is async or not, the parts of a message."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest

from gllint_runtime import Session
from gllint_runtime.adapters import kit
from gllint_runtime.adapters.kit import atool_result, current_session, tool_result

HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}


def broken(site: str) -> Any:
    raise ValueError(f"no site {site}")


async def abroken(site: str) -> Any:
    await asyncio.sleep(0)
    return broken(site)


async def meter(site: str) -> Any:
    await asyncio.sleep(0)
    assert current_session() is not None
    return HEAT


def test_what_a_tool_raises_is_a_result_that_the_model_is_told() -> None:
    told = "The tool meter failed: ValueError: no site north"
    session = Session()
    assert tool_result(session, "meter", broken, {"site": "north"}) == told
    assert asyncio.run(atool_result(session, "meter", abroken, {"site": "north"})) == told
    assert not session.has_calls


def test_an_async_tool_is_awaited() -> None:
    session = Session()
    told = asyncio.run(atool_result(session, "meter", meter, {"site": "north"}, tool_call_id="call_1"))
    assert json.loads(told) == {"tool_call_id": "tc_1", "output": HEAT}
    assert "[RESULT_SCHEMA]" in asyncio.run(atool_result(session, "raw", lambda: {"heat": 12.5}, {}))
    assert session.has_calls and current_session() is None


def test_an_async_tool_is_no_tool_for_tool_result() -> None:
    with pytest.raises(TypeError, match="await atool_result"):
        tool_result(Session(), "meter", meter, {"site": "north"})


def test_steps_of_a_call_run_once_for_code_that_is_async_and_code_that_is_not() -> None:
    def steps(call: kit.ToolCall, run: Any) -> kit.Steps[str]:
        return call.steps(run, lambda hint: f"rejected {hint[:15]}", lambda own, output: json.dumps(output))

    def call() -> kit.ToolCall:
        return kit.ToolCall(Session(), "meter", {"site": "north"})

    assert kit.run_steps(steps(call(), lambda: HEAT)) == json.dumps(HEAT)
    assert asyncio.run(kit.arun_steps(steps(call(), lambda: meter("north")))) == json.dumps(HEAT)
    with pytest.raises(ValueError, match="no site"):
        asyncio.run(kit.arun_steps(steps(call(), lambda: abroken("north"))))
    refused = kit.ToolCall(Session(argument_origin="strict"), "meter", {"site": 999})
    ran: list[str] = []
    assert kit.run_steps(steps(refused, lambda: ran.append("meter"))) == "rejected [MISSING_ORIGIN"
    assert not ran

    def rejected(own: kit.ToolCall, output: Any) -> str:
        return str(own.reply(output))

    hint = kit.run_steps(call().steps(lambda: {"heat": 12.5}, lambda hint: hint, rejected))
    assert hint.startswith("[RESULT_SCHEMA]")


def test_whatever_a_function_returns_runs_in_its_context() -> None:
    session = Session()

    @contextmanager
    def enter() -> Iterator[None]:
        with kit.using(session):
            yield

    async def events() -> Any:
        yield current_session()

    async def read() -> list[Any]:
        return [event async for event in kit.under(enter, events)]

    async def value() -> Any:
        await asyncio.sleep(0)
        return current_session()

    async def awaited() -> Any:
        return await kit.under(enter, value)

    def parts() -> Iterator[Any]:
        yield current_session()

    assert kit.under(enter, current_session) is session
    assert [*kit.under(enter, parts)] == [session]
    assert asyncio.run(read()) == [session] and asyncio.run(awaited()) is session
    assert current_session() is None


@pytest.mark.parametrize(
    ("parts", "text", "expected"),
    [
        (["a", 1, "b"], "c", ["c", 1]),
        ([1, "a"], "", [1]),
        ([1], "c", [1, "new c"]),
        ([], "", []),
    ],
)
def test_a_text_takes_the_place_of_all_texts_of_a_message(
    parts: list[Any], text: str, expected: list[Any]
) -> None:
    def put(part: Any, new: str) -> Any:
        return f"new {new}" if part is None else new

    assert kit.with_text(parts, text, lambda part: isinstance(part, str), put) == expected


def test_a_gate_has_no_other_keywords() -> None:
    assert kit.Gate.of({"mode": "claims", "max_retries": 1}) == kit.Gate(None, "claims", 1)
    options: Any = {"retries": 1}
    with pytest.raises(TypeError, match="retries"):
        kit.Gate.of(options)


def test_an_answer_in_any_number_of_envelopes_is_read() -> None:
    assert kit.partial_final('{"final":' * 5000 + '{"message": "It uses') == ("It uses", ())
    assert kit.partial_final('{"final": {"message": "a"}, "message": "b"}') == ("a", ())


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ({"price_usd": Decimal("12.5")}, '{"price_usd": 12.5}'),
        ({2024: 12.5}, '{"2024": 12.5}'),
        ({"tags": {"a"}, "x": 12.5, "y": math.nan}, '{"tags": ["a"], "x": 12.5, "y": null}'),
    ],
)
def test_in_sourced_mode_a_model_is_told_any_output(output: Any, told: str) -> None:
    session = Session(mode="sourced")
    assert tool_result(session, "shop", lambda: output, {}) == told
    assert session.check("It is 12.5.").message == "It is 12.5."
