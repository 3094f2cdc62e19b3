"""Texts that are put together by f-strings, ``+``, ``str.format``, ``%`` and ``str.join``, or cut by ``strip``.

In and out: texts as literal parts and filled-in values. Twenty-six lines that each double a text make a gigabyte, so
each text has a budget. A text beyond it is unknown as a whole, and a cut is noted where it is made.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from gllint_rules.inference.values import (
    TEXT,
    UNKNOWN,
    DictOf,
    Entry,
    FunctionOf,
    Instance,
    Interpolation,
    ListOf,
    Literal,
    ModelInstance,
    SerialisedText,
    Site,
    Text,
    Value,
    is_text,
    join,
    options,
    over,
    pieces,
    serialised,
)
from gllint_rules.reading import facts
from gllint_runtime.policy.claims import HOLE

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator
    from gllint_rules.inference.values import Frame

# What replaces a field: literal text, or an expression with its format. With the format None, a text is unchanged.
_Filling: TypeAlias = "str | tuple[facts.Expr | None, str | None]"

MOST_PARTS = 400  # of one text
MOST_CHARACTERS = 20_000  # of one text that is put together or cut; a literal may be longer

# What may surround containers in a text without other content: blanks, separators, marks of a cut end.
_AROUND_CONTAINERS = frozenset(" \t\r\n,;.…")

OWN_TEXTS = ("__str__", "__repr__", "__format__")  # methods that format an object

# A field of `str.format`: its name, the steps into the argument, and conversion and format, which may contain fields.
_FIELD = re.compile(
    r"\{\{|\}\}"
    r"|\{([^{}!:.\[]*+)((?:\.[^{}!:.\[]++|\[[^]{}]++\])*+)((?:[!:][^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+)?+)\}"
)
_PART = re.compile(r"\.([^.\[]+)|\[([^]]+)\]")
_DIGITS = 18  # of the position in `{0}` that are read
_UNNAMED = re.compile(r"\{(?=[!:}])")
# The placeholders of `string.Template`: `$$`, `$name`, `${name}`.
_DOLLAR = re.compile(r"\$(?:(\$)|([_a-zA-Z]\w*+)|\{([_a-zA-Z]\w*+)\})")
_PERCENT = re.compile(
    r"%(?:\((\w++)\))?([-+ #0]*+(?:\*|\d++)?+(?:\.(?:\*|\d++))?+)[hlL]?+([diouxXeEfFgGcrsa%])"
)


def assembled(
    evaluator: Evaluator, parts: Iterable[Literal | Interpolation], site: Site, written: int = 0
) -> Text:
    """Return the text of ``parts``; an unknown text if they are too many or too long, with a cut at ``site``.

    Beyond the budget nothing is read from ``parts``. ``written`` is the number of literal characters at ``site``.
    """
    content: list[Literal | Interpolation] = []
    length = 0
    for part in parts:
        if isinstance(part, Literal):
            length += len(part.text)
            if not part.text:
                continue
        content.append(part)
        if len(content) > MOST_PARTS:
            return _too_large(evaluator, site, f"{MOST_PARTS} parts of a text")
        if length > MOST_CHARACTERS + written and len(content) > 1:
            return _too_large(evaluator, site, f"{MOST_CHARACTERS} characters of a text")
    evaluator.step(len(content) // 64)
    return Text(tuple(content))


def is_short(evaluator: Evaluator, text: Text, site: Site) -> bool:
    """Return whether a text is short enough to be read by character. If not, a cut is noted at ``site``."""
    if sum(len(part.text) for part in text.parts or () if isinstance(part, Literal)) <= MOST_CHARACTERS:
        return True
    _too_large(evaluator, site, f"{MOST_CHARACTERS} characters of a text")
    return False


def _too_large(evaluator: Evaluator, site: Site, budget: str) -> Text:
    evaluator.cut(site, budget)
    return TEXT


def serialised_alone(text: Text, site: Site) -> Text:
    """Return a text as a serialised value if it consists of containers and separators, else unchanged.

    ``f"{rows}\\n"`` is the text of ``rows``; JSON Lines are that of a list. ``site`` is where the text is made.
    """
    contents: list[Interpolation] = []
    for part in text.parts or ():
        if isinstance(part, Interpolation) and is_written_out(part.value):
            contents.append(part)
        elif isinstance(part, Interpolation) or not _AROUND_CONTAINERS.issuperset(part.text):
            return text
    if not contents:
        return text
    if len(contents) == 1:
        return SerialisedText((contents[0],))
    return serialised(ListOf(tuple(Entry(part.value, part.site) for part in contents)), site)


def own_text(evaluator: Evaluator, expr: facts.Expr, value: Value, frame: Frame) -> Value:
    """Return the text of ``value`` by the ``__str__`` or ``__repr__`` of its class, else ``value`` itself.

    ``expr`` is the expression of the value.
    """
    for name in OWN_TEXTS:
        if any(own_method(evaluator, option, name) is not None for option in options(value)):
            text = evaluator.eval(facts.Call(expr.at, facts.Attr(expr.at, expr, name), (), ()), frame)
            return text if is_text(text) else over(value, partial(_without_own_text, evaluator))
    return value


def own_method(evaluator: Evaluator, value: Value, *names: str) -> FunctionOf | None:
    """Return the first of some methods that the class of an object has or inherits in the project."""
    of = value.of if isinstance(value, (Instance, ModelInstance)) else None
    methods = (evaluator.class_member(of, name) for name in names if of is not None)
    return next((method for method in methods if isinstance(method, FunctionOf)), None)


def _without_own_text(evaluator: Evaluator, value: Value) -> Value:
    return UNKNOWN if own_method(evaluator, value, *OWN_TEXTS) is not None else value


def is_written_out(value: Value) -> bool:
    """Return whether ``str(value)`` contains its elements: a container, or an object after :func:`own_text`."""
    return any(_writes_out(option) for option in options(value))


def _writes_out(value: Value) -> bool:
    """Return whether formatting a value writes out what it contains."""
    match value:
        case ListOf(kind=kind):
            return kind != "generator"
        case _:
            return isinstance(value, (DictOf, ModelInstance))


def format_call(evaluator: Evaluator, text: Text, call: facts.Call, frame: Frame) -> Text:
    """Return the result of ``text.format(…)``: fields are filled, doubled braces become single."""
    position = 0

    def filling(match: re.Match[str]) -> _Filling:
        """Return what fills a hole of ``str.format``, with its format."""
        nonlocal position
        if match.group(0) in ("{{", "}}"):
            return match.group(0)[0]
        name, path, form = match.groups()
        spec = form.partition(":")[2] if form else None
        if not name:
            name, position = str(position), position + 1
        position += len(_UNNAMED.findall(form))
        place = _place(name)
        if place is None:
            argument = _keyword(call, name)
        else:
            argument = call.args[place] if place < len(call.args) else None
        return (_part(argument, path) if argument is not None else None), spec

    return _filled_in(evaluator, text, _FIELD, filling, frame, call.at)


def format_map_call(evaluator: Evaluator, text: Text, call: facts.Call, frame: Frame) -> Text:
    """Return the result of ``text.format_map(mapping)``, which is that of ``text.format(**mapping)``."""
    spread = facts.Call(call.at, call.func, (), tuple((None, arg) for arg in call.args))
    return format_call(evaluator, text, spread, frame)


def _keyword(call: facts.Call, name: str) -> facts.Expr | None:
    """Return the keyword argument ``name`` of a call, also from a spread dict (``**{"n": 5}``); else None."""
    argument = call.keyword(name)
    spread = [value for keyword, value in call.keywords if keyword is None]
    if argument is None and len(spread) == 1:
        return _value_of(spread[0], name)
    return argument


def _value_of(mapping: facts.Expr, name: str) -> facts.Expr | None:
    """Return the value under ``name`` in a mapping."""
    if isinstance(mapping, facts.Dict):
        return mapping.value(name)
    return _item(mapping, name)


def _item(base: facts.Expr, key: str | int) -> facts.Sub:
    """Return the expression ``base[key]``, which is not in the source: it has the position of its base."""
    return facts.Sub(base.at, base, facts.Const(base.at, key))


def _part(argument: facts.Expr, path: str) -> facts.Expr:
    """Return the expression that a field shows of its argument: ``x.limits["high"]`` for ``{0.limits[high]}``."""
    if isinstance(argument, facts.Star):
        return argument
    end = 0
    while (part := _PART.match(path, end)) is not None:
        attribute, key = part.groups()
        end = part.end()
        if attribute:
            argument = facts.Attr(argument.at, argument, attribute)
        else:
            place = _place(key)
            argument = _item(argument, key if place is None else place)
    return argument


def _place(name: str) -> int | None:
    """Return the position in the name of a field: 0 for ``{0}``; None for a keyword (``{name}``).

    A longer number is cut to 18 digits, which is beyond every argument as well.
    """
    return int(name[:_DIGITS]) if name.isdecimal() else None


def _path(expr: facts.Expr) -> tuple[str, ...]:
    """Return the steps of a field into its argument: (".limits", '["high"]') for ``{0.limits[high]}``; mostly none."""
    steps: list[str] = []
    while isinstance(expr, (facts.Sub, facts.Attr)) and expr.at == expr.base.at:
        if isinstance(expr, facts.Attr):
            steps.append(f".{expr.name}")
        elif isinstance(expr.index, facts.Const):
            steps.append(f"[{json.dumps(expr.index.value, ensure_ascii=False)}]")
        expr = expr.base
    return tuple(reversed(steps))


def substituted(evaluator: Evaluator, text: Text, call: facts.Call, frame: Frame) -> Text:
    """Return the result of ``Template(text).substitute(…)``: ``$name`` is filled from the keywords, or from a dict."""
    mapping = call.args[0] if len(call.args) == 1 else None

    def filling(match: re.Match[str]) -> _Filling:
        """Return what fills a placeholder of ``string.Template``."""
        dollar, *names = match.groups()
        if dollar:
            return dollar
        name = next(filter(None, names))
        argument = call.keyword(name)
        if argument is None and mapping is not None:
            argument = _value_of(mapping, name)
        return argument or _keyword(call, name), None

    return _filled_in(evaluator, text, _DOLLAR, filling, frame, call.at)


def percent(evaluator: Evaluator, text: Text, expr: facts.BinOp, frame: Frame) -> Text:
    """Return the result of ``text % values``."""
    right = expr.right
    values = iter(right.items if isinstance(right, facts.Seq) and right.kind == "tuple" else (right,))

    def filling(match: re.Match[str]) -> _Filling:
        """Return what fills a placeholder of ``%``, with its format."""
        name, width, kind = match.groups()
        if kind == "%":
            return "%"
        spec = None if kind == "s" else width + ("d" if kind in "iu" else kind)
        if name is None:
            return next(values, None), spec
        return _value_of(right, name), spec

    return _filled_in(evaluator, text, _PERCENT, filling, frame, expr.at)


def join_call(evaluator: Evaluator, separator: Text, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``separator.join(items)``."""
    site = frame.site(call)
    between = pieces(separator, frame.site(call.func))
    items = evaluator.eval(call.args[0], frame)
    return join(*(joined(evaluator, between, option, site) for option in options(items)))


