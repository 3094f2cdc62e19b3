"""What a tool returned, checked against the policy: plain data, its schema, no raw numbers, allowed units."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache, reduce
from operator import getitem
from typing import Any, NamedTuple

from gllint_runtime.policy import schemas, validation
from gllint_runtime.policy.claims import ClaimPathError, parse_claim_path
from gllint_runtime.policy.data import DataProblem, Survey, plain
from gllint_runtime.policy.errors import GLDataError, GLValidationError
from gllint_runtime.policy.log import logger
from gllint_runtime.policy.parameter_units import ParameterUnit, ParameterUnits
from gllint_runtime.policy.schemas import Path, Quantity, show_path
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.unit_table import RENDERED_UNITS
from gllint_runtime.policy.units import UnitRegistry

PLAIN = "count"
"""The unit of a number that is no quantity, in a claim: of these ``1`` and none are the same."""

_MOST_NAMED = 8  # raw numbers that a message names
_MOST_IN_CONTEXT = 200


class OutputSchema(NamedTuple):
    """The demands of a tool's result schema on its outputs: a test, and the units that the schema declares, if any."""

    check: validation.Checker
    declaration_at: Callable[[Path], ParameterUnit] | None


def output_schema(tool_name: str, schema: Any) -> OutputSchema:
    """Return a tool's result schema, ready for use. Raises GLValidationError RESULT_SCHEMA for one of no use."""
    check = usable_checker(tool_name, "RESULT_SCHEMA", schema)
    units = ParameterUnits(schema)
    return OutputSchema(check, units.at if units.declares else None)


def verified_output(
    tool_name: str, output: Any, policy: Policy, units: UnitRegistry, schema: OutputSchema | None = None
) -> Survey:
    """Return the output as plain data, once it fits its schema and each number in it has an allowed unit.

    A text that is JSON of an object or array is that value (:func:`json_value`). Where it has no schema, and the
    policy is not strict about such texts, it may be another program's: its raw numbers are kept, and cannot be
    claimed.

    A number whose schema declares its unit is a Quantity of that unit. Its Quantities have their units as the
    allowlist writes them; the data stay as the tool gave them, except for an opaque abbreviation (``cfs``), which the
    model receives spelt out (``ft3/s``). Raises GLValidationError RESULT_SCHEMA or UNIT_UNKNOWN.
    """
    if policy.mode == "sourced":
        return _sourced_output(tool_name, output, policy, units, schema)
    # Of a class that lies about itself not even the class is asked.
    if not issubclass(type(output), str) or (value := json_value(output)) is None:
        return _claims_output(tool_name, output, policy, units, schema)
    if schema is None and policy.json_text != "strict":
        return _foreign_output(tool_name, output, policy, units)
    # What its schema declares to be text is no value of another kind.
    if schema is not None and schema.check(value) is not None and schema.check(output) is None:
        return _claims_output(tool_name, output, policy, units, schema)
    survey = _claims_output(tool_name, value, policy, units, schema)
    survey.is_json_text = True
    return survey


def _sourced_output(
    tool_name: str, output: Any, policy: Policy, units: UnitRegistry, schema: OutputSchema | None
) -> Survey:
    """Return an output whose numbers need no unit; it fits its schema, where it has one."""
    try:
        survey = unheld_output(output, policy, units)
    except DataProblem as problem:
        raise _bad_output(str(problem), problem.path, problem.remedy) from None
    _read_models(survey)
    if schema is not None:
        misfit = schema.check(survey.data)
        if misfit is not None and not (survey.is_json_text and schema.check(output) is None):
            raise _bad_output(misfit[1], misfit[0])
        if schema.declaration_at is not None:
            _read_declarations(survey, schema.declaration_at)
    return survey


def _claims_output(
    tool_name: str, output: Any, policy: Policy, units: UnitRegistry, schema: OutputSchema | None = None
) -> Survey:
    """Return an output in claims mode, in which each number has an allowed unit and its schema fits.

    Raises :class:`GLError`.
    """
    try:
        survey = Survey(output, policy.plain_keys, policy.plain_kinds, policy.quantity_shapes)
    except DataProblem as problem:
        raise _bad_output(str(problem), problem.path, problem.remedy) from None
    if schema is not None:
        if (misfit := schema.check(survey.data)) is not None:
            place, message = misfit
            raise _bad_output(message, place)
        if schema.declaration_at is not None:
            _read_declarations(survey, schema.declaration_at)
    _read_models(survey)
    if policy.units:
        _read_settings(survey, tool_name, policy)
    if not policy.allow_raw_numbers:
        for path, trouble in survey.malformed:
            raise _bad_output(trouble, path)
        if survey.raw_numbers:
            raise _raw_numbers([*survey.raw_numbers])
    elif survey.raw_numbers:
        places = ", ".join(map(show_path, [*survey.raw_numbers][:20]))
        logger.warning("Tool %s returned raw numbers at %s", tool_name, places)
    for path, quantity in survey.quantities.items():
        if not units.is_allowed(quantity.unit):
            units.require(quantity.unit, show_path(path))
    # What is no quantity is claimed as it is, and shown as an integer.
    survey.quantities |= {
        path: Quantity(int(number), PLAIN) for path, number in survey.plain_numbers.items() if number % 1 == 0
    }
    return _as_written(survey, units)


