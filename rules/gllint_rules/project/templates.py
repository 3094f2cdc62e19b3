"""The final messages in the source: text, part by part, and the claims that belong to it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import force_setattr

from gllint_rules.inference import execution, file_texts
from gllint_rules.inference.values import (
    DictOf,
    Entry,
    Env,
    Frame,
    Interpolation,
    Key,
    ListOf,
    Literal,
    Record,
    Site,
    Text,
    Value,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import parts_of
from gllint_rules.reading.facts import Binding, Expr, Module, Scope, SectionFacts
from gllint_rules.reading.text_files import TextModule
from gllint_rules.tools.framework_names import bound_function, real_names
from gllint_rules.tools.registrars import stores
from gllint_rules.words.names import NOT_A_TEMPLATE
from gllint_runtime.policy.claims import HOLE, Macro, find_macros

if TYPE_CHECKING:
    from gllint_rules.project.context import Context


# A macro with two braces in an f-string: formatting leaves one brace.
_COLLAPSED = re.compile(r"(?<!\{)\{claim:\d+\}(?!\})")
# Fields of `.format` and `%`. The digits in them are positions, widths and precisions.
_FIELDS = re.compile(
    r"(?<!\{)\{(?!claim:)(?:[A-Za-z_]\w*|\d{0,2})(?:\.\w+|\[\w+\])*(?:![rsa])?"
    r"(?::(?:.?[<>=^])?[-+ ]?#?0?\d*[,_]?(?:\.\d+)?[bcdeEfFgGnosxX%]?)?\}(?!\})"
    r"|%(?:\(\w+\))?[-+0#]*+\d*+(?:\.\d++)?[diouxXeEfFgGcrsa](?![A-Za-z])"
)
# A macro with a computed index: only at run time is it known which claim it means.
_COMPUTED = re.compile(rf"\{{\{{claim:[^{{}}{HOLE}]*+{HOLE}[^{{}}]*+\}}\}}")
_MARKER = re.compile(r"(?:^|\n)[ \t]*" + re.escape(HOLE) + r"[.)][ \t]")


_PROMPTS = re.compile(r"prompts?", re.IGNORECASE)
_MOST_ROLES = 20  # parts of an expression that count under the name of the whole
# Functions that remove the indentation of a literal.
_DEDENTS = frozenset({"dedent", "cleandoc"})


class Stretches:
    """A set of stretches of a text, with a fast search for one that overlaps another."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def meet(self, start: int, end: int) -> bool:
        """Return whether one of them overlaps the characters from ``start`` to ``end``."""
        place = bisect_right(self._ends, start)
        return place < len(self._starts) and self._starts[place] < end


class Template(Struct, frozen=True, eq=False):
    """A final message. Its ``text`` has :data:`HOLE` for each interpolated value.

    ``begins`` are the offsets in ``text`` at which the parts begin.
    """

    parts: tuple[Literal | Interpolation, ...]
    text: str = ""
    begins: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        texts = [part.text if isinstance(part, Literal) else HOLE for part in self.parts]
        force_setattr(self, "text", "".join(texts))
        force_setattr(self, "begins", tuple(accumulate(map(len, texts), initial=0))[:-1])

    def computed_macros(self) -> list[tuple[int, int]]:
        """Return the stretches of macros with a computed index."""
        return [m.span() for m in _COMPUTED.finditer(self.text)]

    def markers(self) -> list[tuple[int, int]]:
        """Return the stretches where a filled-in number is the marker of a list item: ``f"{i}. {name}"``."""
        return [m.span() for m in _MARKER.finditer(self.text)]

    def holes(self) -> Iterator[tuple[int, Interpolation]]:
        """Yield the interpolated values, each with its offset in the text."""
        places = zip(self.begins, self.parts, strict=True)
        return ((place, part) for place, part in places if isinstance(part, Interpolation))

    def pieces(self, start: int, end: int) -> tuple[Literal, int, int] | None:
        """Return the literal that contains ``text[start:end]`` or its beginning, with the offsets in it."""
        number = bisect_right(self.begins, start) - 1
        part = self.parts[number] if number >= 0 else None
        if not isinstance(part, Literal) or start >= self.begins[number] + len(part.text):
            return None
        return part, start - self.begins[number], min(end - self.begins[number], len(part.text))


