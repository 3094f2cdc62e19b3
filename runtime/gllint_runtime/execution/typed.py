"""``@tool``: a typed function becomes a Tool, its schemas read from the signature and the docstring.

Standard types are read here; anything else (models, dates, constrained types) by pydantic, from the extra
``gllint[pydantic]``.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, overload

from gllint_runtime.execution.approval import ToolCategory
from gllint_runtime.execution.tools import Tool
from gllint_runtime.policy.annotations import Unit
from gllint_runtime.policy.schemas import QUANTITY_REF, Quantity, is_inlined_quantity, quantity_problem

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
    inspect.Parameter.empty: {},
    list: {"type": "array"},
    dict: {"type": "object"},
}
_ARGUMENT = re.compile(r"^[ \t]*(?::param\s+)?\*{0,2}(\w+)[ \t]*(?:\([^)\n]*\))?:[ \t]*(\S.*)$", re.MULTILINE)


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = ...,
    description: str | None = ...,
    category: ToolCategory = ...,
    live_required: bool = ...,
    timeout: float | None = ...,
    preview: Callable[..., str] | None = ...,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Return a Tool from a typed function: ``@tool`` or ``@tool(category=…, timeout=…)``.

    The name and the first paragraph of the docstring describe it; each parameter's type becomes its schema, and a line
    ``name: …`` of the docstring its description; ``Annotated[float, Unit("m3/s")]`` says its unit. ``-> dict[str,
    Quantity]``, a TypedDict, a dataclass or a pydantic model with Quantity fields becomes the result schema. Raises
    TypeError for a type that cannot be read.
    """
    if function is None:
        return lambda wrapped: _tool_of(wrapped, **options)
    if not callable(function):
        raise TypeError(f"tool needs a function, got {function!r}")
    return _tool_of(function)


def _tool_of(
    function: Callable[..., Any], name: str | None = None, description: str | None = None, **options: Any
) -> Tool:
    """Return the tool that a typed function makes, with schemas from its annotations and docstring."""
    doc = inspect.getdoc(function) or ""
    hints = typing.get_type_hints(function, include_extras=True)
    descriptions = dict(_ARGUMENT.findall(doc))
    properties: dict[str, Any] = {}
    convert: dict[str, Callable[[Any], Any]] = {}
    required = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{function.__name__}: a tool can only have named parameters, not {parameter}")
        hint = hints.get(parameter.name, parameter.annotation)
        schema, reader = _argument(f"{function.__name__}({parameter.name})", hint)
        if reader is not None:
            convert[parameter.name] = reader
        if parameter.name in descriptions:
            schema["description"] = descriptions[parameter.name]
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif parameter.default is None or isinstance(parameter.default, (str, int, float, bool)):
            schema["default"] = parameter.default
        properties[parameter.name] = schema
    args_schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        args_schema["required"] = required
    definitions = {
        name: node for schema in properties.values() for name, node in schema.pop("$defs", {}).items()
    }
    if definitions:
        args_schema["$defs"] = definitions
    result = hints.get("return", Any)
    result_schema = {} if result is Any else schema_of(result, f"{function.__name__} -> …")
    return Tool(
        name=name or function.__name__,
        description=description or doc.split("\n\n")[0].replace("\n", " "),
        args_schema=args_schema,
        result_schema=result_schema,
        fn=_converting(function, convert),
        **options,
    )


def _converting(
    function: Callable[..., Any], convert: Mapping[str, Callable[[Any], Any]]
) -> Callable[..., Any]:
    """Return ``function`` with the arguments named in ``convert`` converted first, from JSON to the types of its
    parameters.
    """
    if not convert:
        return function

    @functools.wraps(function)
    def converting(**arguments: Any) -> Any:
        read = {key: convert[key](value) if key in convert else value for key, value in arguments.items()}
        return function(**read)

    return converting


def _argument(where: str, hint: Any) -> tuple[dict[str, Any], Callable[[Any], Any] | None]:
    """Return the schema of a parameter, and the function that converts JSON data to its type.

    ``None`` if none is needed.
    """
    if (plain := _standard(hint, records=False)) is not None:
        return plain, None
    if hint is Quantity or (get_origin(hint) is typing.Annotated and get_args(hint)[0] is Quantity):
        if (plain := _standard(hint, records=True)) is not None:
            return plain, _quantity
    adapter = _adapter(where, hint)
    return _own_refs(adapter.json_schema()), adapter.validate_python


