"""The declarations of stubs as compact lines: tables for the standard library, on demand for other packages.

In: the names of a module as ``typeshed_client`` reads them. Out: a line for each, with its full name and its
declaration in JSON:

* ``["f", signatures]``: a function
* ``["a", type]``: a variable or property
* ``["m", signatures]``, ``["c", signatures]``, ``["s", signatures]``: a method, class method or static method
* ``["i", module, name]``: an import
* ``["C", {"b": bases, "v": type variables, "n": fields of a named tuple, "p": members of a protocol}]``: a class,
  whose members have lines of their own

A signature is ``[parameters, result]`` or ``[parameters, result, type of self]``. The parameters are null if they do
not matter for the result. A parameter is ``[name, kind, type]``; the kind is 0 for positional alone, 1 for any, 2 for
keyword alone, 3 for ``*``, 4 for ``**``, and 8 more with a default.

A type is the full name of a class (``int`` for those of ``builtins``), ``["list", "int"]`` a class with arguments,
``?`` unknown, ``["|", …]`` a union, ``["=", …]`` a literal, ``["~", name, bound]`` a type variable,
``["()", result]`` a callable, ``self`` or ``never``.
"""

from __future__ import annotations

import ast
import logging
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from typeshed_client.parser import ImportedName, NameInfo, OverloadedName

logging.getLogger("typeshed_client").setLevel(logging.ERROR)

NEWEST = (3, 14)
KEPT_DUNDERS = frozenset(
    f"__{name}__"
    for name in [
        "abs", "add", "aenter", "aiter", "and", "anext", "call", "enter", "float", "floordiv", "getattr", "getitem",
        "index", "init", "int", "invert", "iter", "len", "lshift", "matmul", "mod", "mul", "neg", "new", "next", "or",
        "pos", "pow", "radd", "rand", "rfloordiv", "rmod", "rmul", "ror", "rpow", "rsub", "rtruediv", "rxor", "sub",
        "truediv", "xor",
    ]
)  # fmt: skip
WRAPPERS = frozenset({"Final", "ClassVar", "Annotated", "Required", "NotRequired", "ReadOnly", "Unpack"})
ANYTHING = frozenset({"Any", "object", "Incomplete", "Unused", "LiteralString"})
UNKNOWN = "?"
_MOST_IMPORTS = 8  # that are followed from a name to its definition
_MOST_DEPTH = 12  # of a type, with the aliases in it
# A bound may contain its own variable (`T` bound to `Comparable[T]`), so it is read only a few levels deep.
_DEPTH_OF_BOUND = 4


class Stubs(Protocol):
    """Where the names of modules are found; ``None`` where there is no such module."""

    def names(self, module: str) -> Mapping[str, NameInfo] | None: ...


def defined(stubs: Stubs, module: str, name: str, depth: int = 0) -> tuple[str, str] | None:
    """Return the module and name of a definition, through imports: ``os``, ``path`` → ``("posixpath", "")``.

    The name is empty if it is a module, the result ``None`` if it is not declared.
    """
    info = (stubs.names(module) or {}).get(name)
    if info is None:
        if stubs.names(f"{module}.{name}") is not None:
            return f"{module}.{name}", ""
        # A name in the source of a module may be built in, one that is imported from a module is not.
        is_builtin = depth == 0 and name in (stubs.names("builtins") or {})
        return ("builtins", name) if is_builtin else None
    if isinstance(info.ast, ImportedName):
        target = ".".join(info.ast.module_name)
        if info.ast.name is None:  # `import a.b`
            return target, ""
        if depth < _MOST_IMPORTS:
            return defined(stubs, target, info.ast.name, depth + 1)
        # A circle: a package imports its submodule from a module that imports it from the package.
        for package in (module, target):
            if stubs.names(f"{package}.{name}") is not None:
                return f"{package}.{name}", ""
    return module, name


