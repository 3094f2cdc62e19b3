"""The part of a tool's result that the model sees, if the framework takes it apart or changes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gllint_rules.inference import classes, unit_objects
from gllint_rules.inference.execution import execute
from gllint_rules.inference.values import (
    NONE,
    UNKNOWN,
    Container,
    DictOf,
    Entry,
    Envelope,
    Frame,
    FunctionOf,
    Instance,
    Key,
    ListOf,
    Number,
    Record,
    SerialisedText,
    Site,
    Text,
    UnionOf,
    Value,
    are_same,
    join,
    literal_of,
    options,
)
from gllint_rules.project.results import is_quantity
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr
from gllint_rules.tools.parameters import function_at
from gllint_rules.tools.tool import Tool
from gllint_rules.words.framework_table import Place

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator


def is_changed(evaluator: Evaluator, tool: Tool, callable: FunctionOf) -> bool:
    """Return whether something changes the result of a callable before the model sees it."""
    if any(_replaces_result(evaluator, tool, changer) for changer in _changers(tool, callable)):
        return True
    for wrapper in wrappers(evaluator, callable):
        values = _wrapped_values(evaluator, wrapper, callable)
        if values and all(_is_another(option) for value in values for option in options(value)):
            return True
    function = callable.function
    decorators = function.decorators if isinstance(function, facts.Function) else ()
    frame = Frame(callable.module, function.scope.parent or function.scope)
    return any(unit_objects.is_wrapping(evaluator, decorator, frame) for decorator in decorators)


def _wrapped_values(evaluator: Evaluator, wrapper: FunctionOf, callable: FunctionOf) -> list[Value]:
    """Return what ``wrapper`` returns when its decorator is applied to ``callable``; nothing if that is unknown."""
    decorated = _decorated_name(wrapper)
    if decorated is None:
        return [value for _, value in evaluator.flow(wrapper).returns]
    flow = evaluator.executed(
        ("wrapped", wrapper.function, callable.function),
        lambda: execute(evaluator, wrapper, {decorated: callable}),
        Site(wrapper.module, wrapper.function.at),
    )
    return [value for _, value in flow.returns] if flow is not None else []


def _is_another(value: Value) -> bool:
    """Return whether a wrapper's value differs from the result: a text of its own, or a container of Quantities."""
    if isinstance(value, Container):
        return _is_wrapped(value)
    return isinstance(value, Text) and not isinstance(value, SerialisedText)


def _is_wrapped(value: Value) -> bool:
    """Return whether each number of a container is in a Quantity, and there is one."""
    has_quantity = False
    waiting = [value]
    while waiting:
        for option in options(waiting.pop()):
            if isinstance(option, Record) and is_quantity(option):
                has_quantity = True
            elif isinstance(option, Container):
                waiting += option.values()
            elif option is UNKNOWN or isinstance(option, Number):
                return False
    return has_quantity


def _changers(tool: Tool, callable: FunctionOf) -> list[Expr]:
    """Return the functions that the registration names to change the result: the async ones for an async callable."""
    names = tool.framework.changed_by if tool.framework is not None else ()
    pairs = [(name, expr) for name in names if (expr := _keyword(tool, name)) is not None]
    is_async = isinstance(callable.function, facts.Function) and callable.function.is_async
    own = [expr for name, expr in pairs if name.startswith("async") is is_async]
    return own or [expr for _, expr in pairs]


def _replaces_result(evaluator: Evaluator, tool: Tool, changer: Expr) -> bool:
    """Return whether ``changer`` replaces a result.

    A function of the project keeps the result if it may return None, or something that may contain its argument.
    """
    return not any(
        isinstance(option, FunctionOf) and _keeps(evaluator, option)
        for option in options(evaluator.eval(changer, Frame(tool.module, tool.scope)))
    )


def _keeps(evaluator: Evaluator, function: FunctionOf) -> bool:
    """Return whether the result of a function may contain its argument, or be None."""
    flow = evaluator.flow(function)
    return flow.falls_through or any(value.gap or _stays(value) for _, value in flow.returns)


def _stays(value: Value) -> bool:
    """Return whether a value may be None, or a container that was made elsewhere."""
    return any(
        option is NONE or (isinstance(option, Container) and option.site is None) for option in options(value)
    )


def result_changers(evaluator: Evaluator, tool: Tool, callable: FunctionOf) -> Iterator[FunctionOf]:
    """Return the functions of the project whose results replace those of ``callable``."""
    for changer in _changers(tool, callable):
        if _replaces_result(evaluator, tool, changer):
            for option in options(evaluator.eval(changer, Frame(tool.module, tool.scope))):
                if isinstance(option, FunctionOf):
                    yield option


