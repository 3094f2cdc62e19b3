"""How names get their values, which strings count, what a literal says."""

from __future__ import annotations

import ast
import re
from sys import intern

from gllint_rules.reading import facts
from gllint_rules.reading.facts import Binding, Expr, Scope
from gllint_rules.reading.outline import Section
from gllint_rules.reading.sketch import Imported

_SHORT = 40
_DIGIT = re.compile(r"\d")
_QUOTE = re.compile(r'((?<!\\)(?:\\\\)*)"')  # one that no backslash escapes

# Where that is read which is no part of a file.
NOWHERE = Section(0, "other", "", None, 0, 0)
# Classes whose patterns say enough of a value, `case int() as n` or `case float(x)`.
PLAIN_CLASSES = frozenset({"int", "float", "complex", "str", "bytes", "bool"})


class Binder:
    """Collects the facts of a section. ``module`` is the namespace of the file, ``owner`` the class of a method.

    Without ``macros``, claim macros in strings are not noted.
    """

    def __init__(
        self,
        section_facts: facts.SectionFacts,
        module: Scope | None = None,
        owner: facts.Class | None = None,
        *,
        macros: bool = False,
    ) -> None:
        self.section_facts = section_facts
        # The numbers of the section's first expression and of the one that is read next (`at` of each).
        self.first = self.count = section_facts.first
        # Where macros are noted; None where they are not.
        self.macros: list[facts.Macro] | None = section_facts.macros if macros else None
        self.whole = True  # whether a string is a whole, not a part of a concatenation
        # What surrounds the expression, outermost first: a name or key, a callee or target, a kind of statement.
        self.context: list[Expr | str | None] = []
        self.top = module or Scope("module", None)
        self.scope = owner.scope if owner is not None else self.top
        self.owner = owner
        self.branch: facts.Branch | None = None

    def bind(self, name: str, binding: Binding, scope: Scope | None = None) -> None:
        """Note a way in which ``name`` gets its value in the present scope."""
        scope = scope or self.scope
        binding.branch = self.branch
        if name in scope.globals:
            binding.scope = scope
            scope = self.top
        elif name in scope.outer and scope.parent is not None:
            binding.scope = scope
            scope = scope.parent
        if scope is self.top:
            self.section_facts.bound.setdefault(name, []).append(binding)
        elif self.owner is not None and scope is self.owner.scope:
            self.section_facts.bound_in_class.setdefault(name, []).append(binding)
        else:
            assert isinstance(scope.bindings, dict)
            scope.bindings.setdefault(name, []).append(binding)

    def bind_import(self, imported: Imported) -> None:
        self.bind(imported.bound, Binding("import", module=imported.module, name=imported.name))

    def bind_target(self, target: Expr, value: Expr, kind: str, index: tuple[int, ...] = ()) -> None:
        """Bind the names in a target of an assignment, a loop or a ``with``."""
        match target:
            case facts.Name(id=name):
                kind = "item" if kind == "assign" and index else kind
                self.bind(name, Binding(kind, value, index=index, at=target.at))  # type: ignore[arg-type]
            case facts.Seq(items=items):
                starred = False
                for i, item in enumerate(items):
                    if isinstance(item, facts.Star):
                        starred = True
                        if isinstance(item.value, facts.Name):
                            self.bind(item.value.id, Binding("unknown"))
                    else:
                        self.bind_target(item, value, kind, (*index, i - len(items) if starred else i))
            case facts.Attr():
                self.bind_attribute(target, value if kind == "assign" and not index else None, None)
            case _:
                pass

    def bind_attribute(self, target: facts.Attr, value: Expr | None, annotation: Expr | None) -> None:
        """Note an assignment to ``self.x`` in the class of the method."""
        function = self.scope.enclosing_function()
        if function is None or not isinstance(target.base, facts.Name):
            return
        cls = function.scope.enclosing_class()
        if cls is not None and function.params and function.params[0].name == target.base.id:
            attributes = self.section_facts.attributes if cls is self.owner else cls.attributes
            assert isinstance(attributes, dict)
            attributes.setdefault(target.name, []).append((value, annotation, self.scope))

    def bind_walrus(self, name: str, value: Expr) -> None:
        scope = self.scope
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        self.bind(name, Binding("assign", value), scope)

    def note_text(self, text: facts.Const | facts.Join, raw: str) -> None:
        """Note a string, of which ``raw`` is how it is written, or what is literal in it."""
        if self.whole and (isinstance(text, facts.Join) or _DIGIT.search(raw)):
            self.section_facts.texts.append((text, self.scope))
        if self.macros is not None and facts.MACRO_MARK in raw:
            words = (w if isinstance(w, str) else facts.last_name(w) for w in self.context if w is not None)
            self.macros.append(facts.Macro(text, self.scope, tuple(words)))

    def note_yield(self, expression: facts.Yield) -> None:
        function = self.scope.enclosing_function()
        if function is not None:
            function.yields.append(expression)


def said_by(parts: list[facts.Const | facts.Join | facts.Hole] | tuple[object, ...]) -> str:
    """Return what is literal among the parts of an f-string."""
    return "".join(str(part.value) for part in parts if isinstance(part, facts.Const))


def string_value(literal: str) -> str | bytes:
    """Return the value of a string literal."""
    quote = literal[0]
    if quote in "\"'" and "\\" not in literal and "\r" not in literal:
        text = literal[3:-3] if literal[1:3] == quote * 2 and len(literal) > 5 else literal[1:-1]
        return intern(text) if len(text) < _SHORT else text
    try:
        return ast.literal_eval(literal)  # type: ignore[no-any-return]
    except (ValueError, SyntaxError):
        return ""


def text_value(text: str, raw: bool) -> str:
    """Return the text of a part of an f-string, with doubled braces and escapes undone."""
    text = text.replace("{{", "{").replace("}}", "}")
    if raw or "\\" not in text:
        return text
    try:
        return str(ast.literal_eval('"""' + _QUOTE.sub(r'\1\\"', text) + '"""'))
    except (ValueError, SyntaxError):
        return text
