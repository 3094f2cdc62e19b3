"""The guard against a bare connection: one script of a client, told to a server with and without it, line by line.

The server is a table: what it answers follows from the request alone. Of each result is known by construction whether it
holds a bare number. Everything that the guard does not say that it changes must arrive as the bytes that were sent.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from oracle_units import PINT
from trust import Budget, Row

from gllint.guard.exchange import Guard, Sent
from gllint.guard.relay import encoded, is_too_deep, parsed, through
from gllint.guard.unit_places import UnitPlaces
from gllint_runtime import Policy

_LEVELS = ("shadow", "warn", "block")
_MESSAGES = 20_000  # in an hour
_UNITS = ("kWh", "kW", "kg", "m", "m3", "°C", "USD", "%", "MJ")
_WORDS = (
    "heat",
    "cold",
    "note",
    "site",
    "rows",
    "flow",
    "a b",
    "größe",
    "x",
    "value",
    "unit",
    "result",
    "type",
)
_WITHOUT_UNITS = tuple(
    word for word in _WORDS if word != "rows"
)  # a parameter that counts takes no other unit
_TEXTS = (
    "",
    "fine",
    "größer als nichts",
    "no\nlines",
    '{"',
    "[",
    "\u2028",
    "😀",
    "\ud83d",
    "gllint: call_id none",
)
_CONVERSIONS = (  # what a parameter takes, and what a client may say instead
    ("flow_m3_per_h", "m3/h", "m**3/hour", ("L/s", "liter/second")),
    ("load_kw", "kW", "kilowatt", ("W", "watt")),
    ("energy_kwh", "kWh", "kilowatt_hour", ("MJ", "megajoule")),
    ("length_m", "m", "meter", ("km", "kilometer")),
)
_TOOLS = ("meter", "survey", "run", "größe")
_METHODS = ("resources/read", "prompts/get", "ping", "completion/complete", "tools/other", "logging/setLevel")


class Answer(NamedTuple):
    """A line of the server: what it is, and the digits of a bare number in it."""

    line: bytes
    kind: str  # of the result, or "other"
    digits: str = ""


class Ask(NamedTuple):
    """A line of the client, and what must become of it before the server."""

    line: bytes
    kind: str = (
        "other"  # "own": for the guard; "converted": the arguments change; "cancelled": of a call that waits
    )
    arguments: dict[str, float] | None = None


def row(budget: Budget) -> Row:
    counts, wrong = Counter[str](), list[str]()
    logging.getLogger("gllint_runtime").setLevel(
        logging.ERROR
    )  # what is told of bare numbers is not looked at here
    for number in budget.rounds(_MESSAGES, counts.total):
        for level in _LEVELS:
            chance = Random(f"{budget.seed} {number}")  # the same script for each level
            for line in _compared(chance, level, counts):
                wrong.append(f"round {number} at {level}: {line}")
    lines = counts.total()
    shown = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    return Row(
        "oracles: guard and bare connection",
        f"{lines} messages ({shown}); {len(wrong)} differ",
        wrong[:20],
        lines,
        _MESSAGES,
    )


# --- the comparison -------------------------------------------------------------------------------------------


def _compared(chance: Random, level: Any, counts: Counter[str]) -> Iterator[str]:
    guard = Guard(Policy(), level, UnitPlaces({}))
    server = _Server(chance)
    calls = 0
    for ask in _script(chance, server):
        counts[ask.kind] += 1
        sent = list(_passed(ask.line, guard.from_client))
        onward = [line for to, line in sent if to == "server"]
        back = [json.loads(line) for to, line in sent if to == "client"]
        if ask.kind == "own":
            if onward or len(back) != 1 or back[0].get("id") != json.loads(ask.line)["id"]:
                yield f"{ask.line!r} is for the guard alone, and became {sent}"
            continue
        if back or len(onward) != 1:
            yield f"{ask.line!r} did not go to the server alone: {sent}"
            continue
        if ask.arguments is None and onward != [ask.line]:
            yield f"the server gets {onward[0]!r} for {ask.line!r}"
        if ask.arguments is not None:
            yield from _converted(ask, onward[0])
        for answer in server.answers(ask):
            counts[answer.kind] += 1
            got = [line for to, line in _passed(answer.line, guard.from_server) if to == "client"]
            if answer.kind == "late":
                if got:
                    yield f"the result of a call that was given up arrives: {got}"
                continue
            if len(got) != 1:
                yield f"{answer.line!r} arrives as {got}"
                continue
            said, calls = _differences(answer, got[0], level, calls)
            yield from said
    if guard.pending != server.unanswered:
        yield f"{guard.pending} wait, and without the guard {server.unanswered}"


def _passed(line: bytes, decide: Callable[[Any], list[Sent]]) -> Iterator[tuple[str, bytes]]:
    line, message, is_read = parsed(line)
    assert is_read and not is_too_deep(line, message)
    for sent in through(message, decide):
        yield sent.to, encoded(line, message, sent.message)


def _converted(ask: Ask, line: bytes) -> Iterator[str]:
    """What differs beyond the arguments, and the arguments by pint."""
    asked, got = json.loads(ask.line), json.loads(line)
    arguments = got["params"].pop("arguments")
    wanted = dict(asked["params"].pop("arguments")) | (ask.arguments or {})
    if asked != got or arguments.keys() != wanted.keys():
        yield f"the server gets {line!r} for {ask.line!r}"
    for name, value in wanted.items():
        right = arguments.get(name)
        is_close = (
            isinstance(right, int | float) and abs(right - value) <= 1e-9 * abs(value)
            if isinstance(value, int | float)
            else right == value
        )
        if not is_close:
            yield f"{name} is {right!r} and not {value!r} of {ask.line!r}"


def _differences(answer: Answer, line: bytes, level: str, calls: int) -> tuple[list[str], int]:
    """What the client gets otherwise than the guard says; and how many calls are recorded then."""
    if answer.kind in ("other", "failed", "error"):
        return ([] if line == answer.line else [f"{answer.line!r} arrives as {line!r}"]), calls
    sent, got = json.loads(answer.line), json.loads(line)
    if answer.kind == "listed":
        own = (
            got["result"]["tools"].pop()
            if sent["result"].get("nextCursor") is None
            else {"name": "verify_answer"}
        )
        names = [tool["name"] for tool in sent["result"]["tools"]]
        wanted = "gllint_verify_answer" if "verify_answer" in names else "verify_answer"
        return (
            [] if sent == got and own["name"] == wanted else [f"{answer.line!r} is listed as {line!r}"]
        ), calls
    if answer.kind == "bare" and level == "block":
        result = got.pop("result")
        sent.pop("result")
        is_refused = result.get("isError") is True and sent == got and answer.digits not in line.decode()
        return ([] if is_refused else [f"{answer.line!r} is refused as {line!r}"]), calls
    result, original = got["result"], sent["result"]
    before = len(original.get("content") or ())
    added = [block.get("text", "") for block in result.get("content", [])[before:]]
    calls += 1
    shown = [original.get("structuredContent"), *map(_read, original.get("content") or ())]
    # A result without numbers is left alone.
    if not any(map(str.isdigit, json.dumps(shown, ensure_ascii=False))):
        return ([] if sent == got else [f"{answer.line!r} arrives as {line!r}"]), calls
    right = [f"gllint: call_id tc_{calls}"]
    result["content"] = result.get("content", [])[:before]
    if "content" not in original:
        original["content"] = []
    meta = result.pop("_meta", {})
    call_id = meta.pop("gllint/call_id", None)
    is_same = sent == got | {"result": result} or sent["result"] == {**result, "_meta": meta}
    if not is_same or added != right or call_id != f"tc_{calls}":
        return [f"{answer.line!r} arrives as {line!r}"], calls
    return [], calls


def _read(block: Any) -> Any:
    """The value of a block whose text is JSON, whose letters may be written as numbers: ``\\u00f6``."""
    try:
        return json.loads(block["text"])
    except (ValueError, KeyError, TypeError):
        return block


# --- what is drawn --------------------------------------------------------------------------------------------


class _Server:
    """What a server answers, by the request."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self.unanswered: list[Any] = []
        self._late: list[bytes] = []
        has_own = chance.random() < 0.3
        self.tools = [
            {"name": name, **_schemas(chance)} for name in (*_TOOLS, *(["verify_answer"] if has_own else []))
        ]

    def answers(self, ask: Ask) -> Iterator[Answer]:
        """What it says to a line of the client, and on its own account."""
        chance, message = self._chance, json.loads(ask.line)
        if chance.random() < 0.3:
            yield Answer(_line(chance, _aside(chance)), "other")
        if ask.kind == "cancelled":
            if chance.random() < 0.5:
                number = message["params"]["requestId"]
                self._forget(number)
                yield Answer(
                    _line(chance, {"jsonrpc": "2.0", "id": number, "result": _result(chance)[0]}), "late"
                )
            else:
                self._forget(message["params"]["requestId"])
            return
        if not isinstance(message, dict) or "id" not in message or "method" not in message:
            return
        number, method = message["id"], message["method"]
        if ask.kind == "waits":
            self.unanswered.append(number)
            return
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        kind, digits = "other", ""
        if method != "tools/list" and chance.random() < 0.1:
            answer["error"], kind = {"code": -5, "message": "5 kWh", "data": _data(chance, 2)}, "error"
        elif method == "tools/list":
            answer["result"], kind = {"tools": self.tools, "ttlMs": 5}, "listed"
        elif method == "tools/call":
            answer["result"], kind, digits = _result(chance)
        else:
            answer["result"] = {"contents": [_data(chance, 2)], "n": 5.25}
        if chance.random() < 0.2:
            answer["x-more"] = _data(chance, 1)
        yield Answer(_line(chance, answer), kind, digits)

    def _forget(self, number: Any) -> None:
        self.unanswered = [other for other in self.unanswered if other != number]