def joined(
    evaluator: Evaluator, separator: tuple[Literal | Interpolation, ...], items: Value, site: Site
) -> Text:
    """Return the text that ``separator.join(items)`` makes at ``site``."""
    if not isinstance(items, ListOf):
        return TEXT
    return serialised_alone(assembled(evaluator, _joined(separator, items, site), site), site)


def _joined(
    separator: tuple[Literal | Interpolation, ...], items: ListOf, call_site: Site
) -> Iterator[Literal | Interpolation]:
    """Yield the parts of the text that ``separator.join(items)`` makes."""
    elements = [(entry.value, entry.site) for entry in items.items]
    if items.rest is not None:
        elements += [(option, call_site) for option in options(items.rest)]
    for number, (value, site) in enumerate(elements):
        if number:
            yield from separator
        yield from pieces(value, site)


def dedented(text: Text) -> Text:
    """Return the result of ``textwrap.dedent(text)``. A filled-in value counts as one character."""
    return _without(text, _indentation)


def cleaned(text: Text) -> Text:
    """Return the result of ``inspect.cleandoc(text)``."""

    def selection(whole: str) -> Iterable[int]:
        """Return the positions that ``inspect.cleandoc`` keeps."""
        first, newline, rest = whole.partition("\n")
        begin = len(first) + len(newline)
        indices = list(range(len(first) - len(first.lstrip()), begin))
        indices += [begin + i for i in _indentation(rest)]
        visible = [i for i in indices if whole[i] not in " \t\n"]
        if not visible:
            return ()
        # Blank lines at both ends go; the line of the first word keeps its own indentation.
        start = next((i for i in reversed(indices) if i < visible[0] and whole[i] == "\n"), -1)
        end = next((i for i in indices if i > visible[-1] and whole[i] == "\n"), len(whole))
        return [i for i in indices if start < i < end]

    return _without(text, selection)