class Types:
    """Reads annotations of one module, within the class ``owner`` if there is one."""

    def __init__(self, stubs: Stubs, module: str, owner: str = "") -> None:
        self.stubs, self.module, self.owner = stubs, module, owner

    def read(self, node: ast.expr | None, depth: int = 0) -> Any:
        """Return the form of a type annotation: ``list[int] | None`` → ``["|", ["list", "int"], "None"]``."""
        if node is None or depth > _MOST_DEPTH:
            return UNKNOWN
        match node:
            case ast.Constant(value=None):
                return "None"
            case ast.Constant(value=str() as text):
                return self.read(ast.parse(text, mode="eval").body, depth)
            case ast.BinOp(op=ast.BitOr()):
                return union([self.read(node.left, depth + 1), self.read(node.right, depth + 1)])
            case ast.Name() | ast.Attribute():
                return self.named(node, [], depth)
            case ast.Subscript():
                inner = node.slice
                parts = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
                return self.named(node.value, parts, depth)
            case _:
                return UNKNOWN

    def place(self, node: ast.expr) -> tuple[str, str] | None:
        """Return the module and name of the definition of a dotted name: ``dt.date`` → ``("datetime", "date")``.

        ``None`` if it is not declared.
        """
        match node:
            case ast.Name(id=name):
                if self.owner:  # a class that is nested in the same class
                    info = (self.stubs.names(self.module) or {}).get(self.owner.split(".")[0])
                    inner = (info.child_nodes or {}).get(name) if info is not None else None
                    if inner is not None and isinstance(inner.ast, ast.ClassDef):
                        return self.module, f"{self.owner.split('.')[0]}.{name}"
                return defined(self.stubs, self.module, name)
            case ast.Attribute(value=value, attr=attr):
                base = self.place(value)
                if base is None:
                    return None
                module, name = base
                return defined(self.stubs, module, attr, 1) if not name else (module, f"{name}.{attr}")
            case _:
                return None

    def named(self, node: ast.expr, parts: list[ast.expr], depth: int) -> Any:
        """Return the form of a named type with its arguments: ``dict``, ``str, int`` → ``["dict", "str", "int"]``."""
        place = self.place(node)
        if place is None:
            return UNKNOWN
        module, name = place
        if module in ("typing", "typing_extensions", "_typeshed", "types", "builtins"):
            special = self.special(module, name, parts, depth)
            if special is not None:
                return special
        return self.of_definition(module, name, parts, depth)

    def special(self, module: str, name: str, parts: list[ast.expr], depth: int) -> Any:
        """Return the form of a special type: ``Optional``, ``int`` → ``["|", "int", "None"]``; ``None`` for others."""
        if name in ANYTHING:
            return "str" if name == "LiteralString" else UNKNOWN
        match name:
            case "MaybeNone" | "NoneType":
                return "None"
            case "Self":
                return "self"
            case "Optional":
                return union([self.read(parts[0], depth + 1), "None"])
            case "Union":
                return union([self.read(part, depth + 1) for part in parts])
            case "NoReturn" | "Never":
                return "never"
            case "TypeGuard" | "TypeIs":
                return "bool"
            case "Literal":
                return self.literals(parts)
            case "Callable":
                return ["()", self.read(parts[-1], depth + 1)] if parts else ["()", UNKNOWN]
            case _ if name in WRAPPERS and parts:
                return self.read(parts[0], depth + 1)
            case "Concatenate" | "Protocol" | "Generic" | "TypeVar" | "ParamSpec" | "Any":
                return UNKNOWN
            case _:
                return None

    def literals(self, parts: list[ast.expr]) -> Any:
        """Return the form of a ``Literal``: ``"a", 1`` → ``["|", ["=", "a"], ["=", 1]]``."""
        forms: list[Any] = []
        for part in parts:
            match part:
                case ast.Constant(value=bytes()):
                    forms.append("bytes")
                case ast.Constant(value=None):
                    forms.append("None")
                case ast.Constant(value=value):
                    forms.append(["=", value])
                case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
                    forms.append(["=", -value])
                case ast.Attribute(value=value):  # a member of an enumeration: its type is the enumeration
                    forms.append(self.read(value))
                case _:
                    forms.append(UNKNOWN)
        return union(forms)

    def of_definition(self, module: str, name: str, parts: list[ast.expr], depth: int) -> Any:
        """Return the form of a type by its definition: a class by its name, an alias or type variable by its value."""
        info = (self.stubs.names(module) or {}).get(name.partition(".")[0])
        if "." in name and info is not None:
            info = (info.child_nodes or {}).get(name.partition(".")[2])
        definition = info.ast if info is not None else None
        arguments = [self.read(part, depth + 1) for part in parts]
        match definition:
            case ast.ClassDef():
                full = full_name(module, name)
                if full == "tuple" and len(parts) == 2 and is_ellipsis(parts[1]):
                    return ["tuple...", arguments[0]]
                return [full, *arguments] if arguments else full
            case ast.Assign(value=ast.Call(func=func) as call) if _makes(func) in ("TypeVar", "ParamSpec"):
                return type_variable(Types(self.stubs, module), name, call, depth)
            case ast.Assign(value=ast.Call(func=func, args=[_, base])) if _makes(func) == "NewType":
                return Types(self.stubs, module).read(base, depth + 1)
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                return self.alias(module, value, arguments, depth)
            case _:
                # `List = list` and the like are special forms of `typing`
                if module == "typing" and name:
                    return [f"typing.{name}", *arguments] if arguments else f"typing.{name}"
                return UNKNOWN

    def alias(self, module: str, value: ast.expr, arguments: list[Any], depth: int) -> Any:
        """Return the form of a type alias: ``Rows = list[T]`` with the argument ``int`` → ``["list", "int"]``."""
        if isinstance(value, ast.Constant) and value.value is not None and not isinstance(value.value, str):
            return UNKNOWN
        if module == "typing" and isinstance(value, ast.Name) and not arguments:
            return full_name("builtins", value.id)
        expanded = Types(self.stubs, module).read(value, depth + 1)
        variables = list(type_variables(expanded))
        if arguments and isinstance(expanded, str):
            return [expanded, *arguments]  # `List = list`
        arguments += [UNKNOWN] * (len(variables) - len(arguments))
        return substituted(expanded, dict(zip(variables, arguments, strict=False))) if variables else expanded


