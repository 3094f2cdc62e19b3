"""``require_claims`` over JSON Schemas: where a number may be without a claim, and where none can be."""

from __future__ import annotations

from typing import Any

import pytest

from gllint_runtime.execution.claimed import require_claims

NUMBER = {"type": "number"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["integer", "null"]},
        {"properties": {"rating": {"const": 5}}},
        {"items": {"anyOf": [{"type": "string"}, NUMBER]}},
        {"additionalItems": NUMBER},
        {"dependentSchemas": {"rating": NUMBER}},
        {"if": {"type": "object"}, "then": {"properties": {"rating": NUMBER}}},
        {"json_schema": {"schema": {"properties": {"rating": NUMBER}}}},
    ],
)
def test_a_schema_that_admits_a_bare_number_is_refused(schema: Any) -> None:
    with pytest.raises(TypeError, match="bare number"):
        require_claims(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"not": NUMBER},
        {"if": {"properties": {"rating": {"const": 5}}}, "then": {"required": ["title"]}},
        {"propertyNames": {"const": 5}},
        {"properties": {"type": {"type": "string"}, "enum": {"type": "string"}}},
        {"type": [{}, "string"]},
    ],
)
def test_a_schema_through_which_no_number_gets_is_none_of_them(schema: Any) -> None:
    require_claims(schema)
