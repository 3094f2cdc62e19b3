"""Reading recorded runs: a record → the conversations in it. What an item is says the table of formats."""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cache
from typing import Any, NamedTuple, cast

from gllint_runtime.audit.answers import answer_text, is_answer_tool, is_receipt
from gllint_runtime.audit.spans import Span, in_order, spans_in, trace_of
from gllint_runtime.audit.table import (
    Places,
    Rule,
    first,
    is_speaker,
    leftovers,
    matching,
    parsed,
    plain_item,
    says_results,
    speaker_of,
    table,
    unnumbered,
)
from gllint_runtime.audit.turns import (
    By,
    Called,
    Concluded,
    Fragment,
    On,
    Piece,
    Returned,
    Said,
    Speaker,
    Turn,
)

_MAX_DEPTH = 60
_MAX_ITEMS = 2_000_000  # of one record
_MAX_UNREAD = 20
_MAX_DECLARED = 2_000  # texts of the tools that a request declares
_TOO_DEEP = "the record is nested too deeply"
_OF_A_ROLE = "an item with the role "
_REMEDY = "; `--map FILE` names its paths"
_ENDS = frozenset(".!?:\n")


class FormatError(ValueError):
    """A record that is no conversation of a format that is known: one sentence for people."""


class Record(NamedTuple):
    """A conversation, or an item of one: what was read, its id (empty without one), and what was not understood."""

    conversation: str
    turns: list[Turn]
    is_whole: bool
    unread: list[str]
    has_results_unread: bool = False  # what was not understood may be what a tool returned
    item: Any = None  # an operation of a trace, which is read with the neighbours


@cache
def formats() -> Mapping[str, str]:
    """Return the title of each format, by its name."""
    return table().titles


# ------------------------------------------------------------------------------------------------ a record