class FinalStep(Struct, eq=False):
    """A final message and its claims; ``claims`` is None if they are not next to it.

    ``unfilled``: it is a template that ``.format`` or ``%`` may still fill. ``macros`` are the macros in its text,
    malformed ones too. ``used`` are the indices of the claims that they name, with None for malformed macros.
    """

    template: Template
    claims: ListOf | None
    scope: Scope
    unfilled: bool = False
    macros: Sequence[Macro] = ()
    used: frozenset[int | None] = frozenset()

    def __post_init__(self) -> None:
        self.macros = find_macros(self.text)
        self.used = frozenset(macro.index for macro in self.macros)

    @property
    def text(self) -> str:
        return self.template.text

    def later(self) -> list[tuple[int, int]]:
        """Return the stretches that are only known at run time: fields, and macros with a computed index."""
        fields = [m.span() for m in _FIELDS.finditer(self.text)] if self.unfilled else []
        return [*fields, *self.template.computed_macros()]


def final_steps(context: Context) -> list[FinalStep]:
    """Return the final messages in a module, with their claims."""
    return context.once(_final_steps)


def _final_steps(context: Context) -> list[FinalStep]:
    """Return the final messages of a module in all forms, each once."""
    final_steps: list[FinalStep] = []
    sites: set[Site] = set()
    steps = (
        _dict_steps(context),
        _call_steps(context),
        _named_steps(context),
        _stored_steps(context),
        _macro_steps(context),
        _file_steps(context),
    )
    for step in chain.from_iterable(steps):
        if not step.template.parts:
            continue
        site = step.template.parts[0].site
        if step.claims is None and site in sites:
            continue
        sites.add(site)
        final_steps.append(step)
    return final_steps


def _dict_steps(context: Context) -> Iterator[FinalStep]:
    """Yield the final steps that are written as dicts: ``{"kind": "final", "message": …}``."""
    module, is_final = context.module, context.names.is_final_name
    for literal, scope in module.dicts_with("kind"):
        if literal.value("kind") is not None:
            yield from _steps_of(_entry(context, literal, scope).value, scope)
    for literal, scope in module.dicts_where(
        lambda section: bool(section.spreads) and "message" in section.keys  # `{**base, "message": …}`
    ):
        if literal.value("kind") is None and any(key is None for key, _ in literal.items):
            yield from _steps_of(_entry(context, literal, scope).value, scope)
    # The new state that a node of a graph returns: `return {"final_message": …}`.
    for literal, scope in module.dicts_where(lambda section: any(map(is_final, section.keys))):
        for key, value in literal.items:
            if key is not None and is_final(facts.literal_text(key) or ""):
                yield from _bound(context, value, scope)


def _steps_of(step: Value, scope: Scope) -> Iterator[FinalStep]:
    """Yield the messages of a dict with ``"kind": "final"``."""
    if isinstance(step, Record):
        kind = step.get("kind")
        if isinstance(kind, Text) and kind.literal == "final":
            yield from _final_payloads(step, scope)


def _final_payloads(step: Record, scope: Scope) -> Iterator[FinalStep]:
    """Yield the messages of a final step: of its ``final``, if it has one, else of the step itself."""
    nested = step.get("final")
    for payload in options(nested) if nested is not None else (step,):
        if isinstance(payload, Record):
            yield from _payload(payload, scope)


def _payload(payload: Record, scope: Scope) -> Iterator[FinalStep]:
    claims = _claims(payload.get("claims"))
    for entry in payload.entries.get("message", ()):
        yield from _steps(entry, claims, scope)