def _script(chance: Random, server: _Server) -> Iterator[Ask]:
    """The lines of a client; ids are used once."""
    number = 0
    waiting: list[Any] = []

    def request(method: str, params: Any) -> dict[str, Any]:
        nonlocal number
        number += 1
        name = chance.choice([number, f"r{number}", str(number), number])
        return {
            "jsonrpc": "2.0",
            "id": name,
            "method": method,
            **({"params": params} if params is not None else {}),
        }

    own = (
        "gllint_verify_answer" if any(t["name"] == "verify_answer" for t in server.tools) else "verify_answer"
    )
    yield Ask(_line(chance, request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})))
    listed = request("tools/list", chance.choice([None, {}]))
    has_list = False
    for _ in range(chance.randint(5, 25)):
        if chance.random() < 0.2 and not has_list:
            has_list = True
            yield Ask(_line(chance, listed))
        match chance.randrange(9):
            case 0:
                yield Ask(
                    _line(
                        chance,
                        request(chance.choice(_METHODS), _data(chance, 2) if chance.random() < 0.7 else None),
                    )
                )
            case 1:
                yield Ask(
                    _line(
                        chance,
                        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 5.5}},
                    )
                )
            case 2:
                yield Ask(
                    _line(chance, {"jsonrpc": "2.0", "id": chance.randrange(9), "result": _data(chance, 2)})
                )
            case 3 if has_list:
                asked = request("tools/call", {"name": own, "arguments": {"message": "It is fine."}})
                yield Ask(_line(chance, asked), "own")
            case 4:
                asked = request("tools/call", {"name": chance.choice(_TOOLS), "arguments": {}})
                waiting.append(asked["id"])
                yield Ask(_line(chance, asked), "waits")
            case 5 if waiting:
                gone = waiting.pop()
                params = {"requestId": gone, "reason": "5"}
                yield Ask(
                    _line(chance, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
                    "cancelled",
                )
            case _:
                arguments: dict[str, Any] = {
                    word: _data(chance, 1) for word in chance.sample(_WITHOUT_UNITS, chance.randrange(3))
                }
                right: dict[str, float] | None = None
                if chance.random() < 0.4:
                    name, _, unit, (other, pint_other) = chance.choice(_CONVERSIONS)
                    value = round(chance.uniform(1, 900), 3)
                    arguments[name] = {"value": value, "unit": other}
                    right = {name: float(PINT.Quantity(value, pint_other).to(unit).magnitude)}
                params = {"name": chance.choice(_TOOLS), "arguments": arguments}
                if not arguments and chance.random() < 0.5:
                    del params["arguments"]
                if chance.random() < 0.3:
                    params["_meta"] = {"progressToken": 7, "5": 5}
                asked = request("tools/call", params)
                yield Ask(_line(chance, asked), "converted" if right else "call", right)


def _schemas(chance: Random) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"type": "number"} for name, *_ in _CONVERSIONS},
    }
    if chance.random() < 0.5:
        schema["description"] = "größe 5"
    tool: dict[str, Any] = {"inputSchema": schema}
    if chance.random() < 0.5:
        tool["outputSchema"] = {"type": "object", "properties": {"heat": {"type": "number"}}}
    if chance.random() < 0.5:
        tool["annotations"] = {"readOnlyHint": True}
    return tool