class Reader:
    """Reads records. Rules of one's own (``own``) come before those of the table."""

    def __init__(self, own: Sequence[Rule] = ()) -> None:
        self._rules = (*own, *table().rules)

    def read(self, record: Any) -> list[Record]:
        """Return the conversations in a record, or the item of one that it is. Raises :class:`FormatError`."""
        if record in (None, [], {}, ""):
            return []
        try:
            records = self._records(record)
        except RecursionError:
            raise FormatError(_TOO_DEEP) from None
        unread = [text for part in records for text in part.unread]
        is_empty = not any(part.turns or part.item is not None for part in records)
        if any(text.startswith(_OF_A_ROLE) for text in unread) or (is_empty and (unread or not records)):
            raise FormatError(_complaint(record, unread))
        return records

    def conversation_of(self, items: list[Any]) -> Record:
        """Return the conversation of the operations of one trace, which came one by one."""
        walk = Walk(self._rules)
        walk.trace(items)
        return walk.record("")

    def _records(self, record: Any) -> list[Record]:
        """Return the conversations of a record, which may be a list of whole records, a trace or one item."""
        if isinstance(record, list):
            if record and all(map(self._is_span, record)):
                return self._traces(record)
            wholes = [self._records(item) if self._is_whole(item) else None for item in record]
            if wholes and all(part is not None for part in wholes):
                return [conversation for part in wholes for conversation in part or ()]
            return self._walked(record, "", is_whole=True)
        if not isinstance(record, Mapping):
            return []
        item = plain_item(record)
        rule = matching(item, self._rules)
        is_span = rule is not None and bool(rule.options.get("span") or rule.options.get("spans"))
        if rule is None or (not is_span and any(map(self._is_list_of_wholes, record.values()))):
            return self._named(record)
        is_whole = bool(rule.options.get("whole"))
        if rule.options.get("spans"):
            return self._traces([record])
        if rule.options.get("span"):
            if is_whole:
                return [
                    self.conversation_of([record])._replace(
                        conversation=_own_id(item, table().record["own-ids"])
                    )
                ]
            return [Record(trace_of(item), [], False, [], item=record)]
        return self._walked(
            record, _own_id(item, table().record["own-ids" if is_whole else "ids"]), is_whole=is_whole
        )

    def _walked(self, record: Any, name: str, *, is_whole: bool) -> list[Record]:
        """Return the conversation of a record, if it has anything in it."""
        walk = Walk(self._rules)
        walk.run(record)
        # A request without an answer, and without a name of its own, begins what follows.
        is_whole = is_whole and (
            bool(name) or not all(isinstance(one, Said) and one.speaker != "assistant" for one in walk.turns)
        )
        read = walk.record(name, is_whole=is_whole)
        return [read] if read.turns or read.unread or isinstance(record, Mapping) else []

    def _rule(self, item: Any) -> Rule | None:
        return matching(plain_item(item), self._rules) if isinstance(item, Mapping) else None

    def _is_span(self, item: Any) -> bool:
        return (rule := self._rule(item)) is not None and bool(rule.options.get("span"))

    def _is_list_of_wholes(self, items: Any) -> bool:
        """Return whether a member of a record is a list of conversations, the first of which is named by its keys."""
        return (
            isinstance(items, list)
            and bool(items)
            and isinstance(items[0], Mapping)
            and self._is_whole(items[0])
        )

    def _is_whole(self, item: Any) -> bool:
        if isinstance(item, list):
            return True
        rule = self._rule(item)
        return rule is not None and any(rule.options.get(name) for name in ("whole", "spans"))

    def _named(self, record: Mapping[str, Any]) -> list[Record]:
        """Yield the conversations that are members of an object, by their names or ids."""
        records: list[Record] = []
        neighbours: list[str] = []
        for name, item in record.items():
            parts = self._records(item) if self._is_whole(item) else []
            if any(part.turns or part.item is not None or part.has_results_unread for part in parts):
                records += [
                    part
                    if part.item is not None or (part.conversation and isinstance(item, list))
                    else part._replace(conversation=str(name))
                    for part in parts
                ]
            elif item and isinstance(item, (Mapping, list)) and name not in table().asides:
                neighbours.append(f"'{str(name)[:40]}', which is no conversation,")
        if records and neighbours:
            records[0] = records[0]._replace(unread=[*records[0].unread, *neighbours][:_MAX_UNREAD])
        if len(record) == 1 and len(records) == 1 and not _is_opened(records[0].turns):
            return [records[0]._replace(conversation="", is_whole=False)]  # what a node of a graph adds
        return records

    def _traces(self, records: list[Any]) -> list[Record]:
        """Return one conversation for each trace."""
        by_trace: dict[str, list[Span]] = {}
        spans = [*spans_in(records)]
        traces = {trace_of(span.item) for span in spans}
        for span in spans:  # the object of a trace may have its id as its own
            trace = trace_of(span.item) or (span.id if span.id in traces else "")
            by_trace.setdefault(trace, []).append(span)
        read = []
        for trace, own in by_trace.items():
            walk = Walk(self._rules)
            walk.operations(own)
            read.append(walk.record(trace or _own_id(own[0].item, table().record["own-ids"])))
        return read


def _complaint(record: Any, unread: Sequence[str]) -> str:
    """Say why a record cannot be read."""
    if unread:
        return f"{unread[0]} is in no known format{_REMEDY}"
    if isinstance(record, Mapping) and isinstance(record.get("role"), str):
        what = f"{_OF_A_ROLE}'{record['role'][:60]}'"
    elif isinstance(record, Mapping):
        keys = ", ".join(f"'{str(key)[:40]}'" for key in [*record][:6])
        more = " and more" if len(record) > 6 else ""
        what = f"an object with the key{'s' if len(record) != 1 else ''} {keys}{more}"
    else:
        kinds = {list: "a list without messages", str: "a text", bool: "true or false"}
        what = kinds.get(type(record), "a number")
    return f"{what} is no conversation in a known format{_REMEDY}"


def _own_id(record: Mapping[str, Any], keys: Sequence[str]) -> str:
    for key in keys:
        value = record.get(key)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            trial = record.get("trial")
            return f"{value}/{trial}" if key == "task_id" and isinstance(trial, int) else str(value)[:200]
    return ""


def _is_opened(turns: Sequence[Turn]) -> bool:
    return any(isinstance(turn, Said) and turn.speaker == "user" for turn in turns)


# -------------------------------------------------------------------------------------------------- an item