def _call_steps(context: Context) -> Iterator[FinalStep]:
    """Yield the final steps in calls that the settings name (`final-message-calls`)."""
    for call, scope in context.module.calls_of(context.names.final_calls):
        if context.names.final_calls.isdisjoint(real_names(context.module, call.func)):
            continue
        message = call.keyword("message") or next(iter(call.placed()), None)
        if message is None:
            continue
        claims = call.keyword("claims")
        claim_list = _claims(context.eval(claims, scope)) if claims is not None else None
        yield from _steps(_entry(context, message, scope), claim_list, scope)


def _named_steps(context: Context) -> Iterator[FinalStep]:
    """Yield the texts that are assigned to a name of a final message (`FINAL_MESSAGE`)."""
    module, is_final = context.module, context.names.is_final_name
    for part in module.sections(lambda s: any(map(is_final, (*s.stores, *s.attributes)))):
        for scope, bindings in part.namespaces(module):
            for name in filter(is_final, bindings):
                for binding in bindings[name]:
                    yield from _written(context, binding, scope)
        for attributes in part.attribute_tables():
            for name in filter(is_final, attributes):
                for value, _, scope in attributes[name]:
                    if value is not None:
                        yield from _bound(context, value, scope)


def _stored_steps(context: Context) -> Iterator[FinalStep]:
    """Yield the final messages that are stored: ``step["message"] = …``."""
    module = context.module
    quoted = ('"message"]', "'message']")
    for target, value, scope in stores(module, lambda section: module.mentions(section, quoted)):
        if isinstance(target, facts.Sub) and facts.literal_text(target.index) == "message":
            step = context.eval(target.base, scope)
            kind = step.get("kind") if isinstance(step, Record) else None
            if isinstance(kind, Text) and kind.literal == "final":
                yield from _steps(_entry(context, value, scope), None, scope)


def _written(context: Context, binding: Binding, scope: Scope) -> Iterator[FinalStep]:
    """Yield the final messages in one binding of a name such as FINAL_MESSAGE."""
    value, kind = binding.value, binding.kind
    if value is None:
        return
    if kind in ("assign", "annotated", "aug"):
        yield from _bound(context, value, scope)


def _bound(context: Context, expr: Expr, scope: Scope) -> Iterator[FinalStep]:
    yield from _unfilled(_entry(context, expr, scope), scope)


def _unfilled(entry: Entry, scope: Scope) -> Iterator[FinalStep]:
    for step in _steps(entry, None, scope):
        step.unfilled = True
        yield step


def _macro_steps(context: Context) -> Iterator[FinalStep]:
    """Yield the texts that contain a claim macro, wherever they are in the module."""
    module = context.module
    parts = module.sections(lambda section: module.mentions(section, (facts.MACRO_MARK,)))
    macros = [(macro, part) for part in parts for macro in part.macros]
    dedents = {
        call.args[0].at: call for call, _ in (module.calls_of(_DEDENTS) if macros else ()) if call.args
    }
    for macro, part in macros:
        if any(map(_aside, macro.context)) or macro.text.at in part.docstrings:
            continue
        value = context.eval(dedents.get(macro.text.at, macro.text), macro.scope)
        if not isinstance(value, Text) or value.parts is None:
            continue
        template = Template(value.parts)
        collapsed = isinstance(macro.text, facts.Join) and _COLLAPSED.search(template.text)
        if collapsed or any(macro_place.problem is None for macro_place in find_macros(template.text)):
            yield FinalStep(template, None, macro.scope, unfilled=True)
    for call, scope in module.calls_of({"format"}) if macros else ():
        if not isinstance(call.func, facts.Attr) or call.func.name != "format":
            continue
        old_text, new_text = context.eval(call.func.base, scope), context.eval(call, scope)
        if isinstance(old_text, Text) and isinstance(new_text, Text) and old_text.parts and new_text.parts:
            if any(macro_place.problem is None for macro_place in find_macros(Template(old_text.parts).text)):
                yield FinalStep(Template(new_text.parts), None, scope)


