"""The gate around clients of MCP: results are recorded, and stay as they are in all their blocks."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from types import SimpleNamespace
from typing import Any, Literal

import pytest

pytest.importorskip("mcp")

import mcp
from mcp.server.mcpserver import MCPServer

from gllint_runtime import GLError, Session
from gllint_runtime.adapters import kit
from gllint_runtime.adapters.mcp import VERIFY, _ServerGate, gate, session_of, turn_of

HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}
CLAIM = {"source_call_id": "tc_1", "path": "$.heat", "quantity": HEAT["heat"]}
PICTURE = mcp.types.ImageContent(type="image", data="eA==", mime_type="image/png")


def text(value: Any) -> Any:
    return mcp.types.TextContent(type="text", text=value if isinstance(value, str) else json.dumps(value))


def server() -> MCPServer:
    made = MCPServer("meters")

    def meter(site: str = "north") -> dict[str, Any]:
        """The heat that a site used."""
        return HEAT

    def broken() -> dict[str, Any]:
        """Returns a raw number."""
        return {"heat": 12.5}

    def blocks() -> mcp.types.CallToolResult:
        """Returns several blocks."""
        return mcp.types.CallToolResult(content=[text(HEAT), PICTURE, text("warm")])

    def picture() -> mcp.types.CallToolResult:
        """Draws."""
        return mcp.types.CallToolResult(content=[PICTURE])

    for tool in (meter, broken, blocks, picture):
        tool.__annotations__ = {
            "return": dict[str, Any] if tool in (meter, broken) else mcp.types.CallToolResult
        }
        made.add_tool(tool)
    return made


async def _held(client: Any) -> list[Any]:
    return [await client.call_tool(name, {}) for name in ("meter", "broken", "blocks", "picture")]


def shown(results: list[Any]) -> None:
    meter, broken, blocks, picture = results
    assert meter.structured_content == HEAT and meter.content[-1].text == "gllint: call_id tc_1"
    assert meter.meta["gllint/call_id"] == "tc_1" and len(meter.content) == 2
    assert (
        broken.is_error and broken.content[0].text.startswith("[RESULT_SCHEMA]") and "12.5" not in str(broken)
    )
    assert [*blocks.content[:-1]] == [text(HEAT), PICTURE, text("warm")]
    assert picture.content == [PICTURE]


def test_a_client_records_what_its_server_answers() -> None:
    async def main() -> None:
        for inside in (False, True):
            client = mcp.Client(server())
            gated = gate(client, mode="claims")
            assert isinstance(gated, mcp.Client)
            async with client if inside else gated:
                shown(await _held(gated))
                assert "gllint" not in str(await client.call_tool("meter", {}))
            session = session_of(gated)
            assert session.check("{{claim:0}}", [CLAIM]).message == "12.50 kWh"
            second = {**CLAIM, "source_call_id": "tc_2", "path": "$.block_1.heat"}
            assert session.check("{{claim:0}}", [second]).message == "12.50 kWh"
            with pytest.raises(GLError):
                session_of(gate(mcp.Client(server()), mode="claims")).check("{{claim:0}}", [CLAIM])

    asyncio.run(main())


def test_a_session_may_be_handed_over() -> None:
    session = Session()

    async def main() -> None:
        async with gate(mcp.Client(server()), session=lambda client: session) as client:
            await client.call_tool("meter", {})

    asyncio.run(main())
    assert session.next_id() == "tc_2"
    with pytest.raises(TypeError, match="gate takes a client"):
        gate(5)


def test_the_turn_of_the_program_s_own_loop_asks_again_and_refuses() -> None:
    async def main() -> None:
        gated = gate(mcp.Client(server()), max_retries=1, on_refusal=lambda error, draft: f"No: {draft}")
        async with gated as client:
            broken = await client.call_tool("broken", {})
            assert broken.structured_content == {"heat": 12.5} and len(broken.content) == 1
        turn = turn_of(gated)
        assert turn.text("It uses 14 kWh.") is None and "NO_SOURCE" in turn.hint
        assert turn.text("It uses 14 kWh.") == "No: It uses 14 kWh."
        assert turn_of(gated).text("It uses 12.5 kWh.") == "It uses 12.5 kWh."

    asyncio.run(main())
    with pytest.raises(ValueError, match="leave mode out"):
        gate(mcp.Client(server()), session=Session(), mode="sourced")


@pytest.mark.parametrize("mode", ["sourced", "claims"])
def test_a_gated_mcp_server_records_and_checks_answers(mode: Literal["sourced", "claims"]) -> None:
    def meter(site: str) -> dict[str, Any]:
        return {"heat": {"value": 12.5, "unit": "kWh"}}

    plain = MCPServer("meters")
    plain.add_tool(meter)
    session = Session(mode=mode)
    gated = gate(plain, session=session, max_retries=1, on_refusal=lambda error: error.code)

    async def main() -> None:
        async with mcp.Client(gated) as client:

            async def verify(message: str, *claims: Any) -> tuple[bool, str]:
                arguments = {"message": message, **({"claims": [*claims]} if claims else {})}
                result = await client.call_tool(VERIFY, arguments)
                [block] = result.content
                assert isinstance(block, mcp.types.TextContent)
                return result.is_error, block.text

            assert [tool.name for tool in (await client.list_tools()).tools] == ["meter", VERIFY]
            result = await client.call_tool("meter", {"site": "north"})
            assert ("gllint/call_id" in (result.meta or {})) == (mode == "claims")
            if mode == "sourced":
                assert await verify("It uses 12.5 kWh.") == (False, "It uses 12.5 kWh.")
                code = "NO_SOURCE"
            else:
                claim = {"source_call_id": "tc_1", "path": "$.heat"}
                assert await verify("It uses {{claim:0}}.", claim) == (False, "It uses 12.50 kWh.")
                code = "NO_NAKED_NUMBERS"
            assert [(await verify("It uses 14 kWh."))[1][: len(code) + 2] for _ in range(3)] == [
                f"[{code}]",
                code,
                f"[{code}]",
            ]
            assert (await client.call_tool("none", {})).is_error

    asyncio.run(main())
    assert len(session.user_texts) == 0


def test_a_gated_mcp_server_needs_a_session_and_an_mcp_server() -> None:
    with pytest.raises(ValueError, match="A server does not know its conversations"):
        gate(MCPServer("meters"))
    for target in (
        object(),
        SimpleNamespace(call_tool=None, add_tool=None),
    ):  # the latter a server of another package
        with pytest.raises(TypeError, match="gate takes a client, a client session or an MCPServer"):
            gate(target, session=Session())


def test_a_session_whose_answer_was_refused_is_not_kept() -> None:
    server_gate = _ServerGate(kit.Gate(mode="sourced"))
    session = Session(mode="sourced")
    assert server_gate._verified(session, {"message": "It used 12.5 kWh."}).is_error
    assert server_gate._verified(session, {"message": "It is warm."}).is_error is not True
    server_gate._verified(session, {"message": "It used 12.5 kWh."})
    kept = weakref.ref(session)
    del session
    gc.collect()
    assert kept() is None