class Walk:
    """Goes through one record in its order; ``unread`` are the kinds of item that no rule names."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self.turns: list[Turn] = []
        self.unread: list[str] = []
        self._has_results_unread = False
        self._budget = _MAX_ITEMS
        self._day: date | None = None
        self._model = ""
        self._block = -1  # the turn that the block before made
        # Of a trace, whose operations repeat the messages before them:
        self._messages: set[object] = set()
        self._results: Counter[str] = Counter()  # of operations of tools that no message has repeated
        self._open_calls: dict[str, int] = {}  # calls of a tool whose operation has not come

    def record(self, name: str, *, is_whole: bool = True) -> Record:
        """Return all that was read."""
        return Record(name, self.turns, is_whole, self.unread, self._has_results_unread)

    def run(self, item: Any, speaker: Speaker | None = None, depth: int = 0) -> None:
        """Read an item. ``speaker`` counts if the item names none. Raises :class:`FormatError`."""
        self._budget -= 1
        if depth > _MAX_DEPTH or self._budget < 0:
            raise FormatError(_TOO_DEEP if depth > _MAX_DEPTH else "the record has too many parts")
        match item:
            case str():
                if speaker is not None:
                    if item:
                        self.turns.append(Said(speaker, item))
                elif item[:1] in ("[", "{") and (inner := parsed(item)) is not None:
                    self.run(inner, None, depth + 1)
                elif item:
                    self._pass_over("a text without a speaker")
            case [str(role), str(text)] if speaker is None and (said_by := speaker_of(role)) is not None:
                self.run(text, cast("Any", said_by), depth + 1)
            case [Mapping() as head, *_] if speaker is None and self._is_span(head):
                self.operations([*spans_in(item)])
            case list() | tuple():
                self._block = -1
                for inner in item:
                    self._joined(inner, speaker, depth + 1)
            case Mapping():
                self._item(plain_item(item), speaker, depth)
            case _ if item is not None and speaker is None:
                self._pass_over("a number among messages")
            case int() | float() if (
                not isinstance(item, bool) and abs(item) < 1e300
            ):  # an answer of nothing else
                self.turns.append(Said(cast("Speaker", speaker), json.dumps(item)))

    def _is_span(self, item: Mapping[str, Any]) -> bool:
        rule = matching(plain_item(item), self._rules)
        return rule is not None and bool(rule.options.get("span"))

    def _joined(self, item: Any, speaker: Speaker | None, depth: int) -> None:
        """Read an item of a list: texts that follow each other are one."""
        previous, begin = self._block, len(self.turns)
        self.run(item, speaker, depth)
        is_block = isinstance(item, str)
        if isinstance(item, Mapping):
            is_block = (rule := matching(item, self._rules)) is not None and bool(rule.options.get("block"))
        self._block = len(self.turns) - 1 if is_block and len(self.turns) == begin + 1 else -1
        if self._block > 0 and previous == self._block - 1:
            match self.turns[-2:]:
                case [Said(one, text), Said(two, addition)] if one == two:
                    self.turns[-2:] = [Said(one, joined([text, addition]))]
                    self._block -= 1

    def _item(self, item: Mapping[str, Any], speaker: Speaker | None, depth: int) -> None:
        """Read an item by the rule that matches it."""
        rule = matching(item, self._rules)
        if rule is None:
            self._leave(item)
            return
        options = rule.options
        if options.get("skip"):
            return
        self._date(item)
        if "merge" in options:
            inner, path = item.get(options["merge"]), item.get("id")
            name = path[-1] if isinstance(path, list) and path else path
            if isinstance(inner, Mapping):
                kind = name if options["merge"] == "kwargs" else item.get("type")
                self.run({"content": "", **inner, "type": kind}, speaker, depth + 1)
        elif options.get("numbered"):
            steps = {f"steps.{key.rpartition('_')[2]}.{key.rpartition('_')[0]}": item[key] for key in item}
            self.run(unnumbered(steps).get("steps"), None, depth + 1)
        elif options.get("response"):
            self._response(item)
        elif options.get("span") or options.get("spans"):
            self.operations([*spans_in(item)])
        else:
            self._rule(rule, item, speaker, depth)

    def _rule(self, rule: Rule, item: Mapping[str, Any], speaker: Speaker | None, depth: int) -> None:
        """Read an item as a rule says: its call, its output and its parts."""
        begin, options = len(self.turns), rule.options
        if rule.call is not None:
            self._call(item, rule.call)
        if rule.output is not None:
            self._output(item, rule.output, depth)
        who = speaker_of(first(item, rule.who)) or options.get("else")
        for places, mode in rule.parts:
            inner = first(item, places, is_full=True)
            if inner is None or (isinstance(inner, str) and not mode and {*places} & {*rule.answers}):
                continue
            self._part(
                inner, who if mode == "@" else mode, speaker, depth, is_default=bool(options.get("default"))
            )
        if (rule.answers or rule.structures) and not _has_answer(self.turns[begin:]):
            self._answer(rule, item)
        if "piece" in options or options.get("again"):
            self._as_piece(begin, options, item)
        for key in leftovers(item, rule):
            self._pass_over(f"'{key[:40]}'", is_result=True)

    def _part(self, inner: Any, mode: Any, speaker: Speaker | None, depth: int, *, is_default: bool) -> None:
        """Read a part of an item: turns of a speaker, declared tools, a fragment, a result or calls."""
        if not mode or is_speaker(mode):
            self.run(inner, speaker or mode if is_default else mode or speaker, depth + 1)
        elif mode == "declared":
            self._declared(inner)
        elif mode == "fragment":
            self.turns.append(Fragment(str(inner)))
        elif mode == "returned":
            self.turns.append(Returned("", "", payload(inner)))
        else:
            self.read_calls(inner, mode, depth)

    def read_calls(self, inner: Any, mode: str, depth: int) -> None:
        """Read calls (``mode`` "call"), results ("result"), or items that are a call with its result ("both").

        ``inner`` is an item, a list of items or JSON of either. An item without a rule of its own is read by the usual
        keys: ``{"name": "heat", "arguments": {…}, "result": …}``.
        """
        if depth > _MAX_DEPTH:
            raise FormatError(_TOO_DEEP)
        if isinstance(inner, str):
            inner = parsed(inner)
        for item in inner if isinstance(inner, list) else [inner]:
            if isinstance(item, list):
                self.read_calls(item, mode, depth + 1)
            elif isinstance(item, Mapping):
                rule = matching(item, self._rules)
                if mode == "result" and rule is not None and any(kind == "result" for _, kind in rule.parts):
                    # The result is in a part of the item, to which its own rule leads.
                    self.run(item, None, depth + 1)
                    continue
                if mode in ("call", "both"):
                    self._call(item, rule.call if rule is not None and rule.call else table().call)
                if mode in ("result", "both"):
                    output = rule.output if rule is not None and rule.output else table().output
                    # {"id": …, "function": {"name": …, "arguments": …, "output": …}}
                    function = item.get("function") if mode == "both" else None
                    self._output(
                        {**function, **item} if isinstance(function, Mapping) else item, output, depth
                    )

    def _call(self, item: Mapping[str, Any], places: Mapping[str, Places]) -> None:
        """Read a call of a tool, or a later piece of its arguments."""
        call_id, tool = _id_and_tool(item, places)
        arguments = first(item, places["arguments"])
        if not call_id and not tool:  # a later piece of it
            if isinstance(arguments, str):
                self.turns.append(Fragment(arguments))
            return
        if isinstance(arguments, str) and (read := parsed(arguments)) is not None:
            arguments = read
        self.turns.append(Called(call_id, tool.removeprefix("tool-"), arguments))

    def _output(self, item: Mapping[str, Any], places: Mapping[str, Places], depth: int) -> None:
        value = first(item, places["value"])
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, Mapping) and (
                secret := [key for key in part if str(key).startswith("encrypted_")]
            ):
                self._pass_over(f"'{secret[0]}'", is_result=True)
        if isinstance(value, list) and any(self._is_output(inner) for inner in value):
            self.run(value, None, depth + 1)
        elif value is not None:
            call_id, tool = _id_and_tool(item, places)
            self.turns.append(Returned(call_id, tool.removeprefix("tool-"), payload(value)))

    def _is_output(self, item: Any) -> bool:
        rule = matching(item, self._rules) if isinstance(item, Mapping) else None
        return rule is not None and (
            rule.output is not None or any(mode in ("result", "returned") for _, mode in rule.parts)
        )

    def _as_piece(self, begin: int, options: Mapping[str, Any], item: Mapping[str, Any]) -> None:
        """Mark what the assistant said as a piece of a stream, or as the end of a run that repeats it."""
        of = _text(first(item, tuple(options.get("piece", "").split("|"))))
        for number, turn in enumerate(self.turns[begin:], begin):
            match turn:
                case Said("assistant", text) if options.get("again"):
                    self.turns[number] = Concluded(text)
                case Said("assistant", text):
                    self.turns[number] = Piece(text, of)
                case Piece(text, ""):
                    self.turns[number] = Piece(text, of)
        if of and len(self.turns) == begin:
            self.turns.append(Piece("", of))

    def _answer(self, rule: Rule, item: Mapping[str, Any]) -> None:
        """The answer that is next to the messages, or next to the text of one."""
        text = next((value for key in rule.answers if isinstance(value := item.get(key), str) and value), "")
        data = [key for key in rule.structures if isinstance(item.get(key), (Mapping, list)) and item[key]]
        if data and not text:
            text, is_whole = answer_text(item[data[0]])
            if not is_whole:
                self._pass_over(f"a part of '{data[0]}'")
        if text:
            self.turns.append(Said("assistant", text))

    def _declared(self, tools: Any) -> None:
        """Return the program's descriptions of its tools and of their parameters."""
        if isinstance(tools, str):
            tools = parsed(tools)
        texts: dict[str, None] = {}
        waiting, budget = deque([tools]), _MAX_DECLARED * 10
        while waiting and budget and len(texts) < _MAX_DECLARED:
            node, budget = waiting.popleft(), budget - 1
            if isinstance(node, Mapping):
                text = node.get("description")
                if isinstance(text, str):
                    texts[text] = None
                waiting.extend(inner for key, inner in node.items() if key != "description")
            elif isinstance(node, (list, tuple)):
                waiting.extend(node)
        if texts:
            self.turns.append(Said("system", "\n".join(texts)))

    def _response(self, item: Mapping[str, Any]) -> None:
        """The answer to a JSON-RPC request: a tool's result, or a model's message."""
        result = item["result"]
        if not isinstance(result, Mapping):
            return
        if isinstance(result.get("tools"), list):
            self._declared(result["tools"])
        elif result.get("role") == "assistant":
            self.run({"role": "assistant", "content": result.get("content")})
        elif "content" in result or "structuredContent" in result:
            structured = result.get("structuredContent")
            value = structured if structured is not None else result.get("content")
            is_error = result.get("isError") is True
            self.turns.append(Returned(_text(item.get("id")), "", None if is_error else payload(value)))

    def _date(self, item: Mapping[str, Any]) -> None:
        """Note the day and the model of an item, if they have changed."""
        day = day_of(first(item, table().record["days"]))
        if day is not None and day != self._day:
            self._day = day
            self.turns.append(On(day))
        model = first(item, table().record["models"])
        if isinstance(model, str) and model and model != self._model:
            self._model = model
            self.turns.append(By(model[:200]))

    def _pass_over(self, what: str, *, is_result: bool = False) -> None:
        self._has_results_unread |= is_result
        if len(self.unread) < _MAX_UNREAD:
            self.unread.append(what)

    def _leave(self, item: Mapping[str, Any]) -> None:
        """Note that an item is in no known format."""
        is_result = says_results(item)
        for key in ("role", "type", "part_kind", "kind", "method", "from"):
            if isinstance(item.get(key), str):
                self._pass_over(f"an item with the {key} '{item[key][:60]}'", is_result=is_result)
                return
        keys = ", ".join(f"'{str(key)[:40]}'" for key in [*item][:5])
        self._pass_over(f"an item with the keys {keys}" if keys else "an empty item", is_result=is_result)

    # --------------------------------------------------------------------------------------------- a trace

    def trace(self, items: Sequence[Any]) -> None:
        """Read the operations of one trace."""
        self.operations([*spans_in([*items])])

    def operations(self, spans: Sequence[Span]) -> None:
        """Read operations, in the order of what was said in them, each message once."""
        for span, is_end, is_root in in_order(spans):
            begin, self._budget = len(self.turns), _MAX_ITEMS
            self._date(span.item)
            (self._end if is_end else self._begin)(span, is_root)
            is_tool = self._is_tool(span)
            self.turns[begin:] = [turn for turn in self.turns[begin:] if self._note_if_new(turn, is_tool)]
        has_message = any(not isinstance(turn, (On, By)) for turn in self.turns)
        if not has_message and any(map(_has_content, spans)):
            self._pass_over("a trace whose messages have other names")

    def _begin(self, span: Span, is_root: bool) -> None:
        """Read what a span begins with: its prompt, its tools, or the call that it is."""
        names, item = table().span, span.item
        if (said := first(item, names["system"])) is not None:
            self.run(said, "system")
        self._declared(first(item, names["declared"]))
        if self._is_tool(span):
            tool = _text(first(item, names["name"]))
            if self._open_calls.get(tool, 0):
                self._open_calls[tool] -= 1
            else:
                arguments = _decoded(first(item, names["arguments"]))
                self.turns.append(Called(_text(first(item, names["call"])) or span.id, tool, arguments))
        elif span.kind != "silent":
            self._message(first(item, names["input"], is_full=True), "user", span, is_root)
            events = first(item, names["events"])
            if (events := _decoded(events)) and isinstance(events, list):
                self.run(events)

    def _end(self, span: Span, is_root: bool) -> None:
        """Read what a span ends with: the result of a tool, or the answer of a model."""
        names, item = table().span, span.item
        if self._is_tool(span):
            value = first(item, names["result"])
            if value is not None:
                name, call_id = _text(first(item, names["name"])), _text(first(item, names["call"]))
                is_open = not any(isinstance(turn, Called) and turn.call_id == span.id for turn in self.turns)
                self.turns.append(Returned(call_id or ("" if is_open else span.id), name, payload(value)))
        elif span.kind != "silent":
            for place in names["output"]:
                value = first(item, (place,), is_full=True)
                if value is not None:
                    self._message(value, "assistant", span, is_root)

    def _is_tool(self, span: Span) -> bool:
        name = _text(first(span.item, table().span["name"]))
        return span.kind == "tool" or (span.kind == "other" and name in self._open_calls)

    def _message(self, value: Any, speaker: Speaker, span: Span, is_root: bool) -> None:
        """What went into an operation or came out of it: messages, or a text or data where it says them itself."""
        value = _decoded(value)
        is_direct = is_root or span.kind == "model"
        if isinstance(value, str) or not isinstance(value, (Mapping, list)):
            if is_direct and value is not None:
                self.run(value, speaker)
            return
        if not is_direct and not self._has_messages(value):
            return
        begin, unread_count, has_results = len(self.turns), len(self.unread), self._has_results_unread
        self.run(value, speaker)
        if len(self.turns) > begin or not is_direct:
            return
        del self.unread[unread_count:]
        self._has_results_unread = has_results
        text = first(value, table().record["texts"])
        if not isinstance(text, str):
            text = answer_text(value)[0] if is_root else ""
        self.run(text, speaker)

    def _has_messages(self, value: Any) -> bool:
        if isinstance(value, Mapping):
            return isinstance(value.get("messages"), list)
        return bool(value) and all(
            isinstance(one, Mapping) and ("role" in one or "lc" in one) for one in value
        )

    def _note_if_new(self, turn: Turn, is_tool: bool) -> bool:
        """Record a turn; return whether no earlier operation had it.

        A tool's own operation (``is_tool``) often has no call id. Its result is always new, and the message that
        repeats it later is not.
        """
        key: object
        match turn:
            case Said(speaker, text):
                key = speaker, text
            case Called(call_id, tool, arguments):
                key = "call", call_id or json.dumps([tool, arguments], sort_keys=True, default=str)
            case Returned(call_id, _, value):
                text = json.dumps(value, sort_keys=True, default=str)
                key = "result", "" if is_tool else call_id, text
                if is_tool:
                    self._results[text] += 1
                    return True
                if self._results[text] and key not in self._messages:
                    self._results[text] -= 1
                    self._messages.add(key)
                    return False
            case _:
                return True
        if key in self._messages:
            return False
        self._messages.add(key)
        if isinstance(turn, Called):
            self._open_calls[turn.tool] = self._open_calls.get(turn.tool, 0) + 1
        return True