def _file_steps(context: Context) -> Iterator[FinalStep]:
    """Yield the final messages in files that the module reads: texts with a macro, or named like a message.

    The name of the file, the variable that it is read into, and the keys in it show whether a text is a prompt instead.
    """
    files: dict[
        TextModule, tuple[Scope, set[str]]
    ] = {}  # each with the scope of its first read and its names
    for part in context.module.sections(lambda section: not file_texts.READERS.isdisjoint(section.calls)):
        roles: dict[int, set[str]] | None = None  # found only if the section reads a file
        for call, scope in part.calls:
            if facts.last_name(call.func) not in file_texts.READERS:
                continue
            file = file_texts.file_of(context.evaluator, call, context.frame(scope))
            if file is None:
                continue
            roles = _roles(context.module, part) if roles is None else roles
            _, names = files.setdefault(file, (scope, set()))
            names.update(roles.get(call.at, ()))
            function = scope.enclosing_function()
            if function is not None:
                names.add(function.name)
    for file, (scope, names) in files.items():
        stem = file.path.rpartition("/")[2].partition(".")[0]
        steps_in = _steps_in_data if file.roots else _steps_in_text
        yield from steps_in(context, file, {stem, *names}, scope)


def _steps_in_text(
    context: Context, module: TextModule, names: set[str], scope: Scope
) -> Iterator[FinalStep]:
    """Yield the message in a text file, if the file is named like one or contains a macro."""
    if any(map(_aside, names)):
        return
    template = Template(file_texts.whole_text(module).parts or ())
    *_, folder, file = module.path.split("/")
    is_named = context.names.is_final_name(file.partition(".")[0]) and not _aside(folder)
    if is_named or _has_macro(template):
        yield FinalStep(template, None, scope, unfilled=True)


def _steps_in_data(
    context: Context, module: TextModule, names: set[str], scope: Scope
) -> Iterator[FinalStep]:
    """Yield the messages in a YAML or JSON file: final steps, and texts under keys that are named like one."""
    # A file of prompts may contain messages, too: the key of a text shows what it is for.
    is_about_prompts = any(_aside(_PROMPTS.sub("", name)) for name in names)
    waiting = file_texts.value_of(module)
    records: set[Site | None] = set()
    while waiting:
        value = waiting.pop()
        if isinstance(value, Record) and value.site not in records:
            records.add(value.site)
            kind = value.get("kind")
            if isinstance(kind, Text) and kind.literal == "final":
                yield from _final_payloads(value, scope)
            waiting += value.values()
        elif isinstance(value, ListOf) and value.site not in records:
            records.add(value.site)
            waiting += value.values()
    for keys, node in module.texts:
        template = Template(file_texts.node_text(module, node).parts or ())
        is_named = bool(keys) and context.names.is_final_name(keys[-1])
        is_template = not is_about_prompts and not any(map(_aside, keys)) and _has_macro(template)
        if is_named or is_template:
            yield FinalStep(template, None, scope, unfilled=True)


def _has_macro(template: Template) -> bool:
    return any(macro.problem is None for macro in find_macros(template.text))


def _roles(module: Module, part: SectionFacts) -> dict[int, set[str]]:
    """Return, by position of an expression, the names under which it or an expression around it is bound or passed."""
    roles: dict[int, set[str]] = {}

    def note(whole: Expr | None, name: str) -> None:
        """Add a name to an expression and to the expressions that its text comes from."""
        waiting, steps = [whole], 0
        while waiting and steps < _MOST_ROLES:
            expr = waiting.pop()
            if expr is None:
                continue
            steps += 1
            roles.setdefault(expr.at, set()).add(name)
            match expr:
                case facts.Call(func=func, args=args):
                    waiting += [*args[:1], func]
                case facts.Attr(base=inner) | facts.Sub(base=inner) | facts.Await(value=inner):
                    waiting.append(inner)
                case facts.BinOp(left=left, right=right):
                    waiting += [right, left]
                case _:
                    pass

    for _, bindings in part.namespaces(module):
        for name, several in bindings.items():
            for binding in several:
                if binding.kind in ("assign", "annotated", "aug"):
                    note(binding.value, name)
    for attributes in part.attribute_tables():
        for name, stored in attributes.items():
            for value, _, _ in stored:
                note(value, name)
    for call, _ in part.calls:
        for keyword, value in call.keywords:
            note(value, keyword or "")
        for arg in call.args:
            note(arg, facts.last_name(call.func))
    for table, _ in part.dicts:
        for key, value in table.items:
            note(value, str(key.value) if isinstance(key, facts.Const) else "")
    return roles


