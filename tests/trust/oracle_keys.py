"""Repairs against tables of keys that somebody else wrote: a unit that is named is theirs, or none is.

The names of Prometheus, of the device tree, of climate data, of a utility's columns, and of the OpenTelemetry package
where it is installed. A tool that returns such a key gets a finding; its help and its fix may name no other unit than the
table does, however the key is spelled and whatever holds it.
"""

from __future__ import annotations

import ast
import importlib.util
import math
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pint
from oracle_units import PINT
from trust import Budget, Row

sys.path.insert(0, str(Path(__file__).parents[1] / "rules"))
import itertools

from gllint_rules import Finding
from gllint_rules.reading.stack import on_large_stack
from harness import Case, run
from test_units_with_pint import as_pint

_TABLE = Path(__file__).with_name("oracle_keys.txt")
_AT_ONCE, _TRIED = 12, 5_000  # keys of one program, and of an hour
# Words that change what a number is of, and not its unit.
_BEFORE = ("", "", "total_", "max_", "avg_", "site_", "monthly_", "p95_", "est_", "north_wing_", "the_")
_UCUM = {"By": "byte", "s": "second", "Hz": "hertz", "V": "volt", "W": "watt", "J": "joule", "Cel": "degC",
         "1": "dimensionless", "By/s": "byte/second", "rpm": "revolution/minute"}  # fmt: skip
_WRITTEN = {"MMBtu": "1e6*british_thermal_unit", "mcf": "1e3*foot**3", "Mcf": "1e3*foot**3", "short ton": "short_ton",
            "B": "byte", "gal": "gallon", "µg": "microgram", "ug": "microgram", "Btu": "british_thermal_unit", "ppb": "1e-9", "bbl": "oil_barrel"}  # fmt: skip


# Words of which keys are composed: what pint makes of them together is true, and not what one of them says.
_FIRST = ("amp", "ampere", "watt", "volt", "newton", "joule", "pascal", "ohm", "coulomb", "lumen", "gram")
_SECOND = ("hour", "second", "day", "meter", "mile", "foot", "ampere", "kilometer")
_LENGTHS = ("meter", "foot", "inch", "yard", "mile", "kilometer", "centimeter", "millimeter")
_PREFIXES = ("", "", "nano", "micro", "milli", "kilo", "mega", "giga")
_PLURALS = {"foot": "feet", "inch": "inches"}


class Key(NamedTuple):
    name: str
    unit: str  # as pint writes it, or "count"
    table: str


@cache
def keys() -> tuple[Key, ...]:
    """What others say of keys."""
    rows, table = list[Key](), ""
    for line in _TABLE.read_text("utf-8").splitlines():
        if line.startswith("["):
            table = line[1:-1]
        elif line and not line.startswith("#"):
            unit, _, names = line.partition(": ")
            rows += [Key(name, unit, table) for name in names.split()]
    return (*rows, *_of_opentelemetry())


def _of_opentelemetry() -> list[Key]:
    """The metrics of the semantic conventions, by the constants of their package and what stands below each."""
    found = importlib.util.find_spec("opentelemetry.semconv")
    places = list(found.submodule_search_locations or ()) if found is not None else []
    rows = []
    for path in sorted(path for place in places for path in Path(place).rglob("*_metrics.py")):
        body = ast.parse(path.read_text("utf-8")).body
        for named, text in itertools.pairwise(body):
            match named, text:
                case ast.AnnAssign(value=ast.Constant(value=str(name))), ast.Expr(
                    value=ast.Constant(value=str(told))
                ):
                    unit = re.search(r"^Unit: (\S+)$", told, re.MULTILINE)
                    if unit is not None:
                        theirs = "count" if unit[1].startswith("{") else _UCUM.get(unit[1])
                        rows += [Key(name.replace(".", "_"), theirs, "opentelemetry")] if theirs else []
    return rows


def composed(chance: Random) -> Key:
    """A key of several words that are units only together."""

    def many(word: str) -> str:
        return _PLURALS.get(word, f"{word}s") if chance.random() < 0.8 else word

    first, second, length = chance.choice(_FIRST), chance.choice(_SECOND), chance.choice(_LENGTHS)
    prefix = chance.choice(_PREFIXES)
    between = chance.choice(("", "_")) if prefix else ""
    subject = chance.choice(("load", "total", "measured", "site", "daily"))
    name, unit = {
        0: (f"{prefix}{between}{many(first)}", f"{prefix}{first}"),
        1: (f"{prefix}{first}_{many(second)}", f"{prefix}{first}*{second}"),
        2: (f"{chance.choice(('square', 'sq'))}_{many(length)}", f"{length}**2"),
        3: (f"{chance.choice(('cubic', 'cu'))}_{many(length)}", f"{length}**3"),
        4: (f"{prefix}{many(first)}_per_{second}", f"{prefix}{first}/{second}"),
        5: (f"{many(length)}_{chance.choice(('squared', 'cubed'))}", ""),
        6: (f"{chance.choice(('inverse', 'reciprocal'))}_{many(length)}", f"1/{length}"),
        7: (f"{many(length)}_per_{second}_squared", f"{length}/{second}**2"),
    }[chance.randrange(8)]
    return Key(f"{subject}_{name}", unit or f"{length}**{2 if name.endswith('squared') else 3}", "composed")