def stripped(text: Text, method: str, characters: str | None) -> Text:
    """Return the result of ``text.strip()``, ``.lstrip()`` or ``.rstrip()``, perhaps of ``characters``."""

    def selection(whole: str) -> Iterable[int]:
        start = len(whole) - len(whole.lstrip(characters)) if method != "rstrip" else 0
        end = len(whole.rstrip(characters)) if method != "lstrip" else len(whole)
        return range(start, end)

    return _without(text, selection)


def replaced(evaluator: Evaluator, text: Text, old: str, call: facts.Call, frame: Frame) -> Text:
    """Return the result of ``text.replace(old, new)``. Filled-in values are not searched for ``old``."""
    new = call.args[1]
    return _filled_in(evaluator, text, re.compile(re.escape(old)), lambda _: (new, None), frame, call.at)


def recased(text: Text, method: str) -> Text:
    """Return the result of ``text.upper()``, ``.lower()`` and the like, character by character."""
    parts: list[Literal | Interpolation] = []
    for part in text.parts or ():
        if isinstance(part, Literal):
            changed = getattr(part.text, method)()
            if len(changed) != len(part.text):  # `"ß".upper()`
                return TEXT
            part = Literal(changed, part.site, part.offsets)
        parts.append(part)
    return Text(tuple(parts)) if text.parts is not None else TEXT


