"""Fixes of GL402, GL403 and GL404: macros, claims without a macro, and claim paths."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst
from msgspec import Struct

from gllint_rules.finding import Edit, Fix
from gllint_rules.fixes.nodes import rewritten, without
from gllint_rules.fixes.syntax import SyntaxPlace, place_of
from gllint_rules.inference.values import Interpolation, Record, Site, Text, number
from gllint_rules.project.context import Context
from gllint_rules.project.edits import replacement
from gllint_rules.project.templates import FinalStep, final_steps
from gllint_rules.tools.parameters import function_at
from gllint_runtime.policy.claims import ClaimPathError, Macro, parse_claim_path
from gllint_runtime.policy.units import ALLOWED_UNITS

_MOST_EDITS = 200  # macros or claims that one repair would touch; each finding brings one of its own

# --- GL403: macros -------------------------------------------------------------------------------------------

_INDEX = re.compile(
    r"[\[{]{1,4}\s*claims?\s*[:：=\[(#._ ]?\s*(?P<index>\d{1,6})\s*[\])]?\s*[\]}]{1,4}", re.IGNORECASE
)
_EXACT = re.compile(r"\{\{claim:(?:0|[1-9][0-9]*)\}\}")


def mend_macro(context: Context, step: FinalStep, macro: Macro) -> Fix | None:
    """Return the fix that makes a macro valid, with the index of a claim that exists."""
    if macro.index is not None and _counts_from_one(step):
        return _count_from_zero(context, step)
    written = _written(context, step, macro)
    index = _index(step, macro)
    if written is None or index is None:
        return None
    raw, doubled = written.raw, written.doubles_braces(macro.text)
    if doubled is None:
        return None
    text = _macro(index, doubled=doubled)
    halved = doubled and _EXACT.fullmatch(raw) is not None and text == f"{{{{{raw}}}}}"
    message = "Double the braces, which formatting halves" if halved else f"Write `{{{{claim:{index}}}}}`"
    return Fix("unsafe", message, (written.replaced(text),))


def _counts_from_one(step: FinalStep) -> bool:
    """Return whether the macros count the claims from 1: with two claims, ``{{claim:1}}`` and ``{{claim:2}}``."""
    if step.claims is None or len(step.used) != len(step.claims.items) or len(step.macros) > _MOST_EDITS:
        return False
    return step.used == set(range(1, len(step.claims.items) + 1))


def _count_from_zero(context: Context, step: FinalStep) -> Fix | None:
    """Return the fix that lowers each index of a step by one."""
    edits: list[Edit] = []
    for macro in step.macros:
        written = _written(context, step, macro)
        doubled = written.doubles_braces(macro.text) if written is not None else None
        if written is None or macro.index is None or doubled is None:
            return None
        edits.append(written.replaced(_macro(macro.index - 1, doubled=doubled)))
    return Fix("unsafe", "Count the claims from zero", tuple(edits))


def _macro(index: int, *, doubled: bool) -> str:
    macro = f"{{{{claim:{index}}}}}"
    return f"{{{{{macro}}}}}" if doubled else macro


def _index(step: FinalStep, macro: Macro) -> int | None:
    """Return the index of the claim that a macro is meant to name."""
    claims = len(step.claims.items) if step.claims is not None else None
    if macro.index is not None:
        return _replacement(step, macro.index)
    match = _INDEX.fullmatch(macro.text)
    if match is None:
        return None
    index = int(match["index"])
    return index if claims is None or index < claims else None


def _replacement(step: FinalStep, index: int) -> int | None:
    """Return the only claim without a macro, if the macro is the only one without a claim."""
    items = len(step.claims.items) if step.claims is not None else 0
    # As many macros as claims: if this one has no claim, exactly one claim has no macro.
    if not items or None in step.used or len(step.used) != items or index < items:
        return None
    unused = [i for i in range(items) if i not in step.used]
    return unused[0] if len(unused) == 1 else None


class _MacroSource(Struct, frozen=True, eq=False):
    """A macro in the source: its literal, its offsets in it, and whether some method changes the text."""

    place: SyntaxPlace
    start: int
    end: int
    plain: bool

    @property
    def raw(self) -> str:
        return self.place.text[self.start : self.end]

    def replaced(self, text: str) -> Edit:
        return replacement(
            self.place.positions, self.place.start + self.start, self.place.start + self.end, text
        )

    def doubles_braces(self, text: str) -> bool | None:
        """Return whether braces are doubled in this literal; ``None`` if unknown."""
        if isinstance(self.place.node, cst.FormattedStringText):
            return True
        if not isinstance(self.place.node, cst.SimpleString) or "\\" in self.raw:
            return None
        if "{" in text and self.raw.count("{") == 2 * text.count("{"):
            return True
        return False if self.raw == text and (self.plain or "{" in text) else None


def _written(context: Context, step: FinalStep, macro: Macro) -> _MacroSource | None:
    """Return the place of a macro in the source; None if it is not in one literal."""
    first = step.template.pieces(macro.start, macro.start + 1)
    last = step.template.pieces(macro.end - 1, macro.end)
    if first is None or last is None or first[0].site != last[0].site:
        return None
    site, (start, _) = context.literal_span(*first)
    _, (_, end) = context.literal_span(*last)
    place = place_of(context, site)
    if place is None:
        return None
    plain = first[0].offsets is None
    if macro.text.strip("{[ ]}").lower() not in place.text[start:end].lower():
        return None
    if not plain and place.text[start:].startswith("{{") and place.text[end - 1 : end + 1] == "}}":
        end += 1  # the last brace that `.format` halves
    return _MacroSource(place, start, end, plain)


# --- GL403: claims -------------------------------------------------------------------------------------------


def drop_claim(context: Context, step: FinalStep, index: int) -> Fix | None:
    """Return the fix that removes an unused claim and all later ones, if these are unused, too: no index changes."""
    assert step.claims is not None
    if any(i is None or i >= index for i in step.used):
        return None
    if any(number(hole.value) is not None for _, hole in step.template.holes()):  # perhaps the one it claims
        return None
    items = step.claims.items
    if len(items) > _MOST_EDITS:
        return None
    place = place_of(context, items[index].site)
    if place is None or _is_shared(context, items[index].site):
        return None
    element = place.parents[0]
    array = next((node for node in place.parents if isinstance(node, cst.List)), None)
    if not isinstance(element, cst.Element) or array is None or element not in array.elements:
        return None
    gone = array.elements[array.elements.index(element) :]
    elements = without(array.elements, lambda e: e in gone, array.rbracket.whitespace_before)
    if elements is None or len(array.elements) != len(items):
        return None
    return place.of(array).fix(array.with_changes(elements=elements), "Remove the unused claims from here on")


def _is_shared(context: Context, site: Site) -> bool:
    """Return whether the claim belongs to several messages."""
    steps = [s for s in final_steps(context) if s.claims is not None]
    return sum(any(item.site == site for item in s.claims.items if s.claims) for s in steps if s.claims) != 1


# --- GL402 ---------------------------------------------------------------------------------------------------


def claim_hole(context: Context, step: FinalStep, hole: Interpolation) -> Fix | None:
    """Return the fix that replaces a formatted number in a message by the macro of its claim."""
    place = place_of(context, hole.site)
    if place is None or step.claims is None:
        return None
    part, text, *_ = place.parents
    if not isinstance(part, cst.FormattedStringExpression) or not isinstance(text, cst.FormattedString):
        return None
    if part.equal is not None:  # f"{heat=}" shows the expression, too
        return None
    claimed = _claim_of_number(context, step, place)
    if claimed is None:
        return None
    index, unit_texts, units = claimed
    parts = list(text.parts)
    spot = next(i for i, p in enumerate(parts) if p is part)
    head, tail = parts[:spot], _without_unit(place, parts[spot + 1 :], unit_texts, units)
    if not _may_touch(head[-1:], tail[:1]):
        return None
    macro = cst.FormattedStringText(_macro(index, doubled=True))
    new = text.with_changes(parts=[*head, macro, *tail])
    return place.of(text).fix(new, f"Write `{{{{claim:{index}}}}}`, the claim of this number")


def _claim_of_number(
    context: Context, step: FinalStep, place: SyntaxPlace
) -> tuple[int, set[str], set[str]] | None:
    """Return the claim of the number at ``place``: its index, the codes of its unit, and its literal units.

    None if no claim has that number.
    """
    assert step.claims is not None
    number_text = _normal(_unrounded(place.node), place)
    function = function_at(place.module, place.at)
    for index, claim in enumerate(step.claims.items):
        entries = claim.value.entries.get("quantity", ()) if isinstance(claim.value, Record) else ()
        for entry in entries:
            quantity = place_of(context, entry.site) if entry.site.module is place.module else None
            if quantity is None or function_at(place.module, quantity.at) is not function:
                continue
            if number_text in _ways_to_write(quantity, "value"):
                units = entry.value.entries.get("unit", ()) if isinstance(entry.value, Record) else ()
                unit_texts = {e.value.literal for e in units if isinstance(e.value, Text) and e.value.literal}
                return index, set(_ways_to_write(quantity, "unit")), unit_texts
    return None


def _unrounded(node: cst.CSTNode) -> cst.CSTNode:
    match node:
        case cst.Call(func=cst.Name(value="round" | "float"), args=[first, *_]):
            return first.value
        case _:
            return node


def _ways_to_write(quantity: SyntaxPlace, key: str) -> Iterator[str]:
    """Return the texts that show the value or the unit of a Quantity."""
    match quantity.node:
        case cst.Dict(elements=elements):
            for element in elements:
                match element:
                    case cst.DictElement(key=cst.SimpleString() as name, value=value) if (
                        name.evaluated_value == key
                    ):
                        yield _normal(value, quantity)
        case cst.Call(args=args):
            for arg in args:
                if arg.keyword is not None and arg.keyword.value == key:
                    yield _normal(arg.value, quantity)
        case _:
            base = _normal(quantity.node, quantity)
            yield from (f'{base}["{key}"]', f"{base}.{key}")


def _normal(node: cst.CSTNode, place: SyntaxPlace) -> str:
    return re.sub(r"\s+", "", place.code(node).replace("'", '"'))


def _without_unit(
    place: SyntaxPlace, parts: Sequence[cst.BaseFormattedStringContent], written: set[str], units: set[str]
) -> list[cst.BaseFormattedStringContent]:
    """Return the text after a number without the unit, which the claim shows itself."""
    match parts:
        case [cst.FormattedStringText(value=gap), cst.FormattedStringExpression(expression=unit), *rest] if (
            not gap.strip() and _normal(unit, place) in written
        ):
            return list(rest)
        case [cst.FormattedStringText(value=text) as first, *rest]:
            word = re.match(r"\s?(\S+?)(?=[\s,;:.!?)]|$)", text)
            if word is not None and (word[1] in units or (not units and word[1] in ALLOWED_UNITS)):
                suffix = text[word.end() :]
                return [first.with_changes(value=suffix), *rest] if suffix else list(rest)
    return list(parts)


def _may_touch(
    head: Sequence[cst.BaseFormattedStringContent], tail: Sequence[cst.BaseFormattedStringContent]
) -> bool:
    """Return whether a macro may be put between two texts: no digit, sign or letter may be next to it."""
    head_end = head[0].value[-1:] if head and isinstance(head[0], cst.FormattedStringText) else ""
    tail_start = tail[0].value[:1] if tail and isinstance(tail[0], cst.FormattedStringText) else ""
    holes = [p for p in (*head, *tail) if not isinstance(p, cst.FormattedStringText)]
    return not holes and head_end in ("", " ", "(", "\n", "n", "*") and tail_start in ("", *" ,;.!?):\n*\\")


# --- GL404 ---------------------------------------------------------------------------------------------------


def mend_path(context: Context, site: Site, path: str) -> Fix | None:
    """Return the fix that rewrites a claim path as ``$.name.name``: ``$/heat/load`` → ``$.heat.load``."""
    place = place_of(context, site)
    if place is None or not isinstance(place.node, cst.SimpleString) or place.node.evaluated_value != path:
        return None
    text = path.strip()
    if re.fullmatch(r"\$?(?:/[^/.\[\]]+)+", text):
        text = text.replace("/", ".")
    text = re.sub(r"""\[\s*(['"])([^'"\]]+)\1\s*\]""", r".\2", text)
    names = text.removeprefix("$").removeprefix(".").removesuffix(".")
    wanted = f"$.{names}"
    try:
        parse_claim_path(wanted, arrays=context.policy.array_paths)
    except ClaimPathError:
        return None
    node = rewritten(place.node, wanted)
    return Fix("unsafe", f"Write `{wanted}`", (place.whole(place.code(node)),)) if node is not None else None