def _as_written(survey: Survey, units: UnitRegistry) -> Survey:
    """Return the output with its units as the allowlist spells them: ``m³`` → ``m3``, ``cfs`` → ``ft3/s``.

    The data change only for an abbreviation such as ``cfs``, which the model receives spelt out.
    """
    for path, quantity in survey.quantities.items():
        if quantity.unit in RENDERED_UNITS:
            rendered = RENDERED_UNITS[quantity.unit]
            survey.quantities[path] = Quantity(quantity.value, rendered)
            written = reduce(getitem, path, survey.data)
            if type(written) is dict and "unit" in written:
                written["unit"] = rendered
        elif not quantity.unit.isascii():
            survey.quantities[path] = Quantity(quantity.value, units.symbol(quantity.unit))
    return survey


def unheld_output(output: Any, policy: Policy, units: UnitRegistry) -> Survey:
    """Return the output as plain data in which each Quantity with an allowed unit can be claimed, and nothing is
    rejected.

    A text that is JSON is read: ``'{"heat": {"value": 2, "unit": "kWh"}}'`` → the Quantity at ``$.heat``. Raises
    ValueError.
    """
    value = json_value(output) if issubclass(type(output), str) else None
    survey = Survey(
        output if value is None else value,
        policy.plain_keys,
        policy.plain_kinds,
        policy.quantity_shapes,
        rejects_nothing=True,
    )
    survey.is_json_text = value is not None
    survey.quantities = {
        path: quantity for path, quantity in survey.quantities.items() if units.is_allowed(quantity.unit)
    }
    return _as_written(survey, units)


def _foreign_output(tool_name: str, text: str, policy: Policy, units: UnitRegistry) -> Survey:
    """Return the data of a JSON text that its tool may only pass on: raw numbers in it are logged, and not rejected."""
    try:
        survey = unheld_output(text, policy, units)
    except DataProblem:  # beyond the bounds of data: it stays a text
        return _claims_output(tool_name, text, policy, units)
    if survey.raw_numbers:
        places = ", ".join(map(show_path, [*survey.raw_numbers][:20]))
        logger.warning("Tool %s returned JSON text with raw numbers at %s", tool_name, places)
    return survey


