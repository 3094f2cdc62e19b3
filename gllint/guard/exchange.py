"""What becomes of each message between a client and a server: nothing, but for calls of tools and their results.

No process, no stream: a message in, the messages that go out. What is no call, no result of one and no list of tools
leaves as the very object that came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Literal, NamedTuple

from gllint.guard.forms import data_in, fenced_data, json_in
from gllint.guard.unit_places import WRAPPER, UnitPlaces, place_of, with_declared
from gllint_runtime.execution.session import Session
from gllint_runtime.policy.errors import GLError
from gllint_runtime.policy.keywords import Mode
from gllint_runtime.policy.levels import Level
from gllint_runtime.policy.outputs import json_value, verified_output
from gllint_runtime.policy.parameter_units import ParameterUnits
from gllint_runtime.policy.schemas import QUANTITY_INLINED
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.tool_hints import VERIFIERS, hints_of
from gllint_runtime.policy.wording import nearest

Message = dict[str, Any]
Side = Literal["client", "server"]

_MOST_OPEN = 10_000  # requests that wait for their answer
_MOST_NOTES = 20
_MOST_NAMED = 8
_MOST_WRAPPED = 10_000  # calls of which it is remembered that their result was wrapped
_MOST_KNOWN = 10_000  # of what was reported on standard error
_UNDER_WRAPPER = re.compile(rf"\$\.{WRAPPER}(?![^.\[])")
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_OURS = "gllint/"
_RESULT_OF_2024 = "toolResult"  # in the place of its content
_OF_TASKS = ("tasks/result", "tasks/get", "tasks/update")
_VERIFY, _VERIFY_OTHERWISE = VERIFIERS
_DESCRIPTION = (
    "Check the answer before the user sees it: each of its numbers is compared with what the tools returned. To cite "
    "a number instead, write {{claim:0}} in its place, and a claim: the call_id after the result that has it, and "
    "the path of the Quantity in that result. The result is the message as the user may see it, or what is wrong."
)
_CLAIM = {
    "type": "object",
    "properties": {
        "source_call_id": {"type": "string", "description": "The call_id behind the result, such as tc_1."},
        "path": {"type": "string", "description": "The place of the Quantity in it, such as $.heat."},
        "quantity": QUANTITY_INLINED,
    },
    "required": ["source_call_id", "path"],
}
_INPUT = {
    "type": "object",
    "properties": {
        "message": {"type": "string", "description": "The answer."},
        "claims": {"type": ["array", "string"], "items": _CLAIM, "description": "A list, or its JSON."},
    },
    "required": ["message"],
}


class Sent(NamedTuple):
    """A message on its way, and to whom."""

    to: Side
    message: Any


class _Call(NamedTuple):
    """A call that waits for its result: the arguments as the session takes them."""

    number: Any
    tool: str
    arguments: Any


class Guard:
    """One MCP session. ``tell`` receives what is reported on standard error."""

    def __init__(
        self,
        policy: Policy,
        level: Level = "warn",
        units: UnitPlaces | None = None,
        tell: Callable[[str], None] = lambda _: None,
        table: str = "guard.SERVER.units",
    ) -> None:
        """Begin a session; ``table`` is the name of the configuration's table with the units, for messages."""
        self.level = level
        self._table = table  # of the configuration, which names the units
        self.counts: dict[str, int] = {}
        self.texts = 0  # with numbers in prose, which are not judged
        self.verified: str | None = None  # the last accepted answer, until it is taken
        if policy.argument_units == "refuse":  # the guard does not hear the user: a bare number may be hers
            policy = policy.with_settings(argument_units="record")
        self._session = Session(policy=policy, levels=level)
        self._session.on_event(self._hear)
        self._heard: list[str] = []
        self._tool = ""  # whose result is judged
        self._units = units or UnitPlaces({})
        self._tell = tell
        # What is asked, by the key of its id.
        self._calls: dict[Any, _Call] = {}
        self._lists: dict[Any, Any] = {}
        self._others: dict[Any, Any] = {}
        self._tasks: dict[str, str] = {}  # the tools that work at a task whose result is asked for later
        self._operator_knows: set[str] = set()  # rows and texts that were reported on standard error
        self._wrapped: set[str] = set()  # calls whose structured content wraps what their text shows
        self._schemas: dict[str, Any] = {}  # of the arguments, by tool
        self._declared: dict[str, ParameterUnits] = {}  # what an output schema says of units, by tool
        self._missing: dict[str, None] = {}  # of the configuration, on the server's side
        self._is_compared = False
        self._given_up: dict[Any, None] = {}  # the oldest first
        self._verify = _VERIFY
        self._is_offered = False  # whether a client received that name

    @property
    def pending(self) -> list[Any]:
        """The ids of the client's unanswered requests."""
        return [
            *(call.number for call in self._calls.values()),
            *self._lists.values(),
            *self._others.values(),
        ]

    def give_up(self) -> list[Any]:
        """Wait no longer for these requests, whose late answers are dropped."""
        numbers = self.pending
        for asked in (self._calls, self._lists, self._others):
            self._give_up(*asked)
            asked.clear()
        return numbers

    def _give_up(self, *keys: Any) -> None:
        """Drop the answers; those of the oldest beyond the bound are judged like any other."""
        self._given_up.update(dict.fromkeys(keys))
        while len(self._given_up) > _MOST_OPEN:
            del self._given_up[next(iter(self._given_up))]

    def _hear(self, event: Mapping[str, Any]) -> None:
        """Report to the operator a violation that the level lets pass; the client learns of it from ``verify`` only."""
        error = event.get("error")
        if error is not None and event["verdict"] == "warn":
            rows = self._rows(error["code"], error["context"])
            text = f"[{error['code']}] {error['message'].rstrip('.')}. {error['hint']}"
            self._count(error["code"])
            # Only the answer of ``verify`` is the guard's own: what other tools answer is not to be written in.
            if self._tool == self._verify:
                self._heard.append(text)
            self._tell_operator(error["code"], rows, text)

    def _rows(self, code: str, paths: Any) -> list[str]:
        """Return the rows of the configuration that the bare numbers at these paths want."""
        if code != "RESULT_SCHEMA" or not isinstance(paths, list):
            return []
        return [*dict.fromkeys(row for path in paths if (row := place_of(self._tool, str(path))) is not None)]

    def _remedy(self, rows: Sequence[str]) -> str:
        """Return what the owner of this guard can do about bare numbers, without a change of the server."""
        named = ", ".join(json.dumps(row, ensure_ascii=False) for row in rows[:_MOST_NAMED])
        more = f" and {len(rows) - _MOST_NAMED} more" if len(rows) > _MOST_NAMED else ""
        return f"Fill in the unit of {named}{more} in [{self._table}] of the configuration."

    def _tell_operator(self, code: str, rows: Sequence[str], text: str) -> None:
        """Report to the operator what was passed on: each missing row of the configuration once, and each text once."""
        if rows:
            text = self._news_of_rows(code, rows)
        elif self._tool != self._verify and not self._is_news(f"{self._tool}: {text}"):
            return
        if text:
            self._tell(f"{self._tool}: {text}" if self._tool else text)

    def _news_of_rows(self, code: str, rows: Sequence[str]) -> str:
        """Return one sentence on the rows that were not reported yet; ``""`` if all were."""
        news = [row for row in rows if row not in self._operator_knows]
        if not news:
            return ""
        for row in news:
            self._is_news(row)
        noun = "a bare number" if len(news) == 1 else f"{len(news)} bare numbers"
        return f"[{code}] {noun}. {self._remedy(news)}"

    def _is_news(self, text: str) -> bool:
        """Return whether a text is reported for the first time; it is remembered."""
        if text in self._operator_knows:
            return False
        if len(self._operator_knows) < _MOST_KNOWN:
            self._operator_knows.add(text)
        return True

    # ------------------------------------------------------------------------------------- from the client

    def from_client(self, message: Any) -> list[Sent]:
        """Return what to send, and to whom, for a message of the client."""
        if not isinstance(message, dict):
            return [Sent("server", message)]
        method, number = message.get("method"), message.get("id")
        if method == "notifications/cancelled":
            params = message.get("params")
            cancelled = params.get("requestId") if isinstance(params, dict) else None
            if _is_id(cancelled):
                key = id_key(cancelled)
                self._lists.pop(key, None)
                self._others.pop(key, None)
                if self._calls.pop(key, None) is not None:
                    self._give_up(key)  # a result that comes all the same is not looked at
        if not isinstance(method, str) or not _is_id(number):
            return [Sent("server", message)]
        if method == "tools/call":
            return self._on_tool_call(message, number)
        if method in _OF_TASKS:
            params = message.get("params")
            task = params.get("taskId") if isinstance(params, dict) else None
            tool = self._tasks.get(task, "") if isinstance(task, str) else ""
            return self._forward_call(message, message, _Call(number, tool or method, {}))
        if len(self._lists) + len(self._others) < _MOST_OPEN:
            asked = self._lists if method == "tools/list" else self._others
            asked[id_key(number)] = number
        return [Sent("server", message)]

    def _forward_call(self, request: Message, message: Message, call: _Call) -> list[Sent]:
        """Return a call on its way; there are bounds to how many may be."""
        if len(self._calls) >= _MOST_OPEN:
            return [Sent("client", _answer(request, _failure("Too many calls wait for their results.")))]
        self._calls[id_key(call.number)] = call
        return [Sent("server", message)]

    def _on_tool_call(self, message: Message, number: Any) -> list[Sent]:
        """Return what to send for a call of a tool: the call with its arguments converted, or an error to the
        client.
        """
        params = message.get("params")
        tool = params.get("name") if isinstance(params, dict) else None
        if not isinstance(params, dict) or not isinstance(tool, str):
            return self._forward_call(message, message, _Call(number, "", {}))
        arguments = params.get("arguments") or {}
        if tool == self._verify:
            return [Sent("client", _answer(message, self._verification(arguments)))]
        if not isinstance(arguments, dict):
            return self._forward_call(message, message, _Call(number, tool, {}))
        self._heard.clear()  # `_hear` reports what the session lets pass, under the name of this tool
        self._tool = tool
        input_schema = self._schemas.get(tool)
        values: dict[str, Any]
        try:
            values = self._session.tool_arguments(tool, arguments, args_schema=input_schema)
        except GLError as error:
            return [Sent("client", _answer(message, self._refusal(tool, error)))]
        except Exception as error:  # an unforeseen schema of the server
            self._tell(f"{tool}: the units of its arguments were not checked: {type(error).__name__}")
            values = arguments
        call = _Call(number, tool, values)
        if dict(values) == arguments:
            return self._forward_call(message, message, call)
        return self._forward_call(message, {**message, "params": {**params, "arguments": dict(values)}}, call)

    def _verification(self, arguments: Any) -> Message:
        """Return the answer to a call of the guard's own tool, which checks a message with its claims."""
        request: dict[str, Any] = arguments if isinstance(arguments, dict) else {}
        self._heard.clear()  # `_hear` adds to it what the check lets pass, for this tool
        self._tool = self._verify
        try:
            claims = self._unwrapped(request.get("claims") or ())
            mode: Mode = "claims" if claims else "sourced"
            verified = self._session.check(request.get("message"), claims, mode=mode)  # type: ignore[arg-type]
        except GLError as error:
            self._count(error.code)
            return _failure(str(error))
        except Exception as error:
            return _failure(f"The arguments cannot be read: {type(error).__name__}")
        self.verified = verified.message
        notes = [{"type": "text", "text": f"gllint: {note}"} for note in self._heard[:_MOST_NOTES]]
        return {
            "content": [{"type": "text", "text": verified.message}, *notes],
            "structuredContent": {"message": verified.message},
            "isError": False,
            "_meta": {"gllint/provenance": verified.provenance},
        }

    def _unwrapped(self, claims: Any) -> Any:
        """Claims as the session knows their paths: a text shows what the structured content wraps."""
        if isinstance(claims, str) and (read := json_value(claims)) is not None:
            claims = read
        if not isinstance(claims, list):
            return claims
        return [self._with_wrapper(claim) for claim in claims]

    def _with_wrapper(self, claim: Any) -> Any:
        path = claim.get("path") if isinstance(claim, dict) else None
        if not isinstance(path, str) or claim.get("source_call_id") not in self._wrapped:
            return claim
        if _UNDER_WRAPPER.match(path) or not path.startswith("$"):
            return claim
        return {**claim, "path": f"$.{WRAPPER}{path[1:]}"}

    # ------------------------------------------------------------------------------------- from the server

    def from_server(self, message: Any) -> list[Sent]:
        """Return what to send to the client for a message of the server.

        A result of a tool is judged, and so is one to an unknown request; the answer to a cancelled request is dropped.
        """
        if not isinstance(message, dict) or ("method" in message and "result" not in message):
            return [Sent("client", self._notified(message))]
        number, result = message.get("id"), message.get("result")
        # A server cannot set the guard's own marks: they would pass for its verdict.
        if isinstance(result, dict) and isinstance(meta := result.get("_meta"), dict) and _claims_ours(meta):
            result = {**result, "_meta": {key: item for key, item in meta.items() if not _is_ours(key)}}
            message = {**message, "result": result}
        # ``true`` is no id of a request, but a client may take it for 1: it counts as unknown.
        key = id_key(number) if _is_id(number) else None
        if key in self._given_up:
            del self._given_up[key]
            return []
        if self._others.pop(key, None) is not None and key not in self._calls and key not in self._lists:
            return [Sent("client", message)]  # not the result of a tool: the client asked for something else
        if isinstance(result, dict) and isinstance(result.get("tools"), list) and key in self._lists:
            del self._lists[key]
            message = {**message, "result": self._result(_unasked(number), self._listed(result))}
            return [Sent("client", message)]
        self._lists.pop(key, None)
        # An answer to an unknown request, perhaps one that was given up. It does not pass unchecked.
        call = self._calls.pop(key, None)
        if call is not None and "result" in message and not isinstance(result, dict):  # against the protocol
            result = {"content": [{"type": "text", "text": _text(result)}]}
        if isinstance(result, dict):
            message = _with_result(message, self._result(call or _unasked(number), _with_content(result)))
        return [Sent("client", message)]

    def _notified(self, message: Any) -> Any:
        """Return a notification of the server as it goes to the client; one about a task may contain a result,
        which is judged.
        """
        params = message.get("params") if isinstance(message, dict) else None
        if not isinstance(params, dict) or not str(message.get("method")).startswith("notifications/tasks"):
            return message
        task = params.get("taskId")
        tool = self._tasks.get(task, "a tool") if isinstance(task, str) else "a tool"
        result = self._result(_Call(None, tool, {}), params)
        return message if result is params else {**message, "params": result}

    def _listed(self, result: Message) -> Message:
        """Return a list of tools with the configured units in its schemas and the guard's own tool; the schemas
        are kept.
        """
        tools = []
        for tool in result["tools"]:
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str):
                self._schemas[name] = tool.get("inputSchema")
                self._declared[name] = ParameterUnits(tool.get("outputSchema"))
                if self._units.has(name) and "outputSchema" in tool:
                    tool = {**tool, "outputSchema": self._with_units_declared(name, tool["outputSchema"])}
            tools.append(tool)
            if isinstance(name, str) and (unnamed := self._units.missing(name, tool.get("outputSchema"))):
                self._missing.update(dict.fromkeys(unnamed))
        if result.get("nextCursor") is None:
            if not self._is_compared:
                self._report_missing_rows()
            if not self._is_offered:
                self._verify = _VERIFY_OTHERWISE if _VERIFY in self._schemas else _VERIFY
                self._is_offered = True
        if self._is_offered:
            tools = self._without_rival(tools)
        if result.get("nextCursor") is None:
            tools.append(
                {
                    "name": self._verify,
                    "title": "Verify an answer",
                    "description": _DESCRIPTION,
                    "inputSchema": _INPUT,
                    "annotations": hints_of("READ_ONLY"),
                }
            )
        return {**result, "tools": tools}

    def _without_rival(self, tools: list[Any]) -> list[Any]:
        """Return the tools without one of the server's that has the name of the guard's own: it would verify
        nothing.
        """
        rest = [tool for tool in tools if not (isinstance(tool, dict) and tool.get("name") == self._verify)]
        if len(rest) < len(tools) and self._is_news(f"rival {self._verify}"):
            self._tell(f"{self._verify}: the server has a tool of this name, too, which cannot be called")
        return rest

    def _with_units_declared(self, tool: str, schema: Any) -> Any:
        declared = self._units.in_schema(tool, schema)
        if declared is schema and isinstance(schema, Mapping):
            text = f"{tool}: its output schema refers to too much for its numbers to be given units there"
            if self._is_news(text):
                self._tell(text)
        return declared

    def _report_missing_rows(self) -> None:
        """Report, once, the rows of the configuration that name no tool, or no number that the server declares."""
        for tool in self._units.tools:
            if tool not in self._schemas:
                hint = nearest(tool, [*self._schemas])
                self._missing[f'"{tool}.$…": the server has no tool "{tool}"{hint}'] = None
        for text in [*self._missing][:_MOST_NOTES]:
            self._tell(f"[{self._table}] {text}")
        self._missing.clear()
        self._is_compared = True

    def _result(self, call: _Call, result: Message) -> Message:
        """Return a judged result: with the id of the call in it if it has numbers, or an error if it is rejected."""
        task = result.get("task")
        if isinstance(task, dict) and isinstance(task.get("taskId"), str) and len(self._tasks) < _MOST_OPEN:
            self._tasks[task["taskId"]] = call.tool
        if isinstance(inner := result.get("result"), dict) and "content" not in result:  # of a task
            judged = self._result(call, inner)
            return result if judged is inner else {**result, "result": judged}
        if result.get("isError") is True or not ("content" in result or "structuredContent" in result):
            return result
        if not isinstance(
            result.get("content", []), list | None
        ):  # a text, say: a client may show it as it is
            result = {**result, "content": [{"type": "text", "text": _text(result["content"])}]}
        result = self._with_units(call.tool, result)
        self._tool = call.tool
        try:
            self._judge_texts(call.tool, result)
            output = output_of(result)
            if (declared := self._declared.get(call.tool)) is not None and declared.declares:
                output = with_declared(output, declared, self._session.policy)
                if result.get("structuredContent") is None:  # the schema may be that of the wrapper
                    output = with_declared(output, declared, self._session.policy, (WRAPPER,))
            call_id = self._session.record(call.tool, call.arguments, output)
        except GLError as error:
            marks = {key: result[key] for key in ("resultType",) if key in result}
            return {**marks, **self._refusal(call.tool, error)}
        if _is_wrapped(output) and len(self._wrapped) < _MOST_WRAPPED:
            self._wrapped.add(call_id)
        if not _has_digit(output):
            return result
        blocks = [*(result.get("content") or ()), {"type": "text", "text": f"gllint: call_id {call_id}"}]
        meta = result.get("_meta") if isinstance(result.get("_meta"), dict) else {}
        return {**result, "content": blocks, "_meta": {**(meta or {}), "gllint/call_id": call_id}}

    def _with_units(self, tool: str, result: Message) -> Message:
        """Return the result with the configured units, in its structured content and in its texts alike."""
        if not self._units.has(tool):
            return result
        changed = {**result}
        structured = result.get("structuredContent")
        if structured is not None:
            changed["structuredContent"] = self._structured(tool, structured)
        if isinstance(result.get("content"), list):
            changed["content"] = [self._block(tool, block, structured) for block in result["content"]]
        return changed

    def _structured(self, tool: str, data: Any) -> Any:
        """Return structured content with its units: ``{"heat": 5}`` → ``{"heat": {"value": 5, "unit": "kWh"}}``.

        Content that only wraps a JSON text, ``{"result": "{…}"}``, wraps the changed text afterwards.
        """
        if not _is_wrapped(data):
            return self._units.in_data(tool, data)
        wrapped = _wrapped_json(data)
        if wrapped is None:
            return {WRAPPER: self._units.in_wrapped(tool, data[WRAPPER])}
        value = self._units.in_wrapped(tool, wrapped)
        return data if value == wrapped else {WRAPPER: json.dumps(value, ensure_ascii=False)}

    def _block(self, tool: str, block: Any, structured: Any) -> Any:
        """Return a block of text with the units in its JSON; any other block is returned unchanged."""
        data = data_in(_text_of(block))
        if data is None:
            return block
        if _is_wrapped(data):
            changed = self._structured(tool, data)
        elif structured is not None and not _is_wrapped(structured):
            changed = self._units.in_data(tool, data)
        else:
            changed = self._units.in_wrapped(tool, data)
            # An element of a list has a text of its own.
            if _is_wrapped(structured) and isinstance(structured[WRAPPER], list):
                [changed] = self._units.in_wrapped(tool, [changed])
        return block if changed == data else _with_text(block, json.dumps(changed, ensure_ascii=False))

    def _judge_texts(self, tool: str, result: Message) -> None:
        """Judge the JSON texts of a result that do not repeat its output. Raises GLError at level ``block``."""
        structured: Any = result.get("structuredContent")
        value = structured[WRAPPER] if _is_wrapped(structured) else structured
        same = (structured, value, _wrapped_json(structured))
        elements = iter(value if isinstance(value, list) else ())  # each of which has a text of its own
        for block in result.get("content") or ():
            is_output = structured is None and not _is_resource(block)
            data = data_in(_text_of(block))
            if data is not None and not is_output:
                if not any(_is_same(data, other) for other in chain(same, islice(elements, 1))):
                    self._judge(tool, data)
            elif data is None:
                fenced = [*fenced_data(_text_of(block))]
                for inner in fenced:
                    self._judge(tool, inner)
                if not fenced and _has_digit(_text_of(block)):
                    self.texts += 1

    def _judge(self, tool: str, data: Any) -> None:
        """Judge data that are not recorded: raise at level ``block``, report at ``warn``, else count."""
        try:
            verified_output(tool, data, self._session.policy, self._session.units)
        except GLError as error:
            if self.level == "block":
                raise
            if self.level == "warn":
                self._hear({"verdict": "warn", "error": {**error.to_dict(), "context": error.context}})
            else:
                self._count(error.code)

    def _refusal(self, tool: str, error: GLError) -> Message:
        """Report a rejected result to the operator, and return the error for the client."""
        self._count(error.code)
        rows = self._rows(error.code, error.context)
        place = f" at {error.path}" if error.path and error.path != "$" else ""
        self._tell(f"{tool}: rejected: {error.code}{place}")
        if error.code == "UNIT_UNKNOWN" and self._is_news(f"{tool}: {error.message}"):
            self._tell(f"{tool}: {error.message.rstrip('.')}. {error.hint}")
        elif remedy := self._news_of_rows(error.code, rows):
            self._tell(f"{tool}: {remedy}")
        return _failure(f"[{error.code}] {error.message}" if rows else str(error))

    def _count(self, code: str) -> None:
        self.counts[code] = self.counts.get(code, 0) + 1

    def summary(self) -> str:
        """Return one line of counts for the end, "NO_UNIT: 2, UNIT_UNKNOWN: 1"; ``""`` if there is nothing to say."""
        counts = dict(self.counts)
        if self.level == "shadow":
            for entry in self._session.trace:
                if entry.get("verdict") == "shadow":
                    code = str(entry.get("code"))
                    counts[code] = counts.get(code, 0) + 1
        if self.texts:
            counts["texts with numbers, not judged"] = self.texts
        return ", ".join(f"{code}: {count}" for code, count in sorted(counts.items()))


