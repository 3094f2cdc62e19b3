"""MCP both ways: our tools on a server, and a server's tools through the gate. Needs the extra ``gllint[mcp]``.

client = gate(client)                    # a client or client session: call_tool() records
server = gate(server, session=session)   # a server: it records, and has a tool that checks answers

A gated result stays as it is, in all its blocks; in claims mode it has one text block more, which names its call.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar, Unpack, cast
from weakref import WeakKeyDictionary

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

from gllint_runtime.adapters import kit
from gllint_runtime.execution.approval import ToolCategory
from gllint_runtime.execution.registry import ToolRegistry
from gllint_runtime.execution.session import Session
from gllint_runtime.policy.errors import GLDataError, GLError, GLRuntimeError
from gllint_runtime.policy.tool_hints import category_of_hints, hints_of
from gllint_runtime.policy.validation import inline_refs


def server(name: str, registry: ToolRegistry) -> Server[Any]:
    """Return a server that offers the registry's tools, with their output schemas, and Quantities as structured
    content.

    A call that fails answers with ``is_error`` and what to mend.
    """

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        """Return the tools of the registry, with their schemas and hints."""
        tools = [
            types.Tool(
                name=described["name"],
                description=described["description"],
                input_schema={"type": "object", **described["parameters"]},
                output_schema=inline_refs(registry[described["name"]].result_schema) or None,
                annotations=_annotations(registry[described["name"]]),
            )
            for described in registry.descriptors()
        ]
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: Any) -> types.CallToolResult:
        """Run a tool of the registry, and return its checked result."""
        try:
            output = await registry.ainvoke(params.name, params.arguments)
        except GLError as error:
            text = types.TextContent(type="text", text=Session.repair_hint(error))
            return types.CallToolResult(content=[text], is_error=True)
        text = types.TextContent(type="text", text=json.dumps(output, ensure_ascii=False))
        structured = output if isinstance(output, dict) else None
        return types.CallToolResult(content=[text], structured_content=structured)

    return Server(name, on_list_tools=list_tools, on_call_tool=call_tool)


def _annotations(tool: Any) -> types.ToolAnnotations:
    """Return the hints of a tool's own category, without which it promises nothing; a network is an open world."""
    has_category = getattr(tool, "has_own_category", True)
    hints = hints_of(ToolCategory(tool.category).name) if has_category else {}
    if getattr(tool, "live_required", False):
        hints["openWorldHint"] = True
    return types.ToolAnnotations.model_validate(hints)


def category(tool: types.Tool) -> ToolCategory:
    """Return the category of a server's tool by its annotations, which are the server's own claims."""
    hints = tool.annotations.model_dump(by_alias=True) if tool.annotations is not None else None
    return ToolCategory[category_of_hints(hints)]


TargetT = TypeVar("TargetT")

VERIFY = "gllint_verify_answer"
"""The tool of a gated server that checks an answer."""


def gate(target: TargetT, **options: Unpack[kit.GateOptions]) -> TargetT:
    """Return a client, client session or server whose results are recorded.

    The session is that of the run around it, else one of the client's own, which :func:`session_of` gives.
    ``session`` is a Session, or a function that receives the client and returns it. A result that cannot be
    recorded becomes an error with the hint. In MCP the program asks the model: :func:`turn_of` gives a turn that
    asks again ``max_retries`` times.

    A server is changed in place and returned. It does not know which conversation a request belongs to, so that it
    needs ``session``: that of its only client, or a function of the request's context. It gains a tool,
    ``gllint_verify_answer``.
    """
    new_gate = kit.Gate.of(options)
    if isinstance(target, MCPServer):
        if new_gate.option is None:
            raise ValueError(
                "A server does not know its conversations: give session= one, or a function of the context"
            )
        target.middleware.append(_ServerGate(new_gate))
        target.add_tool(_verify, VERIFY, structured_output=False)
        return target
    if not hasattr(target, "call_tool") or hasattr(target, "add_tool"):
        raise TypeError(f"gate takes a client, a client session or an MCPServer, not {type(target).__name__}")
    kind = type(f"Gated{type(target).__name__}", (_GatedCalls, type(target)), {})
    gated: Any = object.__new__(kind)
    # An ordinary dict: Python 3.13.0 loses attributes that two objects share where they were made.
    target.__dict__ = dict(target.__dict__)
    gated.__dict__ = target.__dict__  # one client under two names: what one connects, the other has
    gated.__dict__.setdefault("_gllint", _Calls(new_gate, target))
    return cast(TargetT, gated)


def session_of(gated: Any) -> Session:
    """Return the session of a gated client: check with it what the model says."""
    calls: _Calls = gated.__dict__["_gllint"]
    return calls.session()


def turn_of(gated: Any) -> kit.Turn:
    """Return a turn of the model that answers with what a gated client's tools returned, for the loop of
    the program.
    """
    calls: _Calls = gated.__dict__["_gllint"]
    return kit.Turn(calls.gate, calls.session())


class _Calls:
    """The session in which the calls of a client are recorded."""

    def __init__(self, gate: kit.Gate, client: Any) -> None:
        self.gate, self._client = gate, client
        self._own: Session | None = None

    def session(self) -> Session:
        """Return the session of the moment."""
        if self.gate.option is not None or kit.current_session() is not None:
            return self.gate.session(self._client)
        self._own = self._own or self.gate.session(self._client)
        return self._own