_CONTENT = re.compile(r"(?:gen_ai|llm|traceloop)\..*(?:\.content|\.text|messages|completion|prompt)")


def _has_content(span: Span) -> bool:
    """Return whether an operation says what a model was told or answered, under whatever name."""
    return any(
        isinstance(value, (str, list)) and value not in ("", "[]", []) and _CONTENT.fullmatch(key)
        for key, value in span.item.items()
    )


def _has_answer(turns: Sequence[Turn]) -> bool:
    """Return whether the conversation ends with an answer of the assistant."""
    for turn in reversed(turns):
        match turn:
            case Said(speaker, _) if speaker != "system":
                return speaker == "assistant"
            case Piece() | Concluded():
                return True
            case Returned(_, _, value) if not is_receipt(value):
                return False
            case Returned():
                return True
            case Called(_, tool, _) if is_answer_tool(tool):
                return True
    return False


def joined(texts: Sequence[str]) -> str:
    """Texts that belong together as one: a word, a number and its unit go on in the next one."""
    whole = ""
    for text in texts:
        is_apart = whole and text and whole[-1] in _ENDS and not text[0].isspace() and whole[-1] != "\n"
        whole += f"\n{text}" if is_apart else text
    return whole


def day_of(value: Any) -> date | None:
    """Return the day of a time as recordings write it: ISO 8601, or seconds, milli-, micro- or nanoseconds of the
    epoch.
    """
    if isinstance(value, str) and not value.replace(".", "", 1).isdecimal():
        try:
            return datetime.fromisoformat(value).date()
        except ValueError:
            return None
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        seconds = float(value)
        while seconds > 1e11:
            seconds /= 1000
        if seconds > 1e8:
            return datetime.fromtimestamp(seconds, UTC).date()
    return None