def _is_ours(key: Any) -> bool:
    return isinstance(key, str) and key.startswith(_OURS)


def _claims_ours(meta: Mapping[Any, Any]) -> bool:
    """Return whether a server says what the guard alone can."""
    return any(map(_is_ours, meta))


def _unasked(number: Any) -> _Call:
    return _Call(number, "a tool", {})


def _with_content(result: Message) -> Message:
    """Return a result in today's form; the protocol of 2024-10 has it under another key (``toolResult``)."""
    if _RESULT_OF_2024 not in result:
        return result
    rest = {key: value for key, value in result.items() if key != _RESULT_OF_2024}
    content = rest.get("content")
    block = {"type": "text", "text": _text(result[_RESULT_OF_2024])}
    return {**rest, "content": [*content, block] if isinstance(content, list) else [block]}


def _with_result(message: Message, result: Message) -> Message:
    """Return a message with another result; the very object where that is its own, so that its bytes are kept."""
    return message if result is message["result"] else {**message, "result": result}


def id_key(number: Any) -> Any:
    """By what a request and its answer are put together: clients take the id "1" for that of the request 1."""
    is_number = isinstance(number, str) and number.isascii() and number.isdecimal() and len(number) < 19
    return int(number) if is_number else number


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _is_id(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _answer(request: Message, result: Message) -> Message:
    """Return the guard's own answer to a request; since 2026 the protocol wants a result to say that it is whole."""
    params = request.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if isinstance(meta, dict) and _VERSION_KEY in meta:
        result = {"resultType": "complete", **result}
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def _failure(text: str) -> Message:
    return {"content": [{"type": "text", "text": text}], "isError": True}


def error_answer(number: Any, text: str) -> Message:
    """Return the answer to a request that the server will not answer."""
    return {"jsonrpc": "2.0", "id": number, "error": {"code": -32000, "message": text}}


def output_of(result: Message) -> Any:
    """Return the data of a result: its structured content, else the JSON in its text, else the text."""
    structured = result.get("structuredContent")
    if structured is not None:
        wrapped = _wrapped_json(structured)
        return structured if wrapped is None else wrapped
    blocks = [
        block
        for block in result.get("content") or ()
        if isinstance(block, dict) and isinstance(block.get("text"), str)
    ]
    values = [block["text"] if (data := data_in(block["text"])) is None else data for block in blocks]
    return values[0] if len(values) == 1 else values


def is_mark(block: Any) -> bool:
    """Return whether the guard added a block to a result."""
    return isinstance(block, dict) and str(block.get("text")).startswith("gllint: ")


def _is_wrapped(structured: Any) -> bool:
    return isinstance(structured, dict) and structured.keys() == {WRAPPER}


def _wrapped_json(structured: Any) -> Any:
    """The value whose JSON is the text that structured content wraps; ``None`` if it is anything else."""
    return json_in(structured[WRAPPER]) if _is_wrapped(structured) else None


def _is_resource(block: Any) -> bool:
    return isinstance(block, dict) and "text" not in block and isinstance(block.get("resource"), dict)


def _text_of(block: Any) -> Any:
    """Return the text of a block or of its resource, if it has one."""
    holder = block["resource"] if _is_resource(block) else block
    return holder.get("text") if isinstance(holder, dict) else None


def _has_digit(data: Any) -> bool:
    """Return whether data contain a number, also one within a text."""
    waiting = [data]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
        elif (isinstance(node, (int, float)) and not isinstance(node, bool)) or (
            isinstance(node, str) and any(map(str.isdigit, node))
        ):
            return True
    return False


def _with_text(block: Message, text: str) -> Message:
    if _is_resource(block):
        return {**block, "resource": {**block["resource"], "text": text}}
    return {**block, "text": text}


def _is_same(data: Any, other: Any) -> bool:
    """Return whether two values are the same in JSON, where ``true`` is no 1."""
    return bool(data == other) and _has_same_truths(data, other)


def _has_same_truths(data: Any, other: Any) -> bool:
    """Return whether two values that are equal to Python have booleans at the same places: ``True == 1``, but not
    here.
    """
    pairs = [(data, other)]
    while pairs:
        value, twin = pairs.pop()
        if isinstance(value, dict):
            pairs += [(member, twin[key]) for key, member in value.items()]
        elif isinstance(value, list):
            pairs += zip(value, twin, strict=True)
        elif isinstance(value, bool) is not isinstance(twin, bool):
            return False
    return True