def json_value(text: str) -> Any:
    """Return the object or array that a JSON text contains.

    ``'{"a": 1}'`` → ``{"a": 1}``; ``None`` for any other text.
    """
    if not _BEGINS_VALUE(text):
        return None
    try:
        value = json.loads(text, parse_constant=_refused_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


_BEGINS_VALUE = re.compile(r"[ \t\r\n]*[{\[]").match


def _refused_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid JSON")


def _read_settings(survey: Survey, tool_name: str, policy: Policy) -> None:
    """Make Quantities of the numbers whose unit the setting ``units`` declares: ``{"heat": "kWh"}``."""
    for path, number in [*survey.raw_numbers.items(), *survey.plain_numbers.items()]:
        key = next((step for step in reversed(path) if isinstance(step, str)), None)
        unit = policy.unit_declared(key, tool_name, show_path(path))
        if unit is not None:
            survey.quantities[path] = Quantity(number, unit)
            survey.declared[path] = unit
            survey.raw_numbers.pop(path, None)
            survey.plain_numbers.pop(path, None)


def _read_models(survey: Survey) -> None:
    """Make Quantities of the numbers whose unit the field of a model declares."""
    for path, model in survey.models if survey.raw_numbers else ():
        _read_declarations(survey, _units_of_model(model).at, path)


@lru_cache(maxsize=256)
def _units_of_model(model: Any) -> ParameterUnits:
    """Return the units that the fields of a dataclass (in their metadata) or of a pydantic model declare."""
    if is_dataclass(model):
        return ParameterUnits({"properties": {field.name: dict(field.metadata) for field in fields(model)}})
    try:
        return ParameterUnits(model.model_json_schema(mode="serialization"))
    except Exception:  # some fields have no schema, and whatever else has `model_dump` has none
        return ParameterUnits({})


def _read_declarations(
    survey: Survey, declaration_at: Callable[[Path], ParameterUnit], root: Path = ()
) -> None:
    """Make Quantities of the numbers below ``root`` whose unit a schema declares, and note the bases that it declares.

    ``declaration_at`` gives what the schema declares at a path that begins at ``root``.
    """
    for path, number in [*survey.raw_numbers.items()]:
        if path[: len(root)] != root:
            continue
        declaration = declaration_at(path[len(root) :])
        if declaration.is_declared and len(declaration.readings) == 1:
            (unit,) = declaration.readings
            survey.quantities[path] = Quantity(number, unit)
            survey.declared[path] = unit
            del survey.raw_numbers[path]
    for path in survey.quantities:
        if path[: len(root)] == root and (basis := declaration_at(path[len(root) :]).basis) is not None:
            survey.bases[path] = basis


def plain_arguments(tool_name: str, arguments: Any) -> dict[str, Any]:
    """Return a copy of a call's arguments as plain data.

    Raises GLValidationError ARGS_SCHEMA if they are no JSON object.
    """
    try:
        copied = plain(arguments)
    except DataProblem as problem:
        where = show_path(problem.path)
        message = f"The arguments of '{tool_name}' are not valid JSON: at {where} {problem}"
        raise GLValidationError("ARGS_SCHEMA", message, path=where) from None
    if not isinstance(copied, dict):
        raise GLValidationError("ARGS_SCHEMA", f"The arguments of '{tool_name}' must be an object")
    return copied


def resolve_path(output: Survey, path: str, *, arrays: bool = False) -> Quantity:
    """Return the Quantity at a claim's path: ``"$.heat"`` → ``Quantity(2, "kWh")``.

    Raises GLDataError PATH_RESOLUTION, whose hint lists the paths that can be claimed.
    """
    try:
        steps = parse_claim_path(path, arrays=arrays)
    except ClaimPathError as error:
        raise GLDataError("PATH_RESOLUTION", str(error), hint=error.hint, path=path[:200]) from None
    if (quantity := output.quantities.get(steps)) is not None:
        return quantity
    if (written := output.odd_paths.get(tuple(map(str, steps)))) is not None:
        return output.quantities[written]
    node = output.data
    for step in steps:
        try:
            node = node[step]
        except (KeyError, IndexError, TypeError):
            hint = _available(output)
            raise GLDataError("PATH_RESOLUTION", f"Path '{path}' not found in output", hint, path) from None
    raise GLDataError("PATH_RESOLUTION", f"Path '{path}' does not lead to a Quantity", path=path)


def _available(output: Survey) -> str:
    paths = [*claimable(output)]
    if not paths:
        return "This output has no Quantity."
    remainder = f" and {len(paths) - 20} more" if len(paths) > 20 else ""
    return f"Quantities of this output: {', '.join(paths[:20])}{remainder}."


def claimable(output: Survey, *, arrays: bool = False) -> dict[str, Quantity]:
    """Return the Quantities that claims may cite, by the paths that they write."""
    odd = {path: steps for steps, path in output.odd_paths.items()}
    written = ((odd.get(path, path), quantity) for path, quantity in output.quantities.items())
    return {show_path(steps): quantity for steps, quantity in written if _is_claim_path(steps, arrays)}


def _is_claim_path(steps: Path, arrays: bool) -> bool:
    """Return whether a claim can write these steps: a key ``a.b`` would be two."""
    try:
        return parse_claim_path(show_path(steps), arrays=arrays) == steps
    except ClaimPathError:
        return False


def odd_paths(output: Survey) -> list[str]:
    """Return how to write the paths of Quantities without a name, or under keys that are not names."""
    return [show_path(steps) for steps in output.odd_paths]


def _bad_output(message: str, path: Path = (), hint: str | None = None) -> GLValidationError:
    where = show_path(path)
    return GLValidationError(
        "RESULT_SCHEMA", f"Tool output validation failed at {where}: {message}", hint, path=where
    )


def _raw_numbers(paths: Sequence[Path]) -> GLValidationError:
    """Return the error for raw numbers at ``paths``: it is at the first, and names the next few."""
    others = [*dict.fromkeys(show_path(path) for path in paths[1:_MOST_NAMED])]
    message = "a raw number; wrap it in a Quantity {value, unit}"
    if others:
        count = len(paths) - 1 - len(others)
        more = f" and {count} more" if count > 0 else ""
        message += f"; also at {', '.join(others)}{more}"
    error = _bad_output(message, paths[0])
    error.context = [show_path(path) for path in paths[:_MOST_IN_CONTEXT]]
    return error


def usable_checker(name: str, code: str, schema: Any) -> validation.Checker:
    """Return the test of a tool's schema: a function from data to its first error.

    ``code`` is ARGS_SCHEMA or RESULT_SCHEMA. Raises GLValidationError with that code for a schema that is invalid,
    has a misspelt keyword, or refers to an unknown schema or endlessly to itself.
    """
    try:
        troubles = [f"{show_path(p.path)}: {p.message}" for p in schemas.schema_problems(schema)]
        troubles += [
            f"{show_path(path)}: did you mean {meant!r}?" for path, meant in schemas.misspelt_keywords(schema)
        ]
        troubles += [f"{show_path(path)}: no such schema" for path in validation.foreign_refs(schema)]
        troubles += [
            f"{show_path(path)}: it refers to itself endlessly" for path in validation.endless_refs(schema)
        ]
    except RecursionError:
        troubles = ["it is nested too deeply, or contains itself"]
    if code == "ARGS_SCHEMA" and not troubles and not isinstance(schema, dict):
        troubles = ['$: the schema of arguments must have the type "object"']
    if troubles:
        kind = "args_schema" if code == "ARGS_SCHEMA" else "result_schema"
        raise GLValidationError(code, f"The {kind} of '{name}' cannot be used: {'; '.join(troubles[:20])}")
    return validation.checker(schema)