def _makes(func: ast.expr) -> str:
    """Return the name of the special form that a call calls: ``_TypeVar``, as some stubs import it → ``TypeVar``."""
    return last_of(func).lstrip("_")


def type_variable(types: Types, name: str, call: ast.Call, depth: int) -> Any:
    """Return the form of a type variable with its bound or choices: ``T`` bound to ``int`` → ``["~", "T", "int"]``."""
    if _makes(call.func) == "ParamSpec":
        return UNKNOWN
    bound = next((k.value for k in call.keywords if k.arg == "bound"), None)
    default = next((k.value for k in call.keywords if k.arg == "default"), None)
    variable = ["~", name]
    if bound is not None:
        form = types.read(bound, depth + _DEPTH_OF_BOUND)
    elif len(call.args) > 1:
        form = union([types.read(arg, depth + _DEPTH_OF_BOUND) for arg in call.args[1:]])
    else:
        form = UNKNOWN
    if form == UNKNOWN and default is not None:
        form = types.read(default, depth + _DEPTH_OF_BOUND)
        form = UNKNOWN if list(type_variables(form)) else form
    return [*variable, form] if form != UNKNOWN else variable


def union(parts: list[Any]) -> Any:
    """Return the form of a union: ``"int"``, ``["|", "str", "int"]`` → ``["|", "int", "str"]``."""
    choices: list[Any] = []
    for part in parts:
        for inner in part[1:] if isinstance(part, list) and part[0] == "|" else [part]:
            if inner not in choices:
                choices.append(inner)
    if UNKNOWN in choices:
        return UNKNOWN
    return choices[0] if len(choices) == 1 else ["|", *choices]


def type_variables(form: Any) -> Iterator[str]:
    """Return the names of the type variables in a type, each once, in order: ``["dict", ["~", "K"], "int"]`` → K."""
    names: dict[str, None] = {}
    stack = [form]
    while stack:
        node = stack.pop(0)
        if isinstance(node, list):
            if node and node[0] == "~":
                names[node[1]] = None
            elif node and node[0] != "=":
                stack = node[1:] + stack
    return iter(names)


def substituted(form: Any, substitution: dict[str, Any]) -> Any:
    """Return a type with its variables replaced: ``["list", ["~", "T"]]``, ``{"T": "int"}`` → ``["list", "int"]``."""
    if not isinstance(form, list) or form[0] == "=":
        return form
    if form[0] == "~":
        return substitution.get(form[1], UNKNOWN)
    parts = [substituted(part, substitution) for part in form[1:]]
    return union(parts) if form[0] == "|" else [form[0], *parts]


