"""Names that a fix needs: under which name a file has them, or the edit that imports them where it keeps imports."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Literal

import libcst as cst
from msgspec import Struct

from gllint_rules.finding import Edit
from gllint_rules.fixes.syntax import statement
from gllint_rules.project.context import Context
from gllint_rules.project.edits import difference, insertion
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Module, Scope
from gllint_rules.reading.positions import Positions


class _ImportLine(Struct, frozen=True, eq=False):
    """An import statement at the margin of a file: its offset, its text and what it imports from."""

    start: int
    text: str
    node: cst.Import | cst.ImportFrom
    dotted: str
    newline: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def imported(
    context: Context, module: Module, scope: Scope, wanted: dict[str, str]
) -> tuple[Edit, ...] | None:
    """Return the edits that import the names ``wanted`` (name → module) where ``scope`` lacks them.

    None if one of the names already means something else there.
    """
    missing: dict[str, list[str]] = {}
    for name, dotted in wanted.items():
        match _meaning(context, module, scope, name, dotted):
            case "other":
                return None
            case "unbound":
                missing.setdefault(dotted, []).append(name)
            case "imported":
                pass
    if not missing:
        return ()
    positions = context.project.positions(module)
    added: dict[int, list[str]] = {}
    edits: list[Edit] = []
    lines = list(_lines(positions))
    for dotted, names in sorted(missing.items()):
        line = next((line for line in lines if _extensible(line, dotted)), None)
        if line is not None:
            edits.append(_extended(positions, line, names))
        else:
            prefix, offset, suffix = _spot(context, positions, module, lines, dotted)
            text = f"from {dotted} import {', '.join(sorted(names))}\n"
            added.setdefault(offset, []).append(prefix + text + suffix)
    edits.extend(insertion(positions, offset, "".join(texts)) for offset, texts in added.items())
    return tuple(edits)


def _meaning(
    context: Context, module: Module, scope: Scope, name: str, dotted: str
) -> Literal["unbound", "imported", "other"]:
    """Return whether ``name`` is unbound in ``scope``, means ``dotted.name``, or means something else."""
    # Functions do not see the names of a class around them.
    if any(name in s.bindings for s in scope.enclosing() if s.kind not in ("class", "module")):
        return "other"
    bindings = module.scope.bindings.get(name, ())
    if not bindings:
        return "unbound"
    # An import inside `if` or `try` may not have run.
    top_level_names = {
        bound for line in _lines(context.project.positions(module)) for bound in _bound(line.node)
    }
    is_same = all(
        b.kind == "import" and b.name == name and _is_same(context, module, b.module, dotted)
        for b in bindings
    )
    return "imported" if is_same and name in top_level_names else "other"


def _is_same(context: Context, module: Module, a: str, b: str) -> bool:
    """Return whether two dotted names mean the same module: ``.tools`` and ``app.tools``."""
    if a == b:
        return True
    path = context.project.imports.find_module(module.path, a)
    return path is not None and path == context.project.imports.find_module(module.path, b)


def _bound(node: cst.Import | cst.ImportFrom) -> Iterator[str]:
    """Yield the names that an import statement binds."""
    if not isinstance(node.names, cst.ImportStar):
        for alias in node.names:
            name = alias.evaluated_alias or alias.evaluated_name
            yield name.partition(".")[0]


def _lines(positions: Positions) -> Iterator[_ImportLine]:
    """Yield the import statements at the top level that stand alone on their lines."""
    module = positions.module
    for section in module.outline.sections:
        if section.kind == "class" or section.owner is not None or not module.mentions(section, ("import",)):
            continue
        source = positions.lines.source
        for stretch in positions.stretches(module.section(section.number)):
            begin = stretch.begin
            if positions.lines.place(begin)[1] != 1 or not source.startswith(("import", "from"), begin):
                continue
            block = statement(positions, stretch)
            [first, *rest] = block.node.body
            if not rest and isinstance(first, cst.Import | cst.ImportFrom):
                text = source[slice(*block.place(first))]
                yield _ImportLine(begin, text, first, _source_of(first), block.newline)


def _source_of(node: cst.Import | cst.ImportFrom) -> str:
    if isinstance(node, cst.Import):
        return node.names[0].evaluated_name
    name = cst.Module([]).code_for_node(node.module) if node.module is not None else ""
    return "." * len(node.relative) + name


# --- into a line that is there -------------------------------------------------------------------------------


def _extensible(line: _ImportLine, dotted: str) -> bool:
    return (
        isinstance(line.node, cst.ImportFrom)
        and line.dotted == dotted
        and not isinstance(line.node.names, cst.ImportStar)
        and "#" not in line.text
    )


def _extended(positions: Positions, line: _ImportLine, names: list[str]) -> Edit:
    """Return the edit that adds names to a ``from`` import."""
    assert isinstance(line.node, cst.ImportFrom) and not isinstance(line.node.names, cst.ImportStar)
    aliases = list(line.node.names)
    for name in sorted(names):
        spot = next((i for i, a in enumerate(aliases) if _rank(a.evaluated_name) > _rank(name)), len(aliases))
        new = cst.ImportAlias(cst.Name(name))
        between = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        if len(aliases) > 1:
            between = cst.ensure_type(aliases[0].comma, cst.Comma)
        if spot < len(aliases):
            comma = aliases[spot].comma
            aliases.insert(spot, new.with_changes(comma=comma if isinstance(comma, cst.Comma) else between))
        else:
            last = aliases[-1]
            aliases[-1] = last.with_changes(comma=between)
            aliases.append(new.with_changes(comma=last.comma))
    node = line.node.with_changes(names=aliases)
    text = cst.Module([], default_newline=line.newline).code_for_node(node)
    return difference(positions, line.start, line.text, text)


def _rank(name: str) -> tuple[int, str]:
    """Return the sort key of a name in isort and ruff: constants first, then classes, then the rest."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name


