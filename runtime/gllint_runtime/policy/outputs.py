"""What a tool returned, held to the policy: plain data, its schema, no raw numbers, allowed units."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from gllint_runtime.policy import schemas, validation
from gllint_runtime.policy.errors import GLValidationError
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.units import UnitRegistry

logger = logging.getLogger("gllint_runtime")


class Output(NamedTuple):
    """What a tool returned, verified: plain data, what was found in it, and the values that a float would round."""

    data: Any
    found: schemas.Survey
    exact: validation.Exact


def verified_output(
    tool_name: str, output: Any, policy: Policy, units: UnitRegistry, check: validation.Checker | None = None
) -> Output:
    """The output as plain data, once it fits its schema and each number in it has an allowed unit.

    Raises GLValidationError RESULT_SCHEMA or UNIT_UNKNOWN.
    """
    exact: validation.Exact = {}
    try:
        plain = validation.plain(output, exact)
    except ValueError as error:
        raise _bad_output(f"{error}. Wrap each number in a Quantity.") from None
    if check is not None and (problem := check(plain)) is not None:
        path, message = problem
        raise _bad_output(message, path)
    survey = schemas.survey(plain, policy.plain_keys)
    if not policy.allow_raw_numbers:
        for path, trouble in survey.malformed:
            raise _bad_output(trouble, path)
        if survey.raw_numbers:
            raise _bad_output("a raw number; wrap it in a Quantity {value, unit}", survey.raw_numbers[0])
    elif survey.raw_numbers:
        places = ", ".join(map(schemas.show_path, survey.raw_numbers[:20]))
        logger.warning("Tool %s returned raw numbers at %s", tool_name, places)
    for path, quantity in survey.quantities:
        if not units.is_allowed(quantity["unit"]):
            units.require(quantity["unit"], schemas.show_path(path))
    return Output(plain, survey, exact)


def _bad_output(message: str, path: schemas.Path = ()) -> GLValidationError:
    where = schemas.show_path(path)
    return GLValidationError(
        "RESULT_SCHEMA", f"Tool output validation failed at {where}: {message}", path=where
    )


def require_usable(name: str, code: str, schema: Any) -> None:
    """Raise for a schema that is invalid, misspelt or points outside: it would check nothing, or fetch."""
    try:
        troubles = [f"{schemas.show_path(p.path)}: {p.message}" for p in schemas.schema_problems(schema)]
        troubles += [
            f"{schemas.show_path(path)}: did you mean {meant!r}?"
            for path, meant in schemas.misspelt_keywords(schema)
        ]
        troubles += [
            f"{schemas.show_path(path)}: no such schema is known here"
            for path in validation.foreign_refs(schema)
        ]
    except RecursionError:
        troubles = ["it is nested too deeply, or in itself"]
    if code == "ARGS_SCHEMA" and not troubles and not isinstance(schema, dict):
        troubles = ["$: a model is told the arguments by an object schema"]
    if troubles:
        kind = "args_schema" if code == "ARGS_SCHEMA" else "result_schema"
        raise GLValidationError(code, f"The {kind} of '{name}' cannot be used: {'; '.join(troubles[:20])}")
