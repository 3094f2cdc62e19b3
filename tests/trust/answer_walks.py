"""What walks the answers and arguments of models, and what is set up: how to make a large one of each, and walk it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import answers
from walks import Steps, Walk, nested, plainly, source, tool

from gllint.init import json_text
from gllint.init.hook import with_hook
from gllint_runtime import Session, scan_naked_numbers
from gllint_runtime.adapters.kit import FinalStream
from gllint_runtime.execution.argument_units import quantities_in
from gllint_runtime.execution.calculate import calculated
from gllint_runtime.execution.claimed import checked_structure, require_claims
from gllint_runtime.execution.final_schema import final_schema
from gllint_runtime.policy.designations import designations
from gllint_runtime.policy.moments import moments
from gllint_runtime.policy.reader import Reader
from gllint_runtime.provenance.records import Harvester

_QUANTITY = {"value": 12, "unit": "kWh"}


def texts(make: Callable[[int], list[str]], read: Callable[[str], object]) -> Callable[[Path, int], Steps]:
    """What is read of each of some texts of ``n`` parts."""
    return plainly(make, lambda made: [read(text) or len(text) for text in made])


def _parts(n: int) -> str:
    """As many letters as there are parts."""
    return "." * n


def _prose(n: int) -> list[str]:
    words = (
        "minus ",
        "zwölf ",
        "vingt-",
        "二十",
        "two hundred and ",
        "5 ",
        "5.",
        "5-",
        "½",
        "٣",
        "million ",
        "10^",
        "5 x ",
        "5 % ",
    )
    return [word * n for word in words]


def _forms(n: int) -> list[str]:
    return [
        part * n
        for part in (
            "1.",
            "2024-05-01T",
            "0a",
            "1-800-",
            "* ",
            "[a-z]",
            "May ",
            "+1 555-",
            "v1.",
            "12:",
            "(555) ",
            "5 a",
        )
    ]


def _calls(n: int) -> Session:
    gate = Session()
    for number in range(n):
        gate.record("meter", {"site": number}, {"heat": {"value": number + 0.5, "unit": "kWh"}})
    return gate


def _cited(gate: Session) -> str:
    claims = [claim.to_dict() for claim in gate.claimable()]
    macros = ", ".join(f"{{{{claim:{i}}}}}" for i in range(len(claims)))
    return json.dumps(gate.check(f"It is {macros}.", claims).to_prov())


def _sum(made: str) -> object:
    gate = Session()
    call = gate.record("t", {}, {"a": _QUANTITY})
    claim = {"source_call_id": call, "path": "$.a", "quantity": _QUANTITY}
    return calculated(gate, "sum", [claim] * min(len(made), 100))


def _structure(answer: Any) -> object:
    return checked_structure(Session(), answer) or "fine"


def _streamed(text: str) -> object:
    stream = FinalStream(answers.session())
    return ["judged", *(stream.feed(text[at : at + 3]) for at in range(0, len(text), 3))]


def _settings(text: str) -> object:
    root = json_text.read(text)
    return json_text.with_member(text, root, "hooks", {"a": [1]})


def _arguments(values: Any) -> object:
    gate = Session(argument_origin="record")
    gate.user("three MW, and 12")
    schema = {"type": "object", "properties": {"power_kw": {"type": "number"}}}
    return gate.tool_arguments("t", values, args_schema=schema).changes or "none"


def _matched(text: str) -> object:
    gate = answers.session()
    pattern = final_schema(gate)["properties"]["message"]["pattern"]
    return re.search(pattern, text) or "none"


def _type(made: str) -> object:
    try:
        require_claims(
            {
                "type": "object",
                "properties": {
                    f"a{i}": {"$ref": "#/x", "anyOf": [{"type": "string"}] * 9} for i in range(len(made))
                },
            }
        )
    except TypeError as error:
        return error
    return "none"


def _said(text: str) -> object:
    gate = Session()
    gate.user(text)
    return [gate.tool_arguments("t", {"energy_kwh": value}) for value in (7, 12.5, 1e9, -3)]


def _sourced(n: int) -> Session:
    gate = Session(mode="sourced")
    gate.record(
        "meter", {"year": 2024}, {"sites": [{"name": f"Site {i}", "heat_kwh": i + 0.5} for i in range(n)]}
    )
    return gate


def _shown(made: str) -> object:
    return (
        _sourced(len(made)).check(" ".join(f"Site {i} used {i + 0.5} kWh." for i in range(len(made)))).message
    )


def _echoed(pair: tuple[str, str]) -> object:
    return Harvester("c1", "t", {"a": pair[0]}, Reader()).read(pair[1]).sources


WALKS: dict[str, Walk] = {
    "sourced: an answer of numbers": Walk(plainly(_parts, _shown), 50),
    "prose: numbers in words and signs": Walk(texts(_prose, lambda text: Reader().read(text)), 100),
    "prose: numbers in words, judged": Walk(texts(_prose, lambda text: [*scan_naked_numbers(text, words=True)]), 100),
    "prose: what is called something": Walk(texts(_forms, lambda text: [*designations(text)]), 1_000),
    "prose: dates and times": Walk(texts(lambda n: [*_prose(n), *_forms(n)], moments), 250),
    "prose: what a user said": Walk(texts(lambda n: [*_prose(n), "5" + " " * n + "W", "5 and " * n, "a loss of " * n], _said), 50),
    "what a call was told: cut out of a text": Walk(
        plainly(lambda n: ("aa 1 " * (n // 10), "aa 1 " * n), _echoed), 2_000
    ),
    "schema of an answer: many claims": Walk(plainly(_parts, lambda made: json.dumps(final_schema(_calls(len(made))))), 50),
    "schema of an answer: as a grammar": Walk(plainly(_parts, lambda made: final_schema(_calls(len(made)), format="gbnf")), 50),
    "schema of an answer: a message held to it": Walk(texts(lambda n: ["a " * n, "- a\n" * n, "a: " * n, "1. a\n" * n], _matched), 50),
    "provenance: many numbers": Walk(plainly(_parts, lambda made: _cited(_calls(len(made)))), 20),
    "calculations: a sum": Walk(plainly(_parts, _sum), 25),
    "structured answer: wide": Walk(plainly(lambda n: {f"a {chr(97 + i % 26) * 3}": "fine" for i in range(n)} | {"b": ["so it is"] * n}, _structure), 500),
    "structured answer: deep": Walk(plainly(lambda n: json.loads('{"a":' * n + '"b"' + "}" * n), _structure), 20),
    "structured answer: its type": Walk(plainly(_parts, _type), 25),
    "structured answer: in pieces": Walk(
        texts(lambda n: [json.dumps({"message": "It is fine. " * n, "claims": []}), '{"a": ' * n, '"' * n, '{"message": "' + "\\\\" * n], _streamed), 100
    ),
    "arguments: wide": Walk(plainly(lambda n: {f"power_{i}_kw": {"value": i, "unit": "MW"} for i in range(n)}, _arguments), 250),
    "arguments: deep": Walk(plainly(nested, _arguments), 15),
    "arguments: texts": Walk(plainly(lambda n: {f"a{i}": "5 kWh or 6 m, " * 3 for i in range(n)}, _arguments), 50),
    "arguments: Quantities in lists": Walk(plainly(lambda n: {"a": [_QUANTITY] * n}, lambda made: [*quantities_in(made, ())]), 1_000),
    "settings of an agent: wide": Walk(plainly(lambda n: "{" + "".join(f'"a{i}": [1, /* b */ 2], // c\n' for i in range(n)) + "}", _settings), 500),
    "settings of an agent: deep": Walk(plainly(lambda n: '{"a": ' + "[" * n + "]" * n + "}", _settings), 20),
    "settings of an agent: blanks and comments": Walk(plainly(lambda n: "{" + " // a\n/* b */ " * n + '"a": 1}', _settings), 5_000),
    "settings of an agent: open comments": Walk(plainly(lambda n: "{" + "/* " * n, _settings), 20_000),
    "pre-commit configuration": Walk(plainly(lambda n: "repos:\n" + "- repo: a\n\n# b\n" * n, lambda text: with_hook(text) or "none"), 2_000),
    "fields of a format": Walk(
        source(lambda n: tool("'{0" + ".a" * (n // 10) + "[" * n + "} {" + "9" * n + "} %" + "0" * n + "'.format(x)")), 500
    ),
    "a text of what a helper makes": Walk(
        source(lambda n: tool("g(g(" * (n // 100) + "str(x)" + "))" * (n // 100), "def g(a):\n    return a.strip().upper()[1:] + '5 kWh'\n")), 2_000
    ),
}  # fmt: skip