def row(budget: Budget) -> Row:
    counts, wrong = Counter[str](), list[str]()
    for number in budget.rounds(_TRIED, lambda: counts["tried"]):
        chance = Random(f"{budget.seed} {number}")
        drawn = [*chance.sample(keys(), _AT_ONCE), *(composed(chance) for _ in range(_AT_ONCE))]
        for key, what, line in _judged(chance, drawn):
            counts["tried"] += 1
            counts[what] += 1
            counts[key.table] += 1
            if line:
                wrong.append(f"round {number}: {line}")
    tables = sorted({key.table for key in keys()} | {"composed"})
    told = f"{counts['theirs']} get that unit, {counts['none']} none, {counts['wrong']} another"
    of = ", ".join(f"{counts[table]} of {table}" for table in tables)
    return Row(
        "oracles: keys of others",
        f"{counts['tried']} keys ({of}): {told}",
        wrong[:20],
        counts["tried"],
        _TRIED,
    )


def _judged(chance: Random, drawn: list[Key]) -> list[tuple[Key, str, str]]:
    """What is proposed for each of these keys."""
    spelled = [_spelled(chance, key.name) for key in drawn]
    source, lines = _program(chance, spelled)
    said = on_large_stack(run, Case("keys", {"a.py": source}, {}))
    findings = {item.span.line: item for item in said if isinstance(item, Finding)}
    out = []
    for key, name, line in zip(drawn, spelled, lines, strict=True):
        finding = findings.get(line)
        if finding is None:
            out.append((key, "none", ""))
            continue
        units = _units_in(finding)
        bad = [unit for unit in units if not _is_unit(unit, key.unit)]
        what = "wrong" if bad else "theirs" if units else "none"
        out.append(
            (
                key,
                what,
                f"{name} is in {key.unit} ({key.table}), and {bad} is proposed: {finding.help}"
                if bad
                else "",
            )
        )
    return out


def _units_in(finding: Finding) -> list[str]:
    """The units that a help and a fix name for the number."""
    texts = [finding.help or ""]
    if finding.fix is not None:
        texts += [edit.content for edit in finding.fix.edits]
    named = {unit for text in texts for unit in re.findall(r"""["']unit["']: ["']([^"'<]*)["']""", text)}
    return sorted(named)


def _is_unit(ours: str, theirs: str) -> bool:
    """Whether a unit that we name is the one that the table has."""
    if theirs == "count" or ours == "count":
        return theirs == "count" and (ours == "count" or ours in _counts())
    if ours in ("1", "ratio") and theirs == "percent":
        return False
    try:
        one, other = _parsed(_in_pint(ours)), _parsed(theirs)
    except (pint.PintError, ValueError, AttributeError):
        return False
    if one.dimensionality != other.dimensionality:
        return False
    return math.isclose(one.to_base_units().magnitude, other.to_base_units().magnitude, rel_tol=1e-3)


@cache
def _counts() -> frozenset[str]:
    from gllint_runtime.policy.unit_table import pack_units

    return frozenset(pack_units(("counts",)))


@cache
def _parsed(text: str) -> Any:
    return (
        PINT.Quantity(1.0, text)
        if text.endswith("degC")
        else PINT.Quantity(1.0) * PINT.parse_expression(text)
    )


def _in_pint(unit: str) -> str:
    text = as_pint(unit)
    return re.sub(r"[A-Za-zµ°][A-Za-zµ° ]*", lambda match: _WRITTEN.get(match[0], match[0]), text)


def _spelled(chance: Random, name: str) -> str:
    before = chance.choice(_BEFORE)
    name = f"{before}{name}"
    if chance.random() < 0.25 and not re.search(r"[A-Z]", name):
        first, *rest = name.split("_")
        return first + "".join(word.capitalize() for word in rest)
    return name


def _program(chance: Random, names: list[str]) -> tuple[str, list[int]]:
    """A tool that returns these keys, each on a line of its own; and the lines."""
    head = [
        "from langchain_core.tools import tool",
        "from dataclasses import dataclass",
        "from pydantic import BaseModel",
        "",
    ]
    form = chance.randrange(4)
    opening, each, closing = "    return {", '        "{name}": float(meter(site, {place})),', "    }"
    if form in (1, 2):
        kind = ["@dataclass", "class Reading:"] if form == 1 else ["class Reading(BaseModel):"]
        head += [*kind, *(f"    {name}: float" for name in dict.fromkeys(names)), ""]
        opening, each, closing = "    return Reading(", "        {name}=float(meter(site, {place})),", "    )"
    elif form == 3:
        opening, each, closing = (
            "    answer = {}",
            '    answer["{name}"] = float(meter(site, {place}))',
            "    return answer",
        )
    head += ["@tool", "def read(site: str):", '    """Reads a site."""', opening]
    lines = [each.replace("{name}", name).replace("{place}", str(place)) for place, name in enumerate(names)]
    text = "\n".join([*head, *lines, closing, ""])
    return text, [len(head) + 1 + place for place in range(len(names))]