def runs_wrapped(wrapper: FunctionOf) -> bool:
    """Return whether a function inside a decorator calls or passes on the decorated function; else it replaces it."""
    decorated = _decorated_name(wrapper)
    return decorated is not None and any(
        scope is wrapper.function.scope
        and any(isinstance(part, facts.Name) and part.id == decorated for part in (call.func, *call.args))
        for call, scope in wrapper.module.section_of(wrapper.function.at).calls
    )


def _decorated_name(wrapper: FunctionOf) -> str | None:
    """Return the parameter of a decorator (or of its `__call__`) that is the decorated function."""
    parent = wrapper.function.scope.parent
    maker = parent.owner if parent is not None else None
    if not isinstance(maker, facts.Function):
        return None
    names = [param.name for param in maker.params[maker.owner is not None :]]
    return names[0] if names else None


def wrappers(evaluator: Evaluator, callable: FunctionOf) -> Iterator[FunctionOf]:
    """Yield the functions that decorators of the project put around another one."""
    function = callable.function
    if not isinstance(function, facts.Function) or not function.decorators:
        return
    frame = Frame(callable.module, function.scope.parent or function.scope)
    for decorator in function.decorators:
        for option in options(evaluator.eval(decorator, frame)):
            if isinstance(option, Instance):
                option = evaluator.class_member(option.of, "__call__")
            if not isinstance(option, FunctionOf) or not isinstance(option.function, facts.Function):
                continue
            for _, wrapper in evaluator.flow(option).returns:
                if isinstance(wrapper, FunctionOf) and wrapper.function.scope.parent is option.function.scope:
                    yield wrapper


def visible_result(
    evaluator: Evaluator, tool: Tool, callable: FunctionOf, expr: Expr, value: Value
) -> tuple[Site, Value]:
    """Return the part of a result that the model sees, and its place."""
    expr, value = _visible(evaluator, tool, expr, value)
    return read_result(value, Site(callable.module, expr.at))


def read_result(value: Value, site: Site) -> tuple[Site, Value]:
    """Return place and value of a result at ``site``, in which serialised texts are replaced by their data."""
    read, origin = _Reading().of(value)
    return _nearer(site, origin), read


def _visible(evaluator: Evaluator, tool: Tool, expr: Expr, value: Value) -> tuple[Expr, Value]:
    """Return the part of a result that the model sees by the rules of the tool's framework."""
    framework = tool.framework
    if framework is None:
        return expr, value
    for (keyword, wanted), places in framework.parts.items():
        if _text(evaluator, tool, _keyword(tool, keyword)) == wanted:
            expr, value = _parts(expr, value, places)
    if framework.pair_results:
        value = join(*(part for option in options(value) for part in _each_of_pair(option)))
    if framework.shapes:
        value = join(*(_payload_of_shape(option, framework.shapes) for option in options(value)))
    if not framework.plain_results:
        value = join(*(_unless_refused(option) for option in options(value)))
    return expr, value


def _keyword(tool: Tool, name: str) -> Expr | None:
    if tool.cls is not None:
        return classes.class_value(tool.cls, name)
    expr = tool.call.keyword(name) if tool.call is not None else None
    return None if isinstance(expr, facts.Const) and expr.value is None else expr


def _text(evaluator: Evaluator, tool: Tool, expr: Expr | None) -> str | None:
    return literal_of(evaluator.eval(expr, Frame(tool.module, tool.scope))) if expr is not None else None


def _parts(expr: Expr, value: Value, places: tuple[Place, ...]) -> tuple[Expr, Value]:
    """Return the items at ``places`` of a returned tuple."""
    [place] = places if len(places) == 1 else (None,)
    if not isinstance(place, int):
        return expr, value
    if isinstance(expr, facts.Seq) and place < len(expr.items):
        expr = expr.items[place]
    items = [
        option.items[place].value if isinstance(option, ListOf) and place < len(option.items) else option
        for option in options(value)
    ]
    return expr, join(*items)


def _each_of_pair(value: Value) -> tuple[Value, ...]:
    """Return the two parts of a pair, each of which the model sees by itself."""
    if isinstance(value, ListOf) and value.kind in ("tuple", "declared") and len(value.items) == 2:
        return tuple(entry.value for entry in value.items)
    return (value,)


