"""From the number of an expression to its facts, for what is reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr, Module, Param, SectionFacts


def expression(module: Module, at: int) -> Expr | None:
    """Expression number ``at`` of a module; ``None`` if that is the number of a ``def``, a ``class`` or a macro."""
    if at < 0:
        return None
    section_facts = module.section_of(at)
    if section_facts.by_number is None:
        section_facts.by_number = _by_number(section_facts)
    number = at - section_facts.first
    return section_facts.by_number[number] if number < len(section_facts.by_number) else None


def expressions_in(block: facts.Block) -> Iterator[Expr]:
    """Yield all expressions of a block and of the blocks in it, each before its parts; definitions aside."""
    for statement in facts.statements(block):
        for expr in expressions_of(statement):
            yield from parts_of(expr)


def parts_of(expr: Expr) -> Iterator[Expr]:
    """Yield an expression and all that it is put together of."""
    waiting = [expr]
    while waiting:
        expr = waiting.pop()
        yield expr
        waiting += direct_parts(expr)


def _by_number(section_facts: SectionFacts) -> list[Expr | None]:
    """Return the expressions of a section by number. If two share one, the outer one counts."""
    by_number: list[Expr | None] = [None] * section_facts.size
    first = section_facts.first
    waiting = list(_outermost(section_facts))
    while waiting:
        expr = waiting.pop()
        number = expr.at - first
        if 0 <= number < len(by_number) and by_number[number] is None:
            by_number[number] = expr
            waiting += direct_parts(expr)
    return by_number


def _outermost(section_facts: SectionFacts) -> Iterator[Expr]:
    """Yield the expressions of a section that are in no other expression."""
    for body in (section_facts.body, *(function.body for function in section_facts.functions)):
        for statement in facts.statements(body):
            yield from expressions_of(statement)
    for function in section_facts.functions:
        yield from function.decorators
        yield from _of_params(function.params)
        if function.returns is not None:
            yield function.returns
    namespaces = [section_facts.bound_in_class]
    for cls in section_facts.classes:
        yield from (*cls.bases, *(value for _, value in cls.keywords), *cls.decorators)
        if isinstance(cls.scope.bindings, dict):
            namespaces.append(cls.scope.bindings)
    for namespace in namespaces:
        for bindings in namespace.values():
            for binding in bindings:
                yield from filter(None, (binding.value, binding.annotation))


def expressions_of(statement: facts.Stmt) -> Iterator[Expr]:
    """Yield the outermost expressions of a statement, those of its blocks aside."""
    match statement:
        case facts.Assign(targets=targets, value=value, annotation=annotation):
            yield from targets
            yield from filter(None, (value, annotation))
        case facts.AugAssign(target=target, value=value):
            yield target
            yield value
        case facts.Return(value=value):
            yield from filter(None, (value,))
        case facts.Do(values=values):
            yield from values
        case facts.If(test=test):
            yield test
        case facts.Loop(target=target, source=source):
            yield from filter(None, (target, source))
        case facts.With(items=items):
            for item in items:
                yield from filter(None, item)
        case facts.Match(subject=subject):
            yield subject


def _of_params(params: Iterable[Param]) -> Iterator[Expr]:
    for param in params:
        yield from filter(None, (param.annotation, param.default))


def direct_parts(expr: Expr) -> Iterator[Expr]:
    """Yield the expressions that an expression is put together of."""
    match expr:
        case facts.Attr(base=part) | facts.UnaryOp(operand=part):
            yield part
        case facts.Await(value=part) | facts.Star(value=part) | facts.Walrus(value=part):
            yield part
        case facts.Call(func=func, args=args, keywords=keywords):
            yield from (func, *args, *(value for _, value in keywords))
        case facts.Sub(base=base, index=index):
            # The parts of `x[a, b]` are in a tuple that has no number of its own.
            is_bare = isinstance(index, facts.Seq) and index.at == expr.at
            yield from (base, *(index.items if is_bare and isinstance(index, facts.Seq) else (index,)))
        case facts.Dict(items=items):
            for key, value in items:
                yield from filter(None, (key, value))
        case facts.Seq(items=parts) | facts.Compare(operands=parts) | facts.Slice(parts=parts):
            yield from parts
        case facts.Comp(key=key, element=element, scope=scope, tests=tests):
            yield from filter(None, (key, element, *tests))
            for bindings in scope.bindings.values():
                yield from (binding.value for binding in bindings if binding.value is not None)
        case facts.BinOp(left=left, right=right) | facts.BoolOp(left=left, right=right):
            yield from (left, right)
        case facts.IfExp(test=test, body=body, orelse=orelse):
            yield from (body, test, orelse)
        case facts.Lambda(params=params, body=body):
            yield from (*_of_params(params), body)
        case facts.Join(parts=pieces):
            for piece in pieces:
                yield piece.value if isinstance(piece, facts.Hole) else piece
        case facts.Yield(value=value):
            yield from filter(None, (value,))