def _indentation(whole: str) -> list[int]:
    """Return the positions of the characters that remain when the common indentation of a text is removed."""
    lines, originals = textwrap.dedent(whole).split("\n"), whole.split("\n")
    indices: list[int] = []
    position = 0
    for line, original in zip(lines, originals, strict=True):
        indices.extend(range(position + len(original) - len(line), position + len(original) + 1))
        position += len(original) + 1
    return indices[:-1]  # no newline follows the last line


def _without(text: Text, selection: Callable[[str], Iterable[int]]) -> Text:
    """Return ``text`` with only the characters at the positions that ``selection`` returns for it, in order."""
    if text.parts is None:
        return TEXT
    indices = list(
        selection("".join(part.text if isinstance(part, Literal) else HOLE for part in text.parts))
    )
    parts: list[Literal | Interpolation] = []
    begin = position = 0
    for part in text.parts:
        end = begin + (len(part.text) if isinstance(part, Literal) else len(HOLE))
        first = position
        while position < len(indices) and indices[position] < end:
            position += 1
        if position > first and isinstance(part, Interpolation):
            parts.append(part)
        elif position > first and isinstance(part, Literal):
            places = [index - begin for index in indices[first:position]]
            offsets = part.offsets if part.offsets is not None else range(len(part.text))
            words = "".join(part.text[i] for i in places)
            parts.append(Literal(words, part.site, tuple(offsets[i] for i in places)))
        begin = end
    return Text(tuple(parts))


def _filled_in(
    evaluator: Evaluator,
    text: Text,
    pattern: re.Pattern[str],
    filling: Callable[[re.Match[str]], _Filling],
    frame: Frame,
    at: int,
) -> Text:
    """Return ``text`` with each field of ``pattern`` replaced by its ``filling``. Unknown values are placed ``at``."""
    if text.parts is None:
        return TEXT
    site = Site(frame.module, at)
    if not is_short(evaluator, text, site):
        return TEXT
    parts = _with_fields(evaluator, text.parts, pattern, filling, frame, at)
    return serialised_alone(assembled(evaluator, parts, site), site)


def _with_fields(
    evaluator: Evaluator,
    parts: tuple[Literal | Interpolation, ...],
    pattern: re.Pattern[str],
    filling: Callable[[re.Match[str]], _Filling],
    frame: Frame,
    at: int,
) -> Iterator[Literal | Interpolation]:
    """Yield the parts of a text in which each field of ``pattern`` is replaced by its ``filling``."""
    for part in parts:
        if isinstance(part, Interpolation):
            yield part
            continue
        offsets = part.offsets or tuple(range(len(part.text)))
        last = 0
        for match in pattern.finditer(part.text):
            start = match.start()
            yield Literal(part.text[last:start], part.site, offsets[last:start])
            last = match.end()
            filled = filling(match)
            if isinstance(filled, str):
                yield Literal(filled, part.site, offsets[start : start + len(filled)])
                continue
            source, spec = filled
            if source is None:
                yield Interpolation(UNKNOWN, Site(frame.module, at))
                continue
            value = own_text(evaluator, source, evaluator.eval(source, frame), frame)
            yield from pieces(value, frame.site(source), spec, _path(source))
        yield Literal(part.text[last:], part.site, offsets[last:])