def _quantity(data: Any) -> Any:
    """Return a Quantity of plain data that is one."""
    return Quantity(data["value"], data["unit"]) if quantity_problem(data) is None else data


def schema_of(hint: Any, where: str = "the type") -> dict[str, Any]:
    """Return the JSON Schema of what is of this type. Raises TypeError for one that cannot be read."""
    plain = _standard(hint, records=True)
    return _own_refs(_adapter(where, hint).json_schema(mode="serialization")) if plain is None else plain


def _standard(hint: Any, *, records: bool) -> dict[str, Any] | None:
    """Return the JSON Schema of a standard type, ``list[str]`` → ``{"type": "array", …}``; ``None`` for any other.

    ``records``: TypedDicts and dataclasses count as standard.
    """
    inner = functools.partial(_standard, records=records)
    try:
        if hint in _PLAIN:
            return dict(_PLAIN[hint])
    except TypeError:  # not hashable
        return None
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Quantity:
        return {"$ref": QUANTITY_REF} if records else None
    if origin in (typing.Required, typing.NotRequired):
        return inner(arguments[0])
    if origin is typing.Annotated:
        texts = [text for text in arguments[1:] if isinstance(text, str)]
        units = [unit for unit in arguments[1:] if isinstance(unit, Unit)]
        schema = inner(arguments[0]) if len(texts) + len(units) == len(arguments) - 1 else None
        if schema is not None:
            schema |= {"description": texts[0]} if texts else {}
            schema |= units[0].keywords() if units else {}
        return schema
    # An Enum's member or bytes are no JSON: pydantic writes their schema.
    if origin is Literal and all(isinstance(value, (str, int, bool, type(None))) for value in arguments):
        return {"enum": [*arguments]}
    if origin in (Union, types.UnionType):
        branches = [inner(argument) for argument in arguments]
        return None if None in branches else {"anyOf": branches}
    if origin in (list, Sequence) and len(arguments) == 1:
        items = inner(arguments[0])
        return None if items is None else {"type": "array", "items": items}
    if origin in (dict, Mapping) and len(arguments) == 2 and arguments[0] is str:
        values = inner(arguments[1])
        return None if values is None else {"type": "object", "additionalProperties": values}
    if not records or not (typing.is_typeddict(hint) or (isinstance(hint, type) and is_dataclass(hint))):
        return None
    hints = typing.get_type_hints(hint, include_extras=True)
    if is_dataclass(hint):
        required = [f.name for f in fields(hint) if f.default is MISSING and f.default_factory is MISSING]
    else:  # what it knows of its keys itself is blind to annotations that are text
        needed = hint.__required_keys__
        required = sorted(name for name in needed if get_origin(hints[name]) is not typing.NotRequired)
    members = {name: inner(member) for name, member in hints.items()}
    if None in members.values():
        return None
    return {"type": "object", "properties": members, "required": required, "additionalProperties": False}


def _adapter(where: str, hint: Any) -> Any:
    """Return pydantic's adapter for a type. Raises TypeError."""
    try:
        from pydantic import TypeAdapter
    except ImportError:
        raise TypeError(f"{where}: {hint!r} needs pydantic, from the extra gllint[pydantic]") from None
    try:
        return TypeAdapter(hint)
    except Exception as error:
        raise TypeError(f"{where}: {hint!r} has no schema: {error}") from error


def _own_refs(schema: Any) -> Any:
    """Return a schema of pydantic with ``{"$ref": …}`` to the Quantity schema wherever it spells a Quantity out."""
    ours = {f"#/$defs/{name}" for name, node in schema.get("$defs", {}).items() if is_inlined_quantity(node)}

    def replaced(node: Any) -> Any:
        if isinstance(node, dict):
            if node.get("$ref") in ours:
                return {**node, "$ref": QUANTITY_REF}
            return {key: replaced(value) for key, value in node.items()}
        return [replaced(item) for item in node] if isinstance(node, list) else node

    changed = replaced(schema)
    definitions = changed.pop("$defs", {})
    if foreign := {key: node for key, node in definitions.items() if f"#/$defs/{key}" not in ours}:
        changed["$defs"] = foreign
    return {"$ref": QUANTITY_REF} if is_inlined_quantity(changed) else changed