def _aside(word: str) -> bool:
    """Return whether a text in this context is not a final message: a prompt, a comparison, an error."""
    return word in ("==", "raise", "assert") or NOT_A_TEMPLATE.search(word) is not None


def _entry(context: Context, expr: Expr, scope: Scope) -> Entry:
    """Return the value and place of an expression. Lists that it joins contain what the function puts into them."""
    function, module = scope.enclosing_function(), context.module
    names = _filled(expr, function.scope) if function is not None else frozenset()
    if function is None or not names:
        return context.entry(expr, scope)
    evaluator, site = context.evaluator, Site(module, expr.at)
    nothing: Env = {}
    env = evaluator.ask(
        ("filled", function, names),
        lambda: execution.changes(evaluator, bound_function(module, function), nothing, names),
        nothing,
        lambda: nothing,
        site,
    )
    return Entry(evaluator.eval(expr, Frame(module, scope, env)), site)


def _filled(expr: Expr, scope: Scope) -> frozenset[str]:
    """Return the variables of a function that an expression joins, or uses texts that are joined from others."""
    named = [part.id for part in parts_of(expr) if isinstance(part, facts.Name)]
    return frozenset((*_joined(expr, scope), *(name for name in named if _is_of_joined_text(name, scope))))


@lru_cache(maxsize=64)  # each of many `message += …` asks
def _is_of_joined_text(name: str, scope: Scope) -> bool:
    """Return whether a variable is ever a text that is joined from others."""
    return any(b.value is not None and _joined(b.value, scope) for b in scope.bindings.get(name, ()))


def _joined(expr: Expr, scope: Scope) -> list[str]:
    """Return the variables of a function that an expression joins: ``lines`` in ``"\\n".join(lines)``."""
    return [
        part.args[0].id
        for part in parts_of(expr)
        if isinstance(part, facts.Call)
        and isinstance(part.func, facts.Attr)
        and part.func.name == "join"
        and len(part.args) == 1
        and isinstance(part.args[0], facts.Name)
        and part.args[0].id in scope.bindings
    ]


def _steps(entry: Entry, claims: ListOf | None, scope: Scope) -> Iterator[FinalStep]:
    """Yield a final message for each text that a value may be."""
    for option in map(file_texts.text_of, options(entry.value)):
        if isinstance(option, Text) and option.parts is not None:
            # Texts in files are mostly filled in later.
            yield FinalStep(Template(option.parts), claims, scope, unfilled=file_texts.is_of_a_file(option))


def _claims(value: Value | None) -> ListOf | None:
    if isinstance(value, ListOf) and value.rest is None:
        return value
    return None


def claim_entries(context: Context) -> Iterator[Entry]:
    """Yield the claims in a module: those of its final messages, and other dicts and calls in the form of a claim."""
    sites: set[Site] = set()
    for step in final_steps(context):
        for entry in step.claims.items if step.claims is not None else ():
            if entry.site not in sites and isinstance(entry.value, Record):
                sites.add(entry.site)
                yield entry
    for literal, scope in context.module.dicts_with("path"):
        site = Site(context.module, literal.at)
        shaped = literal.value("path") is not None and (
            literal.value("source_call_id") is not None or literal.value("quantity") is not None
        )
        if shaped and site not in sites:
            yield context.entry(literal, scope)
    for call, scope in context.module.calls_of({"Claim"}):
        site = Site(context.module, call.at)
        if facts.last_name(call.func) == "Claim" and call.keyword("path") is not None and site not in sites:
            entries: dict[Key, tuple[Entry, ...]] = {
                name: (context.entry(value, scope),) for name, value in call.keywords if name is not None
            }
            yield Entry(DictOf(entries=entries, sure=frozenset(entries), site=site), site)