def _decoded(value: Any) -> Any:
    """Return a value that is JSON in a text, as an attribute of a span has it."""
    if isinstance(value, str) and value[:1] in ("[", "{", '"') and (read := parsed(value)) is not None:
        return read
    return value


def _id_and_tool(item: Mapping[str, Any], fields: Mapping[str, Places]) -> tuple[str, str]:
    tool = next((name for place in fields.get("tool", ()) if (name := _text(first(item, (place,))))), "")
    return _text(first(item, fields["id"])), tool


def _text(value: Any) -> str:
    return str(value)[:200] if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


# ------------------------------------------------------------------------------------------------- a result


def payload(value: Any) -> Any:
    """Return what a tool returned: JSON in text is read, the wrapping of texts and of data is taken away."""
    if isinstance(value, str):
        text = value.strip()
        if (
            text[:1] in ("{", "[", '"')
            and (read := parsed(text)) is not None
            and (text[:1] != '"' or read[:1] in ("{", "["))
        ):
            return payload(read) if isinstance(read, str) else _unwrapped(read)
        return value
    if isinstance(value, (list, tuple)) and value and all(map(_is_part, value)):
        parts = [part for one in value if (part := _part(one)) is not None]
        if len(parts) > 1 and all(isinstance(part, str) for part in parts):
            parts = [joined(parts)]
        return parts[0] if len(parts) == 1 else parts
    return _unwrapped(value)


