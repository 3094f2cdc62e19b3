"""What models write as answers and arguments, and what is made of a session for them, changed at random.

Each reader here is given a text, as those of ``traffic`` are. It raises AssertionError where something is let through
that nothing holds, or two ways to the same answer differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cache
from typing import Any, TypedDict

from trust import places_in

from gllint_runtime import GLError, GLRuntimeError, Policy, Quantity, Session
from gllint_runtime.adapters.kit import FinalStream, check_final
from gllint_runtime.execution.calculate import calculate, calculated
from gllint_runtime.execution.claimed import checked_structure, require_claims, using
from gllint_runtime.execution.final_schema import final_schema
from gllint_runtime.policy.designations import designations
from gllint_runtime.policy.numbers import scan_naked_numbers
from gllint_runtime.policy.reader import Reader as TextReader
from gllint_runtime.provenance.records import Harvester

_OUTPUT = {"heat": {"value": 12.5, "unit": "kWh"}, "share": {"value": 5, "unit": "%"}}
_CLAIMS = [
    {"source_call_id": "tc_1", "path": f"$.{name}", "quantity": quantity}
    for name, quantity in _OUTPUT.items()
]
_SIZES = (1, 4, 29)
_DIGITS = re.compile(r"\d+")


def session(output: Any = _OUTPUT) -> Session:
    """A conversation with a result to cite."""
    gate = Session()
    gate.user("How much heat did site 7 use, in twelve months?")
    gate.record("meter", {"site": 7}, output)
    return gate


def _data(text: str) -> Any:
    """A text as JSON, or as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# --- what is made of a session ------------------------------------------------------------------------------


def calculations(text: str) -> None:
    """``{"operation": …, "terms": [Quantity, …]}``: what comes out is exact, and can be cited in its turn."""
    asked = _data(text)
    terms = asked.get("terms") if isinstance(asked, dict) else None
    operation = asked.get("operation") if isinstance(asked, dict) else None
    if not isinstance(terms, list) or not isinstance(operation, str):
        return
    gate = Session()
    claims = []
    for term in terms[:30]:
        try:
            call = gate.record("t", {}, {"a": term})
        except GLError:
            continue
        claims.append({"source_call_id": call, "path": "$.a", "quantity": term})
    try:
        result = calculated(gate, operation, claims)
    except GLError:
        result = None
    with using(gate):
        told = calculate(operation, claims)  # type: ignore[arg-type]
    json.dumps(told)
    assert ("result" in told) == (result is not None), "the function and the tool differ"
    if result is None:
        return
    call = gate.record("calculate", {}, {"result": result.to_dict()})
    quantity = {"source_call_id": call, "path": "$.result", "quantity": result.to_dict()}
    assert gate.verify("It is {{claim:0}}.", [quantity]).status == "success", f"{result} cannot be cited"
    units = {claim["quantity"].get("unit") for claim in claims}
    if operation == "sum" and len(units) == 1 and all(type(c["quantity"]["value"]) is int for c in claims):
        total = sum(Fraction(claim["quantity"]["value"]) for claim in claims)
        assert Fraction(result.value) == total, f"{result} is not {total}"


def answer_schemas(text: str) -> None:
    """An output and a message, a line each: what the schema admits holds, whatever words the output has for keys."""
    head, _, message = text.partition("\n")
    gate = Session()
    with suppress(GLError):
        gate.record("t", {"x": head}, _data(head))
    for whitelisted in (True, False):
        schema = final_schema(gate, whitelisted=whitelisted)
        json.dumps(schema)
        pattern = re.compile(schema["properties"]["message"]["pattern"])
        # How much the whole takes is up to the engine that holds a model to it.
        if "{{" not in message and pattern.search(message[:60]):
            told = gate.verify(message[:60])
            assert told.status == "success", f"admitted, and refused: {told}"
        grammar = final_schema(gate, format="gbnf", whitelisted=whitelisted)
        lines = grammar.rstrip("\n").split("\n")
        names = [line.partition(" ::= ")[0] for line in lines]
        assert all(re.fullmatch(r"[a-z][a-z0-9-]*", name) for name in names), "a line that is no rule"
        assert len({*names}) == len(names)
        without = re.sub(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]', " ", grammar)
        used = {*re.findall(r"[a-z][a-z0-9-]*", without)}
        assert used <= {*names}, f"rules that are not there: {used - {*names}}"


