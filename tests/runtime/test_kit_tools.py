"""``tool_result`` and ``atool_result``: what the model is told of a tool that a loop of one's own calls."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from gllint_runtime import Session
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
