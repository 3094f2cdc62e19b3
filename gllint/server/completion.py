"""What can be written at the cursor: units, and names of tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types

from gllint.server.spots import Spot
from gllint.server.texts import Snapshot
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.units import ALLOWED_UNITS, TIME_UNITS

TRIGGERS = ['"', "'", "/"]
_OPERATORS = "/*"


def items(
    spot: Spot,
    offset: int,
    snapshot: Snapshot,
    kind: types.CompletionItemKind,
    named: Iterable[tuple[str, str]],
) -> types.CompletionList:
    """Return a completion list of ``named``, texts with their details, in that order, each replacing the string at
    ``spot``.
    """
    # An unclosed string reaches to the end of its line: what follows the cursor is not part of it.
    place = snapshot.location(spot.start, spot.end if spot.is_closed else offset).range
    entries = [
        types.CompletionItem(
            label=text,
            kind=kind,
            detail=detail,
            sort_text=f"{number:04}",
            filter_text=text,
            text_edit=types.TextEdit(place, text),
        )
        for number, (text, detail) in enumerate(named)
    ]
    return types.CompletionList(is_incomplete=False, items=entries)


def units(typed: str, policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield the allowed units that continue what is typed, with their dimensions.

    ``"kWh/"`` → ``"kWh/m2", "energy/area"``.
    """
    head = typed[: max(typed.rfind(operator) for operator in _OPERATORS) + 1]
    last = [*ALLOWED_UNITS, *policy.extend_units, *sorted(policy.pack_symbols())]
    for unit in dict.fromkeys([*last, *TIME_UNITS] if head else last):
        verdict = policy.judge(head + unit)
        if verdict.status == "allowed":
            yield head + unit, verdict.dimension or "one of the project's own units"