def provenance(text: str) -> None:
    """A tool, its output and the user's words, a line each: each relation of the document joins what it holds."""
    tool, output, said = (*text.split("\n", 2), "", "")[:3]
    gate = Session(argument_origin="record")
    gate.user(said)
    try:
        first = gate.record(tool, {"q": said, "n": _data(output)}, _data(output), tool_call_id=said[:20])
        gate.record(tool, {"n": _data(output), "of": first}, _OUTPUT)
    except GLError:
        return
    claims = [claim.to_dict() for claim in gate.claimable()[-9:]]
    message = f"{' and '.join(f'{{{{claim:{i}}}}}' for i in range(len(claims)))}."
    verified = gate.verify(message, claims)
    if verified.status != "success":
        return
    document = verified.to_prov()
    assert json.loads(json.dumps(document)) == document
    names: set[str] = set()
    for kind in ("entity", "activity", "agent"):
        assert names.isdisjoint(document.get(kind, {})), "one name for two things"
        names |= document.get(kind, {}).keys()
    assert all(re.fullmatch(r"gllint:[\w-]+", name, re.ASCII) for name in names), names
    for kind, records in document.items():
        if kind.startswith("was") or kind == "used":
            ends = {end for record in records.values() for end in record.values()}
            assert ends <= names, f"{kind} of what is not there: {ends - names}"


# --- what models write --------------------------------------------------------------------------------------


class _Answer(TypedDict):
    title: str
    parts: list[str]


_FORMS: tuple[Any, ...] = (
    None,
    _Answer,
    list[str],
    dict[str, str],
    {"type": "object", "properties": {"title": {"type": "string"}, "stars": {"enum": ["a", "b"]}}},
)


def structures(text: str) -> None:
    """A structured answer: no number without a claim comes through, in a text, under a key or bare."""
    data = _data(text)
    for form in _FORMS:
        gate = session()
        try:
            answer = checked_structure(gate, data, form)
        except (GLError, TypeError):
            continue
        for leaf in _leaves(answer):
            assert isinstance(leaf, bool) or not isinstance(leaf, int | float), f"{leaf} as {form}"
            if isinstance(leaf, str) and leaf not in {said for part in _messages(data) for said in part}:
                assert gate.verify(leaf).status == "success", f"{leaf!r} as {form}"
    with suppress(TypeError):
        require_claims(data if isinstance(data, dict) else {"anyOf": [data]})


def _messages(data: Any) -> Iterator[tuple[str, ...]]:
    """What a message with claims within an answer may be shown as."""
    for holder, _ in [({"": data}, ""), *places_in([data])]:
        for part in holder.values() if isinstance(holder, dict) else holder:
            if isinstance(part, dict) and part.keys() == {"message", "claims"}:
                try:
                    yield (session().check(part["message"], part["claims"]).message,)
                except (GLError, TypeError):
                    continue


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        if value.keys() != {"message", "claims"}:
            for key, item in value.items():
                yield from (key, *_leaves(item))
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def finals(text: str) -> None:
    """A final answer as JSON, cut at every place: the verdict is that over the whole, and nothing else is shown."""
    for size in _SIZES:
        gate = session()
        try:
            whole: str | None = check_final(session(), text).message
        except GLError:
            whole = None
        stream = FinalStream(gate)
        shown = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
        assert "".join(shown) == stream.released
        shown_claims = re.sub(r"12\.50? kWh|5(?:\.00)? ?%", "", stream.released)
        assert not scan_naked_numbers(shown_claims), stream.released
        try:
            verified, rest = stream.close()
        except GLError as error:
            assert whole is None, f"whole it passes, in pieces of {size}: {error}"
            continue
        assert verified.message == whole, f"in pieces of {size}"
        assert rest == whole or stream.released + rest == whole


_SCHEMA = {
    "type": "object",
    "properties": {
        "power_kw": {"type": "number"},
        "area": {"type": "number", "x-unit": "m2"},
        "price": {"type": "number", "description": "in EUR per MWh"},
        "cost": {"type": "object", "properties": {"value": {"type": "number"}, "unit": {"type": "string"}}},
    },
}


def arguments(text: str) -> None:
    """Arguments of a call, and what the user said of them: taken in units, traced and recorded, or refused."""
    values, _, said = text.partition("\n")
    data = _data(values)
    for origin in ("record", "strict"):
        policy = Policy(argument_origin=origin)  # type: ignore[arg-type]
        gate = Session(policy=policy)
        gate.user(said)
        gate.record("meter", {"q": said}, _OUTPUT)
        for schema in (_SCHEMA, data if isinstance(data, dict) else None):
            try:
                taken = gate.tool_arguments(
                    "t", data if isinstance(data, dict) else {"a": data}, args_schema=schema
                )
                gate.record("t", taken, {"ok": True})
            except GLError:
                continue
            for change in taken.changes:
                json.dumps(change.to_dict())
        stored = gate.to_json()
        assert Session.from_json(stored, policy=policy).to_json() == stored