# --- on a line of its own ------------------------------------------------------------------------------------

_FUTURE, _STANDARD, _OTHERS, _OWN, _RELATIVE = range(5)


def _spot(
    context: Context, positions: Positions, module: Module, lines: list[_ImportLine], dotted: str
) -> tuple[str, int, str]:
    """Return where an import line goes: the text before it, its offset, the text after it."""
    source = positions.lines.source
    block = _block(source, lines)
    if not block:
        start = _first_statement(positions)
        return "", start, "\n" if source[start:].strip() else ""
    key = _section(context, module, dotted), 1, dotted.lower()
    order = {line: _order(context, module, line) for line in block}
    predecessors = [line for line in block if order[line][0] == key[0] and order[line] < key]
    successors = [line for line in block if order[line][0] == key[0] and order[line] > key]
    earlier_lines = [line for line in block if order[line][0] < key[0]]
    if not predecessors and successors:
        return "", successors[0].start, ""
    if not predecessors and not earlier_lines:
        return "", block[0].start, "\n"
    [last] = (predecessors or earlier_lines)[-1:]
    offset = positions.lines.line_end(last.end)
    lead = "" if source.endswith(("\n", "\r"), 0, offset) else "\n"
    if predecessors:
        return lead, offset, ""
    joined = any(line.start == offset for line in block)  # no blank line parts the sections here
    return lead + "\n", offset, "\n" if joined else ""


def _block(source: str, lines: list[_ImportLine]) -> list[_ImportLine]:
    """Return the imports at the top, with only blank lines and comments between them."""
    block: list[_ImportLine] = []
    for line in lines:
        between = source[block[-1].end : line.start].replace("\r", "\n").split("\n") if block else ()
        if any(text.strip() and not text.lstrip().startswith("#") for text in between):
            break
        block.append(line)
    return block


def _first_statement(positions: Positions) -> int:
    """Return where the first statement after the docstring begins."""
    module = positions.module
    for section in module.outline.sections:
        match module.section(section.number).body[:1]:
            case (facts.Do(kind="expr"),) if not section.number:
                pass
            case _:
                return section.begin
    return len(positions.lines.source)


def _order(context: Context, module: Module, line: _ImportLine) -> tuple[int, int, str]:
    """Return the sort key of an import: section, ``import x`` before ``from x import y``, then the alphabet."""
    return (
        _section(context, module, line.dotted),
        int(isinstance(line.node, cst.ImportFrom)),
        line.dotted.lower(),
    )


def _section(context: Context, module: Module, dotted: str) -> int:
    """Return the group of imports that a module belongs to."""
    if dotted == "__future__":
        return _FUTURE
    if dotted.startswith("."):
        return _RELATIVE
    if dotted.partition(".")[0] in sys.stdlib_module_names:
        return _STANDARD
    return _OWN if context.project.imports.find_module(module.path, dotted) is not None else _OTHERS
