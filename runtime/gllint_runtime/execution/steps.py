"""Reading what a model wrote: a tool call, a final message with its claims, or a question."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import NoneType
from typing import Any, Literal, NamedTuple

from gllint_runtime.policy.data import Survey
from gllint_runtime.policy.errors import GLValidationError
from gllint_runtime.policy.schemas import Claim, Quantity, quantity_problem

CLARIFICATION = "None"
"""The tool name by which a model asks the user instead of calling a tool."""

_ACTION_HINT = (
    'Answer with one JSON object: {"name": "<tool>", "args": {"<argument>": <text, number, true, false, null or a '
    'list of these>}}; with "None" as the name to ask the user.'
)
_FENCE = re.compile(r"```[a-zA-Z]*+[^\S\n]*+\n\s*+(?=\{)")
_DECODER = json.JSONDecoder(strict=False)
_LARGE = 2**62  # a smaller number needs no closer look
_MAX_CLAIMS = 100_000
_MAX_OBJECTS = 20  # of a text, in which a final message is looked for
_MAX_MEMBERS = 100_000
_OBJECT = re.compile(r"\{\s*+\"")


@dataclass
class ToolAction:
    """A tool's name and its flat arguments, as a model asks for them."""

    name: str
    args: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, raw: str | Mapping[str, Any] | ToolAction) -> ToolAction:
        """Return the action in model output: ``'{"name": "heat", "args": {}}'``, an object, in a code fence or
        amid prose.

        Raises GLValidationError STEP_SCHEMA with a hint that a model can act on.
        """
        if isinstance(raw, ToolAction):
            return cls(*_action({"name": raw.name, "args": raw.args}))
        return cls(*_action(read_object(raw, _ACTION_HINT)))

    @classmethod
    def parse_obj(cls, raw: Mapping[str, Any]) -> ToolAction:
        """:meth:`parse` under the name that pydantic gives it."""
        return cls.parse(raw)