def echoes(text: str) -> None:
    """Arguments and an output, a line each: what the output says back is no number that it did not have."""
    told, _, output = text.partition("\n")
    arguments, value = _data(told), _data(output)
    harvester = Harvester(
        "c1", "t", arguments if isinstance(arguments, dict) else {"a": arguments}, TextReader()
    )
    for source in harvester.read(value).sources:
        assert source.path[:1] == ("arguments",) or source.call_id == "c1"


# --- numbers in prose ---------------------------------------------------------------------------------------


@cache
def _wordy() -> Session:
    return Session(policy=Policy(number_words=True))


def prose(text: str) -> None:
    """Numbers in the words and signs of any language: each stands where it is said to, and nothing else is one."""
    for reading in TextReader().read(text):
        assert 0 <= reading.start < reading.end <= len(text)
        assert text[reading.start : reading.end] == reading.text
    for start, end in designations(text):
        assert 0 <= start < end <= len(text)
    said = Session()
    said.user(text)
    said.user(text[::-1])
    for value in (7, 12.5, -3, 0.05):
        with suppress(GLRuntimeError):  # a macro without a claim
            said.tool_arguments("t", {"amount": value, "mass_kg": value, "note": text})
    gate = _wordy()
    told = gate.verify(text)
    assert told.status in ("success", "error")
    if told.status == "success":
        again = gate.verify(told.message)  # type: ignore[union-attr]
        assert again.status == "success", f"shown, and not shown again: {told.message!r}"  # type: ignore[union-attr]


def quantities(text: str) -> None:
    """A Quantity as text and as JSON: what is read is written and read as the same."""
    data = _data(text)
    for value in data if isinstance(data, list) else [data]:
        try:
            quantity = Quantity(value["value"], value["unit"])
        except (GLError, TypeError, ValueError, KeyError, IndexError):
            continue
        assert Quantity(**quantity.to_dict()) == quantity or quantity.value != quantity.value
        str(quantity)


# --- from what one starts -----------------------------------------------------------------------------------

_TERMS = [{"value": 12, "unit": "kWh"}, {"value": 0.5, "unit": "MWh"}, {"value": 3, "unit": "kWh"}]
_FINAL = json.dumps({"message": "It used {{claim:0}}. At night {{claim:1}}.", "claims": _CLAIMS})
_PROSE = (
    "minus zwölf Grad, dos mil quinientos, trois virgule cinq, 二十三, ３٫٥, −5 °C, 1.5e3, 2½, twelve million, "
    "20 Uhr, +49 30 123456, v1.2.3, 2024-05-01T10:00Z, 10 k€, a loss of 3 %, двадцать, ５０％, XII, 5 x 10^3 m²"
)
Reader = tuple[Callable[[str], object], list[str], tuple[type[BaseException], ...]]
READERS: dict[str, Reader] = {
    "calculations": (
        calculations,
        [
            json.dumps({"operation": operation, "terms": terms})
            for operation, terms in (
                ("sum", _TERMS),
                ("difference", _TERMS[:2]),
                ("ratio", [{"value": 5, "unit": "USD"}, {"value": 2, "unit": "kWh"}]),
                ("percentage_change", [{"value": 1, "unit": "degC"}, {"value": 2, "unit": "degC"}]),
            )
        ],
        (),
    ),
    "schemas of answers": (
        answer_schemas,
        [json.dumps({'a "b\n]': _OUTPUT}) + "\nIt is: fine - at ID-1, v1.2."],
        (),
    ),
    "provenance": (
        provenance,
        [f"me ter\n{json.dumps(_OUTPUT)}\nfor site 7", f"t\n{json.dumps(_OUTPUT)}\nmessage"],
        (),
    ),
    "structured answers": (
        structures,
        [
            json.dumps({"title": "fine", "parts": ["a", "b"]}),
            json.dumps([{"x": json.loads(_FINAL)}, "5 kWh"]),
        ],
        (),
    ),
    "streams of JSON": (finals, [_FINAL, f"```json\n{_FINAL}\n```", f'{{"final": {_FINAL}}}'], ()),
    "arguments": (
        arguments,
        [
            json.dumps({"power_kw": {"value": 3, "unit": "MW"}, "area": "12 ft2", "price": 5})
            + "\nthree MW, 12 and 5"
        ],
        (),
    ),
    "what calls are told": (
        echoes,
        ['{"q": "for site 7 in 2024", "n": 5}\n{"a": "for site 7 in 2024: 75 kWh"}'],
        (),
    ),
    "numbers in prose": (prose, [_PROSE], ()),
    "quantities": (quantities, [json.dumps([*_TERMS, {"value": "1.5", "unit": "kWh"}])], ()),
}