def _unwrapped(value: Any) -> Any:
    """Return the value inside a wrapper of an SDK."""
    if isinstance(value, Mapping):
        keys = value.keys()
        if keys == {"type", "value"} and value["type"] in table().record["values"]:
            return payload(value["value"])
        for key in ("output", "content"):
            if keys in ({key, "metadata"}, {key}) and isinstance(value[key], (str, Mapping, list)):
                return payload(value[key])
        if isinstance(value.get("blocks"), list) and "tool_name" in value:
            return payload(value["blocks"])
        if {"functionResponse"} == keys and isinstance(value["functionResponse"], Mapping):
            return payload(value["functionResponse"].get("response"))
    return value


def _is_part(part: Any) -> bool:
    """Return whether data is a content block."""
    if not isinstance(part, Mapping):
        return False
    kind = part.get("type", part.get("block_type"))
    if isinstance(kind, str):
        return kind in table().record["blocks"] or (kind == "json" and "value" in part)
    return (
        kind is None
        and len(part) == 1
        and not {"text", "json", "image", "document", "functionResponse"}.isdisjoint(part)
    )


def _part(part: Mapping[str, Any]) -> Any:
    if "json" in part or "functionResponse" in part:
        return part["json"] if "json" in part else _unwrapped(part)
    text = first(part, ("text", "resource.text", "document.data", "document.text", "source.data", "value"))
    return payload(text) if isinstance(text, str) else None