def is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def last_of(node: ast.expr) -> str:
    """Return the last part of a dotted name: ``abc.abstractmethod`` → ``abstractmethod``; also of a call."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def full_name(module: str, name: str) -> str:
    return name if module == "builtins" else f"{module}.{name}"


# --- declarations ------------------------------------------------------------------------------------------------


class Writer:
    """Turns the declarations of one module into lines."""

    def __init__(self, stubs: Stubs, module: str) -> None:
        self.stubs, self.module = stubs, module
        self.lines: dict[str, Any] = {}
        self.class_variables: list[str] = []

    def write(self) -> dict[str, Any]:
        for name, info in (self.stubs.names(self.module) or {}).items():
            self.declare(name, info, "")
        return self.lines

    def declare(self, name: str, info: NameInfo, owner: str) -> None:
        """Add the line of a name of the module, or of its class ``owner``: ``x: int`` → ``["a", "int"]``."""
        full = f"{self.module}.{owner + '.' if owner else ''}{name}"
        types = Types(self.stubs, self.module, owner)
        definitions = info.ast.definitions if isinstance(info.ast, OverloadedName) else [info.ast]
        first = definitions[0]
        if owner and name.startswith("__") and name not in KEPT_DUNDERS:
            return
        match first:
            case ImportedName():
                place = defined(self.stubs, self.module, name)
                if place is not None:
                    self.lines[full] = ["i", *place]
            case ast.ClassDef():
                self.declare_class(name, info, first, owner, full)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                functions = [d for d in definitions if isinstance(d, (ast.FunctionDef, ast.AsyncFunctionDef))]
                line = self.function(functions, types, owner)
                if line is not None:
                    self.lines[full] = line
            case ast.AnnAssign(annotation=annotation, value=value):
                final = value if last_of(annotation) == "Final" else None
                # `X: TypeAlias = Y`, `SIGTERM: Final = Signals.SIGTERM`
                if last_of(annotation) == "TypeAlias" or isinstance(final, ast.Attribute):
                    self.assigned(full, value, types, owner)
                    return
                form = types.read(annotation) if final is None else of_literal(final)
                if form != UNKNOWN:
                    self.lines[full] = ["a", form]
            case ast.Assign(value=value):
                self.assigned(full, value, types, owner)
            case _:
                pass

    def assigned(self, full: str, value: ast.expr | None, types: Types, owner: str) -> None:
        """Add the line of an assigned name: ``x = y`` is an import of ``y``, ``x = 5`` a variable of its type."""
        if isinstance(value, (ast.Name, ast.Attribute)):
            if owner and isinstance(value, ast.Name) and f"{self.module}.{owner}.{value.id}" in self.lines:
                self.lines[full] = self.lines[f"{self.module}.{owner}.{value.id}"]
                return
            place = types.place(value)
            if place is not None:
                self.lines[full] = ["i", *place]
        elif value is not None:
            form = of_literal(value)
            if form != UNKNOWN:
                self.lines[full] = ["a", form]

    def declare_class(self, name: str, info: NameInfo, node: ast.ClassDef, owner: str, full: str) -> None:
        """Add the line of a class (``["C", {"b": bases, "v": type variables}]``), then those of its members."""
        inner_owner = f"{owner}.{name}" if owner else name
        bases, variables = self.bases(node, Types(self.stubs, self.module, inner_owner))
        declaration: dict[str, Any] = {}
        if bases:
            declaration["b"] = bases
        if variables:
            declaration["v"] = variables
        children: dict[str, NameInfo] = info.child_nodes or {}
        base_names = {last_of(base.value if isinstance(base, ast.Subscript) else base) for base in node.bases}
        if "NamedTuple" in base_names:
            declaration["n"] = [n for n, child in children.items() if isinstance(child.ast, ast.AnnAssign)]
        if "Protocol" in base_names:
            declaration["p"] = [n for n in children if not n.startswith("__") or n in KEPT_DUNDERS]
        self.lines[full] = ["C", declaration]
        for child_name, child in children.items():
            self.class_variables = variables  # a nested class has set its own
            self.declare(child_name, child, inner_owner)
        self.class_variables = variables

    def bases(self, node: ast.ClassDef, types: Types) -> tuple[list[Any], list[str]]:
        """Return the bases and the type variables of a class: ``class A(list[T])`` → ``[["list", ["~", "T"]]], ["T"]``.

        ``Generic[…]`` and ``Protocol[…]`` fix the order of the variables, else they are in that of the bases.
        """
        forms: list[Any] = []
        variables: list[str] = []
        explicit: list[str] = []
        for base in node.bases:
            inner = base.value if isinstance(base, ast.Subscript) else base
            if isinstance(base, ast.Subscript) and last_of(inner) in ("Generic", "Protocol"):
                parts = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
                explicit += [last_of(part) for part in parts]
                continue
            form = types.read(base)
            if form != UNKNOWN:
                forms.append(form)
                variables += [v for v in type_variables(form) if v not in variables]
            elif last_of(inner) not in ("Generic", "Protocol", "object"):
                forms.append(UNKNOWN)  # a base that may declare any attribute
        return forms, explicit or variables

    def function(self, nodes: list[Any], types: Types, owner: str) -> Any:
        """Return the declaration of a function: ``def f(x) -> int`` → ``["f", [[null, "int"]]]``.

        ``nodes`` are its overloads. A property is a variable. ``None`` if the result is unknown.
        """
        decorators = {last_of(d) for d in nodes[0].decorator_list}
        getters = [n for n in nodes if not any(last_of(d) in ("setter", "deleter") for d in n.decorator_list)]
        if owner and decorators & {"property", "cached_property", "abstractproperty"}:
            form = types.read(getters[0].returns)
            return ["a", form] if form != UNKNOWN else None
        kind = "f"
        if owner:
            kind = "c" if "classmethod" in decorators else "s" if "staticmethod" in decorators else "m"
            if nodes[0].name == "__new__":
                kind = "c"
        signatures = [self.signature(node, types, kind) for node in nodes]
        variables = set(self.class_variables) if owner else set()
        # The arguments of a constructor bind the type variables of the class.
        is_generic_constructor = owner and nodes[0].name in ("__init__", "__new__") and bool(variables)
        results = [signature[1] for signature in signatures]
        declares_self = any(len(signature) > 2 for signature in signatures)
        has_own_variables = not set(type_variables(["|", *results])) <= variables
        if is_generic_constructor or declares_self:
            return [kind, signatures]
        if not has_own_variables and all(result == results[0] for result in results):
            # The arguments do not matter for the result.
            return [kind, [[None, results[0]]]] if results[0] != UNKNOWN else None
        return [kind, signatures] if any(result != UNKNOWN for result in results) else None

    def signature(self, node: Any, types: Types, kind: str) -> list[Any]:
        """Return the form of a signature: ``(x: int = …) -> str`` → ``[[["x", 9, "int"]], "str"]``.

        A method has the type of ``self`` as a third item, if it is declared as another one than its class.
        """
        args = node.args
        parameters: list[Any] = []
        positional = [*args.posonlyargs, *args.args]
        required = len(positional) - len(args.defaults)
        for i, arg in enumerate(positional):
            # Older stubs mark a parameter as positional alone by two underscores.
            kind_of_parameter = 0 if i < len(args.posonlyargs) or arg.arg.startswith("__") else 1
            has_default = i >= required
            parameters.append(
                [arg.arg, kind_of_parameter + (8 if has_default else 0), types.read(arg.annotation)]
            )
        own: Any = None
        if kind in ("m", "c") and parameters:
            own = parameters.pop(0)[2]
        if args.vararg is not None:
            parameters.append([args.vararg.arg, 3, types.read(args.vararg.annotation)])
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            parameters.append([arg.arg, 2 + (8 if default is not None else 0), types.read(arg.annotation)])
        if args.kwarg is not None:
            parameters.append([args.kwarg.arg, 4, types.read(args.kwarg.annotation)])
        signature = [parameters, types.read(node.returns)]
        if own not in (None, UNKNOWN, "self") and not (isinstance(own, list) and own[0] == "~"):
            signature.append(own)
        return signature


def of_literal(value: ast.expr) -> Any:
    """Return the type of a literal: ``5`` → ``int``; ``?`` for other expressions."""
    match value:
        case ast.Constant(value=bool()):
            return "bool"
        case ast.Constant(value=int()) | ast.UnaryOp(operand=ast.Constant(value=int())):
            return "int"
        case ast.Constant(value=float()):
            return "float"
        case ast.Constant(value=str()):
            return "str"
        case _:
            return UNKNOWN