def _aside(chance: Random) -> Any:
    """What a server says without being asked."""
    return chance.choice([
        {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": 12.5, "level": "info"}},
        {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {"messages": [_data(chance, 2)]}},
        {"jsonrpc": "2.0", "id": 2, "method": "elicitation/create", "params": {"message": "5?"}},
        {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
        {"jsonrpc": "2.0", "id": None, "error": {"code": -1, "message": "5"}},
        5, "text", None, [],
    ])  # fmt: skip


def _data(chance: Random, depth: int) -> Any:
    """Any JSON."""
    kind = chance.randrange(8 if depth else 5)
    if kind >= 5:
        words = chance.sample(_WORDS, chance.randrange(4))
        values = [_data(chance, depth - 1) for _ in words]
        return values if kind == 5 else dict(zip(words, values, strict=True))
    return (chance.choice(_TEXTS), True, None, chance.choice(_TEXTS), round(chance.uniform(-1e4, 1e4), 2))[
        kind
    ]


def _result(chance: Random) -> tuple[dict[str, Any], str, str]:
    """The result of a call, what it holds, and the digits of a bare number in it."""
    kind = chance.choice(("quantities", "bare", "quantities", "words", "failed"))
    digits = ""
    if kind == "failed":
        return {"content": [{"type": "text", "text": "5 kWh of 7"}], "isError": True}, kind, ""
    if kind == "words":
        text = chance.choice([text for text in _TEXTS if "\ud83d" not in text])
        result: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    else:
        data = {
            word: _quantities(chance, 2) for word in ("heat", *chance.sample(_WORDS[:8], chance.randrange(3)))
        }
        if kind == "bare":
            digits = f"{chance.randint(1000, 9999)}.{chance.randint(11, 99)}"
            holder: Any = data
            while (
                inner := [v for v in holder.values() if isinstance(v, dict) and "unit" not in v]
            ) and chance.random() < 0.6:
                holder = chance.choice(inner)
            holder["reading"] = chance.choice(
                [float(digits), [float(digits)], {"unit": "kWh", "value": float(digits), "n": 1}]
            )
        result = {}
        if chance.random() < 0.7:
            result["structuredContent"] = data
        if not result or chance.random() < 0.7:
            result["content"] = [
                {"type": "text", "text": json.dumps(data, ensure_ascii=chance.random() < 0.5)}
            ]
    if chance.random() < 0.3:
        result["_meta"] = {"trace": "5", "x": None}
    if chance.random() < 0.3:
        result["isError"] = False
    return result, kind, digits


def _quantities(chance: Random, depth: int) -> Any:
    """Data whose numbers are all Quantities."""
    kind = chance.randrange(6 if depth else 4)
    if kind == 5:
        return {
            word: _quantities(chance, depth - 1) for word in chance.sample(_WORDS[:8], chance.randint(1, 3))
        }
    if kind in (0, 1, 4):
        return {"value": round(chance.uniform(1, 1e4), 2), "unit": chance.choice(_UNITS)}
    return chance.choice(("fine", True, None, "größer"))


def _line(chance: Random, message: Any) -> bytes:
    """A message as some writer of JSON has it."""
    separators = chance.choice([None, (",", ":"), (" ,  ", " : ")])
    has_half = "\\ud83d" in (text := json.dumps(message, separators=separators))
    if not has_half and chance.random() < 0.5:
        text = json.dumps(message, separators=separators, ensure_ascii=False)
    if chance.random() < 0.2:
        text = text.replace("heat", "h\\u0065at")
    return chance.choice(("", " ", "")).encode() + text.encode() + chance.choice((b"\n", b"\r\n", b"\n"))
