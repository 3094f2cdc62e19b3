"""What can be written at the cursor: units, and names of tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lsprotocol import types

from gllint.server.spots import Spot
from gllint.server.texts import Snapshot
from gllint_rules import Settings
from gllint_runtime.policy.units import ALLOWED_UNITS, TIME_UNITS

TRIGGERS = ['"', "'", "/"]
_OPERATORS = "/*"


def unit_items(spot: Spot, offset: int, snapshot: Snapshot, settings: Settings) -> list[types.CompletionItem]:
    """The units that may stand here; behind an operator those that make an allowed compound."""
    typed = snapshot.text[spot.start : offset]
    head = typed[: max(typed.rfind(operator) for operator in _OPERATORS) + 1]
    return [
        _item(unit, dimension, types.CompletionItemKind.Unit, spot, offset, snapshot, number)
        for number, (unit, dimension) in enumerate(_units(head, settings))
    ]


def _units(head: str, settings: Settings) -> Iterator[tuple[str, str]]:
    last = [*ALLOWED_UNITS, *settings.extend_units, *sorted(settings.pack_symbols())]
    for unit in dict.fromkeys([*last, *TIME_UNITS] if head else last):
        verdict = settings.judge(head + unit)
        if verdict.status == "allowed":
            yield head + unit, verdict.dimension or "one of the project's own units"


def tool_items(
    spot: Spot, offset: int, snapshot: Snapshot, names: Mapping[str, str]
) -> list[types.CompletionItem]:
    """The names of the project's tools, each with the file that it is defined in."""
    return [
        _item(name, path, types.CompletionItemKind.Function, spot, offset, snapshot, number)
        for number, (name, path) in enumerate(sorted(names.items()))
    ]


def _item(
    text: str,
    detail: str,
    kind: types.CompletionItemKind,
    spot: Spot,
    offset: int,
    snapshot: Snapshot,
    number: int,
) -> types.CompletionItem:
    # An unclosed string reaches to the end of its line: what follows the cursor is not part of it.
    end = spot.end if spot.is_closed else offset
    return types.CompletionItem(
        label=text,
        kind=kind,
        detail=detail,
        sort_text=f"{number:04}",
        filter_text=text,
        text_edit=types.TextEdit(snapshot.location(spot.start, end).range, text),
    )
