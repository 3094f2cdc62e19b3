"""Paths of files as the source builds them: whether an expression is one, and where it leads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from gllint_rules.inference import origins, values
from gllint_rules.inference.origins import MOST_STEPS as MOST_STEPS
from gllint_rules.inference.values import External, ExternalInstance, Frame, Text, options
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr
from gllint_rules.words.names import NOTES, PATH_CLASSES, PATH_SAME

if TYPE_CHECKING:
    from gllint_rules.project.project import Project


def sources(project: Project, expr: Expr, frame: Frame) -> Iterator[tuple[Expr, Frame]]:
    """Yield the expressions that are assigned to a name or to an attribute of ``self``, each with its frame."""
    return origins.sources(project.evaluator, expr, frame)


def is_path(project: Project, expr: Expr, frame: Frame, depth: int = 0) -> bool:
    """Return whether ``expr`` is surely a path object, followed through `/`, its methods and assignments."""
    for option in options(project.evaluator.eval(expr, frame)):
        if isinstance(option, ExternalInstance) and option.name in PATH_CLASSES:
            return True
    if depth > MOST_STEPS:
        return False
    begun = [*_begun_with(project, expr, frame)]
    match expr:
        case facts.BinOp(op="/", right=right) if is_path(project, right, frame, depth + 1):
            return True
        case facts.Call(func=func) if not begun:  # Path.cwd()
            return any(
                isinstance(option, External) and option.name.rpartition(".")[0] in PATH_CLASSES
                for option in options(project.evaluator.eval(func, frame))
            )
        case _:
            return bool(begun) and all(is_path(project, e, home, depth + 1) for e, home in begun)


def _begun_with(project: Project, expr: Expr, frame: Frame) -> Iterator[tuple[Expr, Frame]]:
    """Yield what a path is made from: ``base`` for ``base / "x"`` and ``base.parent``, for a name its assignments."""
    match expr:
        case facts.BinOp(op="/", left=base) | facts.Attr(base=base, name="parent"):
            yield base, frame
        case facts.Call(func=facts.Attr(base=base, name=name)) if name in PATH_SAME:
            yield base, frame
        case _:
            yield from sources(project, expr, frame)


def whereabouts(
    project: Project, path: Expr | None, frame: Frame
) -> Literal["notes", "elsewhere", "unknown"]:
    """Return whether a path names notes: yes, no, or unknown if it is not a literal."""
    if path is None:
        return "unknown"
    if any(NOTES in word.lower() for word in _words(project, path, frame, set())):
        return "notes"
    return "elsewhere" if _begins_literally(project, path, frame) else "unknown"


def _words(project: Project, expr: Expr, frame: Frame, steps: set[Expr], depth: int = 0) -> Iterator[str]:
    """Yield the texts and names in a path, those of each expression once. ``steps`` are the expressions read so far."""
    if depth > MOST_STEPS or expr in steps:
        return
    steps.add(expr)
    inner: list[tuple[Expr, Frame]] = []
    match expr:
        case facts.Const(value=value):
            yield str(value)
        case facts.Join(parts=parts):
            inner += ((p.value if isinstance(p, facts.Hole) else p, frame) for p in parts)
        case facts.Name(id=name):
            yield name
            inner += sources(project, expr, frame)
        case facts.Attr(base=base, name=name):
            yield name
            inner += [(base, frame), *sources(project, expr, frame)]
        case facts.Call(func=func, args=args):
            inner += ((part, frame) for part in (func, *args))
        case facts.BinOp(left=first, right=second):
            inner += ((first, frame), (second, frame))
        case facts.Sub(base=base, index=index):
            inner += ((base, frame), (index, frame))
        case _:
            pass
    value = project.evaluator.eval(expr, frame)
    if isinstance(value, Text) and value.literal is not None:
        yield value.literal
    for part, home in inner:
        yield from _words(project, part, home, steps, depth + 1)


def _begins_literally(project: Project, expr: Expr, frame: Frame, depth: int = 0) -> bool:
    """Return whether a path begins with a literal, so that the rest only leads further down."""
    value = project.evaluator.eval(expr, frame)
    if isinstance(value, Text) and value.parts:
        return isinstance(value.parts[0], values.Literal)
    if depth > MOST_STEPS:
        return False
    begun = [*_begun_with(project, expr, frame)]
    if isinstance(expr, facts.Call) and not begun:
        begun = [(first, frame) for first in expr.args[:1]]
    return bool(begun) and all(_begins_literally(project, e, home, depth + 1) for e, home in begun)