class _GatedCalls:
    """The methods of a gated client that replace the client's own."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any] | None = None, *more: Any, **options: Any
    ) -> Any:
        """Call a tool, and return its recorded result; in claims mode it names the call that claims cite."""
        call = kit.ToolCall(session_of(self), name, arguments)
        call_ungated: Any = super().call_tool  # type: ignore[misc]
        return await kit.arun_steps(
            call.steps(
                lambda: call_ungated(name, dict(call.arguments), *more, **options), _refused, _recorded
            )
        )


class _ServerGate:
    """The middleware of a gated server: records the results of its tools, and checks answers with them."""

    def __init__(self, gate: kit.Gate) -> None:
        self.gate = gate
        self._attempts: WeakKeyDictionary[Session, int] = WeakKeyDictionary()

    async def __call__(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Record the result of a tool's call, or answer a call of the gate's own tool; other requests pass."""
        params = ctx.params or {}
        name, arguments = params.get("name"), params.get("arguments") or {}
        # The server itself answers a request that is no valid call.
        if ctx.method != "tools/call" or not isinstance(name, str) or not isinstance(arguments, Mapping):
            return await call_next(ctx)
        session = self.gate.session(ctx)
        if name == VERIFY:
            return self._verified(session, arguments)
        call = kit.ToolCall(session, name, arguments)

        def run() -> Awaitable[Any]:
            return call_next(replace(ctx, params={**params, "arguments": dict(call.arguments)}))

        return await kit.arun_steps(call.steps(run, _refused, _recorded))

    def _verified(self, session: Session, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Return a message as the user may see it, or the hint, at most ``max_retries`` times for one answer."""
        turn = kit.Turn(self.gate, session)
        turn.attempts = self._attempts.pop(session, 0)
        message, claims = str(arguments.get("message", "")), arguments.get("claims")
        text = turn.attempt(
            lambda: session.check(message, claims or ()).message, lambda error: turn.refusal(error, message)
        )
        if text is None:
            self._attempts[session] = turn.attempts
            return _refused(turn.hint)
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


def _verify(message: str, claims: list[dict[str, Any]] | None = None) -> str:
    """Check an answer before the user sees it, and return it as the user may see it, or what is wrong with it."""
    raise NotImplementedError  # the middleware answers


def _recorded(call: kit.ToolCall, result: Any) -> Any:
    """Return a result with one more block, which names its call: "gllint: call_id tc_1". Raises GLError."""
    if isinstance(result, dict) and "content" in result:  # else it asks for input, or became a task
        result = types.CallToolResult.model_validate(result)
    if not isinstance(result, types.CallToolResult) or result.is_error:
        return result
    output = _output(call.session, result)
    # Of pictures alone there is nothing to claim.
    if output is None or (reply := call.reply(output)) is None:
        return result
    call_id = reply["tool_call_id"]
    note = types.TextContent(type="text", text=f"gllint: call_id {call_id}")
    meta = {**(result.meta or {}), "gllint/call_id": call_id}
    return result.model_copy(update={"content": [*result.content, note], "meta": meta})


def _output(session: Session, result: types.CallToolResult) -> Any:
    """Return the data of a result: its structured content, or its texts, each as a block if there are several."""
    if result.structured_content is not None:
        return result.structured_content
    texts = [block.text for block in result.content if isinstance(block, types.TextContent)]
    return kit.read_blocks(session, texts) if len(texts) > 1 else next(iter(texts), None)


def _refused(hint: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=hint)], is_error=True)


_MOST_PAGES = 1000


async def _reply_of(request: Awaitable[Any]) -> Any:
    """Return the server's answer. Raises GLRuntimeError TOOL_FAILED if it cannot be read."""
    try:
        return await request
    except Exception as error:
        text = f"The server gave no answer: {type(error).__name__}: {error}"
        raise GLRuntimeError("TOOL_FAILED", text[:500]) from error


class GatedClient:
    """A client (or client session) whose results are recorded: the model receives what it returns."""

    def __init__(self, client: Any, session: Session) -> None:
        self._client = client
        self._session = session
        self._tools: dict[str, types.Tool] = {}

    async def tools(self) -> list[types.Tool]:
        """Return all of the server's tools."""
        tools: list[types.Tool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await _reply_of(
                self._client.list_tools(cursor=cursor) if cursor else self._client.list_tools()
            )
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                self._tools = {tool.name: tool for tool in tools}
                return tools
        raise GLRuntimeError("TOOL_FAILED", f"The server lists tools without end: {len(tools)} so far")

    async def call(self, name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        """Call a tool, and return its output: ``{"tool_call_id": "tc_1", "output": …}``.

        Raises GLError: TOOL_FAILED, ARGUMENT_UNIT, RESULT_SCHEMA, UNIT_UNKNOWN, …
        """
        if not self._tools:
            await self.tools()
        if name not in self._tools:
            raise GLDataError("PATH_RESOLUTION", f"The server has no tool '{name}'")
        schema = self._tools[name].input_schema
        values = self._session.tool_arguments(name, arguments, args_schema=schema)
        result = await _reply_of(self._client.call_tool(name, dict(values)))
        if result.is_error:
            text = "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))
            raise GLRuntimeError("TOOL_FAILED", f"Tool '{name}' failed: {text[:500]}")
        output = _output(self._session, result)
        return kit.recorded(
            self._session,
            name,
            values,
            "" if output is None else output,
            result_schema=self._tools[name].output_schema,
        )