def _action(data: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and arguments of the tool that a model calls.

    ``{"tool_name": "heat", "arguments": "{}"}`` → heat, ``{}``.

    Raises GLValidationError STEP_SCHEMA.
    """
    name, args = data.get("name", data.get("tool_name")), data.get("args", data.get("arguments"))
    if not isinstance(name, str) or not name:
        raise _step_error("A tool action needs the 'name' of a tool", "name", _ACTION_HINT)
    if isinstance(args, str):
        args = read_object(args, _ACTION_HINT) if args.strip() else None
    if type(args) is not dict and not isinstance(args, Mapping | None):
        raise _step_error("The 'args' of a tool action must be an object", "args", _ACTION_HINT)
    return _text(name), {} if args is None else _members(args)


def read_object(raw: Any, hint: str | None = None) -> dict[str, Any]:
    """Return the JSON object in a model's output: 'Sure: {"kind": "final"}' → ``{"kind": "final"}``.

    Raises GLValidationError STEP_SCHEMA with ``hint``.
    """
    if type(raw) is dict or isinstance(raw, Mapping):
        return _members(raw)
    if not isinstance(raw, str):
        raise _step_error(f"Expected a JSON object, got {type(raw).__name__}", hint=hint)
    raw = _text(raw)
    # In front of an object, a fence is not looked for: it may be within one of its texts.
    fence = None if raw.lstrip().startswith("{") else _FENCE.search(raw)
    inside, closed, _ = raw[fence.end() :].partition("```") if fence else ("", "", "")
    text = inside if closed else raw
    # Only the first object counts. One that does not parse is not searched for others: in it, a tool's
    # arguments for example, must never be taken for the step itself.
    begins = _OBJECT.search(text)
    start = begins.start() if begins else text.find("{")
    if start < 0:
        raise _step_error("The answer contains no JSON object", hint=hint)
    try:
        data, _ = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise _step_error(f"The answer is not valid JSON: {error}", hint=hint) from None
    return dict(data)


def _members(value: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return the members of a mapping, at most as many as any model writes if it is no plain dict."""
    if type(value) is dict:
        return value.copy()
    items = dict.items(value) if isinstance(value, dict) else islice(value.items(), _MAX_MEMBERS)
    return {_text(key): item for key, item in items}


def _text(value: Any) -> Any:
    """Return a plain ``str`` for an instance of a subclass; anything else unchanged."""
    return str.__str__(value) if isinstance(value, str) else value


def final_in(text: str) -> dict[str, Any] | None:
    """Return the object of a final message that is JSON in a text, alone, in a code fence or amid prose.

    ``{"message", "claims"}``, or an object with that under ``final``; ``None`` if there is none. Raises
    GLValidationError STEP_SCHEMA for a text that begins as one but is none, or cannot be read.
    """
    text = _text(text)
    if '"message"' not in text:
        return None
    begins, tries = _OBJECT.search(text), _MAX_OBJECTS
    while begins and tries:
        try:
            data, end = _DECODER.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            break  # an object within one that does not parse is never taken for the message, as in `read_object`
        final = data.get("final", data)
        if isinstance(final, dict) and "message" in final:
            return dict(data)
        begins, tries = _OBJECT.search(text, end), tries - 1
    if text.lstrip().startswith(("{", "```")):
        read_object(text, FINAL_HINT)  # raises what is wrong with the JSON
        raise _step_error("A final step needs a 'message' that is text", "final.message", FINAL_HINT)
    return None


FINAL_HINT = (
    'Answer with one JSON object {"message": "…", "claims": […]} and nothing else, or text without a number.'
)
"""How a model mends a final answer where the framework, not a step of ours, calls the tools."""


class Step(NamedTuple):
    """A model's answer, read: a tool call, a final message with its claims, or a question to the user.

    The claims are as the model wrote them: what a session has recorded completes them.
    """

    kind: Literal["tool_call", "final", "clarification"]
    tool_name: str = ""
    arguments: Any = None
    message: str = ""
    claims: Any = ()


def read_step(raw: Any) -> Step:
    """Return the step in model output, an object or JSON text; a final message may be under ``final`` or at the top.

    ``'{"message": "Hi", "claims": []}'`` → ``Step("final", message="Hi")``. Raises GLValidationError STEP_SCHEMA.
    """
    try:
        return _step(read_object(raw))
    except GLValidationError:
        raise
    except Exception as error:  # an object that lies about itself
        raise _step_error(f"The answer cannot be read: {type(error).__name__}") from error


def _step(data: dict[str, Any]) -> Step:
    """Return a step from its data: a call of a tool (``{"name", "args"}``), a question, or a final message."""
    kind = data.get("kind", "tool_call" if "name" in data or "tool_name" in data else "final")
    if kind == "tool_call":
        name, args = _action(data)
        if name == CLARIFICATION:
            return Step("clarification", message=question(args))
        return Step("tool_call", name, args)
    if kind != "final":
        raise _step_error(f"'kind' must be 'tool_call' or 'final', not {kind!r}", "kind")
    final = data if data.get("final") is None else data["final"]  # flat, or under "final"
    if type(final) is not dict and isinstance(final, Mapping):
        final = _members(final)
    if not isinstance(final, dict) or not isinstance(final.get("message"), str):
        raise _step_error("A final step needs a 'message' that is text", "final.message")
    return Step("final", "", None, _text(final["message"]), final.get("claims", ()))


def question(args: Mapping[str, Any]) -> str:
    """Return what a call of the reserved name ``"None"`` asks the user."""
    text = args.get("clarification_needed")
    return "" if text is None else str(text)


def read_claims(claims: Any) -> tuple[Claim, ...]:
    """Return the claims of a final message, ``()`` for ``None``. Raises GLValidationError STEP_SCHEMA."""
    if not isinstance(claims, (list, tuple, NoneType)):
        raise _step_error("'claims' must be an array", "final.claims")
    # Of a subclass, the members that it has: its own `__iter__` might give others each time it is asked.
    if isinstance(claims, list):
        claims = list.copy(claims)
    else:
        claims = [] if claims is None else [*tuple.__iter__(claims)]
    if len(claims) > _MAX_CLAIMS:
        raise _step_error(f"A message can have at most {_MAX_CLAIMS} claims", "final.claims")
    return tuple([_read_claim(i, claim) for i, claim in enumerate(claims)])


def _read_claim(number: int, claim: Any) -> Claim:
    """Return a claim from ``{"source_call_id", "path", "quantity"}``. Raises GLValidationError STEP_SCHEMA."""
    if type(claim) is dict and len(claim) == 3:  # as nearly always: built-in types, where nothing can lie
        call_id, path, quantity = claim.get("source_call_id"), claim.get("path"), claim.get("quantity")
        if type(call_id) is type(path) is str and type(quantity) is dict and len(quantity) == 2:
            value: Any = quantity.get("value")
            unit = quantity.get("unit")
            if type(unit) is str and type(value) in (float, int) and -_LARGE < value < _LARGE:
                return Claim(call_id, path, Quantity(value, unit))
    try:
        survey = Survey(claim)
    except ValueError as error:
        raise _step_error(f"Claim {number} cannot be read: {error}", f"final.claims[{number}]") from None
    claim = survey.data
    if not isinstance(claim, dict):
        raise _step_error(f"Claim {number} is not an object", f"final.claims[{number}]")
    for key in ("source_call_id", "path"):
        if not isinstance(claim.get(key), str):
            raise _step_error(f"Claim {number} needs a '{key}' that is text", f"final.claims[{number}].{key}")
    if problem := quantity_problem(claim.get("quantity")):
        raise _step_error(f"Claim {number}: {problem}", f"final.claims[{number}].quantity")
    basis = claim.get("basis")
    if not isinstance(basis, str | None):
        raise _step_error(f"Claim {number}: its 'basis' must be text", f"final.claims[{number}].basis")
    return Claim(claim["source_call_id"], claim["path"], survey.quantities["quantity",], basis)


def _step_error(message: str, path: str | None = None, hint: str | None = None) -> GLValidationError:
    return GLValidationError("STEP_SCHEMA", message, hint, path)