def _payload_of_shape(value: Value, shapes: Mapping[frozenset[str], tuple[Place, ...]]) -> Value:
    """Return the payload of a dict that has the keys of one of ``shapes``, and of one in its payload."""
    if isinstance(value, DictOf):
        for keys, places in shapes.items():
            if keys <= value.entries.keys():
                entries: dict[Key, tuple[Entry, ...]] = {
                    key: tuple(
                        replace(
                            item,
                            value=join(*(_payload_of_shape(part, shapes) for part in options(item.value))),
                        )
                        for item in items
                    )
                    for key, items in value.entries.items()
                    if key in places
                }
                return replace(value, entries=entries, rest=None)
    return value


def _unless_refused(value: Value) -> Value:
    """Return ``value`` if it is a text or an envelope, else NONE: the framework raises for anything else."""
    return value if isinstance(value, (Text, Envelope)) else NONE


# --- texts ------------------------------------------------------------------------------------------------------

# The key under which a content block has its text, and those that may be next to it.
_TEXT = "text"
_BESIDE_TEXT = frozenset(
    {"type", "annotations", "_meta", "meta", "id", "name", "uri", "mimeType", "mime_type", "cache_control"}
)


class _Reading:
    """Replaces each serialised text in a result by its data, in which the model reads the same numbers.

    A content block, or a list of blocks, is replaced by its text, so that paths contain neither the block nor the list.
    """

    def __init__(self) -> None:
        self.parts: dict[Value, tuple[Value, Site | None]] = {}

    def of(self, value: Value) -> tuple[Value, Site | None]:
        """Return the value with its data, and the place where that was serialised, if there is exactly one."""
        if not isinstance(value, (UnionOf, SerialisedText, Container)):
            return value, None
        if value not in self.parts:
            self.parts[value] = self._of(value)
        return self.parts[value]

    def _of(self, value: Value) -> tuple[Value, Site | None]:
        """Return a value in which serialised texts are replaced by their data, and the place of that data."""
        if isinstance(value, UnionOf):
            return self._of_union(value)
        if isinstance(value, SerialisedText):
            read, site = self.of(value.value)
            return read, site or value.content.site
        if isinstance(value, ListOf) and any(_has_serialised_text(part) for part in value.values()):
            return self._of_blocks(value)
        if _has_serialised_text(value):
            assert isinstance(value, Record)
            return self.of(join(*(entry.value for entry in value.entries[_TEXT])))
        assert isinstance(value, Container)
        return value.each_changed(lambda part: self.of(part)[0], self._put), None

    def _of_union(self, union: UnionOf) -> tuple[Value, Site | None]:
        """Replace the serialised texts in each option of a union."""
        pairs = [self.of(option) for option in union.options]
        if are_same((read for read, _ in pairs), union.options):
            return union, None
        sites = {site for _, site in pairs}
        joined = join(*(read for read, _ in pairs))
        if isinstance(joined, UnionOf):
            joined = replace(joined, source=union.source)
        return joined, sites.pop() if len(sites) == 1 else None

    def _of_blocks(self, blocks: ListOf) -> tuple[Value, Site | None]:
        """Return the data in the text blocks of a list, each read by itself, and the list of the other blocks."""
        texts = dict.fromkeys(part for part in blocks.values() if _has_serialised_text(part))
        items = tuple(entry for entry in blocks.items if entry.value not in texts)
        rest = None if blocks.rest is None or blocks.rest in texts else blocks.rest
        others = [replace(blocks, items=items, rest=rest)] if items or rest is not None else []
        pairs = [self.of(part) for part in (*texts, *others)]
        sites = {site for _, site in pairs}
        return join(*(read for read, _ in pairs)), sites.pop() if len(sites) == 1 else None

    def _put(self, entry: Entry, part: Value) -> Entry:
        """Return an entry with the data ``part`` of its value, at the place where that was serialised."""
        if part is entry.value:
            return entry
        site = entry.site if entry.constant else _nearer(entry.site, self.of(entry.value)[1])
        return Entry(part, site, entry.key, entry.constant)


def _has_serialised_text(value: Value) -> bool:
    """Return whether a value is a content block with a serialised text: ``{"type": "text", "text": json.dumps(x)}``."""
    return any(
        isinstance(option, (DictOf, Envelope))
        and _TEXT in option.entries
        and option.entries.keys() <= {_TEXT, *_BESIDE_TEXT}
        and (isinstance(option, Envelope) or "type" in option.entries)
        and any(isinstance(o, SerialisedText) for e in option.entries[_TEXT] for o in options(e.value))
        for option in options(value)
    )


def _nearer(site: Site, origin: Site | None) -> Site:
    """Return the place of a value that is serialised at ``origin``: there, unless that is in another function."""
    if origin is None or origin.module is not site.module:
        return site
    return origin if function_at(*origin) is function_at(*site) else site
