"""The category of a tool: how much it may do before a person is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from gllint_rules.inference import classes
from gllint_rules.inference.values import ClassOf, External, Frame, FunctionOf, options
from gllint_rules.project.paths import sources
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Call, Class, Expr, Function, Module, Scope
from gllint_rules.reading.outline import Section
from gllint_rules.tools.tool import Tool
from gllint_rules.words.names import TOOL_CATEGORIES, TOOL_CATEGORY
from gllint_rules.words.screen import GAP

if TYPE_CHECKING:
    from gllint_rules.project.project import Project

# Classes of other packages that declare no category.
_NEUTRAL = frozenset({"ABC", "object", "Generic", "Protocol", "BaseModel"})
# In such classes an annotation without a value (`category: str`) is a field that each instance sets.
_FIELD_BASES = frozenset({"BaseModel", "BaseTool", "StructuredTool"})
_FIELD_DECORATORS = frozenset({"dataclass", "define", "attrs"})
_CATEGORY = "category"
_ASKED = re.compile(rf"\.{GAP}{_CATEGORY}\b")
MOST_NAMES = 4  # names in a chain of assignments that leads to a level


def uses_categories(project: Project) -> bool:
    """Return whether the project uses a ``ToolCategory`` of levels: defines it, passes a level or declares one."""
    return any(project.answers(_uses_categories, None))


def _uses_categories(project: Project, module: Module, argument: None) -> bool:
    """Return whether a module defines levels, passes one to a tool, or compares the category of a tool with one."""
    return (
        any(cls.name == TOOL_CATEGORY and _has_levels(cls) for cls in _categories(module))
        or any(
            _gives_level(project, module, call, scope)
            for call, scope in module.calls_where(partial(module.mentions, words=TOOL_CATEGORIES))
        )
        or any(category_of(project, tool) for tool in project.tools.of(module))
        or _asks_for_level(project, module)
    )


def _asks_for_level(project: Project, module: Module) -> bool:
    """Return whether a module compares a category with a level: ``tool.category in {ToolCategory.READ_ONLY}``."""
    for part in module.sections(partial(_may_ask, module)):
        for comparison, scope in part.comparisons:
            if any(map(_is_asked, comparison.operands)):
                frame = Frame(module, scope)
                if any(_names_level(project, operand, frame) for operand in comparison.operands):
                    return True
        for chosen, scope in part.subscripts:
            if _is_asked(chosen.index) and _names_level(project, chosen.base, Frame(module, scope)):
                return True
    return False


def _may_ask(module: Module, section: Section) -> bool:
    """Return whether a section may ask an object for its category, judged by its text."""
    return module.holds(section, _ASKED) or (
        "getattr" in section.calls and module.mentions(section, (_CATEGORY,))
    )


def _is_asked(expr: Expr) -> bool:
    """Return whether an expression reads a category: ``tool.category``, ``getattr(tool, "category")``."""
    match expr:
        case facts.Attr(name=name):
            return name == _CATEGORY
        case Call(func=facts.Name(id="getattr"), args=(_, facts.Const(value=name), *_)):
            return name == _CATEGORY
        case _:
            return False


def _names_level(project: Project, expr: Expr, frame: Frame, depth: int = 0) -> bool:
    """Return whether ``expr`` is a level, a list of levels, a dict with levels as keys, or a name for one of these."""
    match expr:
        case facts.Attr() if _level(project, expr, frame) is not None:
            return True
        case facts.Seq(items=items):
            return any(_names_level(project, item, frame, depth) for item in items)
        case facts.Dict(items=items):
            return any(key is not None and _names_level(project, key, frame, depth) for key, _ in items)
        case Call(args=(inner,), keywords=()) if depth < MOST_NAMES:  # frozenset({…}), tuple([…])
            return _names_level(project, inner, frame, depth + 1)
        case facts.Name() | facts.Attr() if depth < MOST_NAMES:
            assigned = sources(project, expr, frame)
            return any(_names_level(project, source, home, depth + 1) for source, home in assigned)
        case _:
            return False


def _categories(module: Module) -> Iterator[Class]:
    return module.classes_where(lambda section: section.name == TOOL_CATEGORY or section.has_classes)


def _has_levels(cls: Class) -> bool:
    """Return whether an enumeration has levels. ``EXTERNAL`` alone may be a subject, such as external data."""
    levels = TOOL_CATEGORIES & cls.scope.bindings.keys()
    return "READ_ONLY" in levels or len(levels) > 1


def _gives_level(project: Project, module: Module, call: Call, scope: Scope) -> bool:
    return any(
        _level(project, value, Frame(module, scope)) is not None
        for value in (*call.args, *(value for _, value in call.keywords))
        if isinstance(value, facts.Attr)
    )


def _level(project: Project, expr: facts.Attr, frame: Frame) -> str | None:
    """Return the level that ``expr`` names: ``ToolCategory.READ_ONLY``."""
    if expr.name not in TOOL_CATEGORIES or not facts.last_name(expr.base):
        return None
    values = options(project.evaluator.eval(expr.base, frame))
    return expr.name if all(_is_category(option) for option in values) else None


def category_of(project: Project, tool: Tool) -> frozenset[str] | None:
    """Return the levels that a tool may declare; empty if it declares none, None if that is unknown."""
    if tool.cls is not None:
        return _class_category(project, tool.cls)
    expr = tool.call.keyword(_CATEGORY) if tool.call is not None else None
    if expr is None:
        return None
    return _levels(project, expr, Frame(tool.module, tool.scope))


def _class_category(project: Project, of: ClassOf) -> frozenset[str] | None:
    """Return the levels that a tool class may declare; empty if it declares none, None if that is unknown."""
    has_fields = False
    for ancestor in classes.ancestors(project.evaluator, of):
        if isinstance(ancestor, External):
            last = ancestor.name.rpartition(".")[2]
            if last not in _NEUTRAL and last not in project.names.tool_classes:
                return None
            has_fields = has_fields or last in _FIELD_BASES
            continue
        has_fields = has_fields or any(
            facts.last_name(d) in _FIELD_DECORATORS for d in ancestor.cls.decorators
        )
        levels = _declared(project, ancestor, of)
        if levels != frozenset():
            return levels
    return None if has_fields and _is_field(project, of) else frozenset()


def _declared(project: Project, owner: ClassOf, of: ClassOf) -> frozenset[str] | None:
    """Return the levels that the class ``owner`` declares for its subclass ``of``; as :func:`category_of` does."""
    cls = owner.cls
    if any(isinstance(d, Call) and d.keyword(_CATEGORY) is not None for d in cls.decorators):
        return None
    for value, _, scope in reversed(cls.attributes.get(_CATEGORY, ())):
        return _levels(project, value, Frame(owner.module, scope)) if value is not None else None
    init = cls.method("__init__")
    if init is not None and any(param.name == _CATEGORY for param in init.params):
        return None
    if init is not None:
        levels = _init_category(project, owner.module, init)
        if levels != frozenset():
            return levels
    for binding in reversed(cls.scope.bindings.get(_CATEGORY, ())):
        if isinstance(binding.target, Function):
            return _returned(project, FunctionOf(owner.module, binding.target, of, True))
        if binding.value is not None:
            return _levels(project, binding.value, Frame(owner.module, cls.scope))
    return frozenset()


def _init_category(project: Project, module: Module, init: Function) -> frozenset[str] | None:
    """Return the levels that ``__init__`` passes on: ``super().__init__(category=ToolCategory.READ_ONLY)``.

    ``None`` if they are unknown.
    """
    for call, scope in module.calls_of({"__init__"}):
        if scope is init.scope and facts.last_name(call.func) == "__init__":
            frame = Frame(module, scope)
            expr = call.keyword(_CATEGORY)
            if expr is not None:
                return _levels(project, expr, frame)
            for arg in call.args:
                if levels := _levels(project, arg, frame):
                    return levels
            if any(name is None for name, _ in call.keywords):
                return None
    return frozenset()


def _is_field(project: Project, of: ClassOf) -> bool:
    """Return whether a class annotates ``category``, so that it may be a field that each instance sets."""
    return any(
        isinstance(ancestor, ClassOf) and _CATEGORY in ancestor.cls.scope.bindings
        for ancestor in classes.ancestors(project.evaluator, of)
    )


def _returned(project: Project, method: FunctionOf) -> frozenset[str] | None:
    """Return the levels that a property returns; none if it is abstract or only raises."""
    function = method.function
    assert isinstance(function, Function)
    if any(facts.last_name(decorator) == "abstractmethod" for decorator in function.decorators):
        return frozenset()
    levels: set[str] = set()
    for expr, _ in project.evaluator.flow(method).returns:
        options = _levels(project, expr, Frame(method.module, function.scope, None, method.bound))
        if not options:
            return None
        levels |= options
    return frozenset(levels)


def _levels(project: Project, expr: Expr, frame: Frame, depth: int = 0) -> frozenset[str] | None:
    """Return the levels that ``expr`` may be; ``None`` if it is something else or unknown."""
    match expr:
        case facts.Attr() if (level := _level(project, expr, frame)) is not None:
            return frozenset({level})
        case facts.IfExp(body=body, orelse=orelse):
            first, second = _levels(project, body, frame, depth), _levels(project, orelse, frame, depth)
            return first | second if first is not None and second is not None else None
        case facts.Name() | facts.Attr() if depth < MOST_NAMES:
            assigned = [_levels(project, e, f, depth + 1) for e, f in sources(project, expr, frame)]
            options = [option for option in assigned if option is not None]
            return frozenset().union(*options) if options and len(options) == len(assigned) else None
        case _:
            return None


def _is_category(value: object) -> bool:
    """Return whether a value is the class of tool categories."""
    match value:
        case ClassOf(cls=cls):
            return cls.name == TOOL_CATEGORY and _has_levels(cls)
        case External(name=name):
            return name.rpartition(".")[2] == TOOL_CATEGORY
        case _:
            return False
