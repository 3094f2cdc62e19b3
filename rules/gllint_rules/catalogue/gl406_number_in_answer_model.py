"""An answer model has a field that is a bare number.

## What it does

Reports a field that is annotated as a number in an *answer model*: a class that is passed as `output_type`,
`result_type`, `response_format` or `output_cls`, or to `with_structured_output`. Models inside it are checked too.
Counts, indexes and identifiers (`plain-kinds`) are not reported. This rule is opt-in.

## Why is this bad?

The language model fills the field, so the number does not come from a tool.

## Bad

```python
from pydantic import BaseModel
from pydantic_ai import Agent


class Report(BaseModel):
    heat: float


agent = Agent("openai:gpt-5", output_type=Report)
```

## Good

```python
from gllint_runtime import Claimed, Quantity
from pydantic import BaseModel
from pydantic_ai import Agent


class Report(BaseModel):
    heat: Claimed[Quantity]


agent = Agent("openai:gpt-5", output_type=Report)
```

## How to fix

Declare the field as `Claimed[Quantity]`, so that the answer names the tool call. Or use sourced mode
(`mode = "sourced"`), in which the runtime checks plain numbers.

## Options

Select it with `extend-select`. `plain-keys` and `plain-kinds` name fields that need no claim. If `mode` is `sourced`,
the rule is off.

## References

The runtime's `Claimed`.
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.inference import classes
from gllint_rules.inference.values import (
    ClassOf,
    Container,
    Instance,
    ListOf,
    Site,
    Value,
    number,
    options,
)
from gllint_rules.project.context import Context, Pending
from gllint_rules.reading import facts
from gllint_rules.rule import Rule
from gllint_rules.words.names import ANSWER_CALLS, ANSWER_KEYWORDS

HELP = 'Declare it as `Claimed[Quantity]`, or use sourced mode: `mode = "sourced"`.'


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each numeric field of an agent's answer: ``Agent(output_type=Answer)``, ``Answer.total``."""
    visited: set[facts.Class] = set()
    for expr, scope in _answer_types(context):
        for of in _models(context.eval(expr, scope)):
            yield from _fields(context, of, visited)


def _answer_types(context: Context) -> Iterator[tuple[facts.Expr, facts.Scope]]:
    """Yield the types of answers, with their scopes: ``Answer`` of ``Agent(output_type=Answer)``."""
    module = context.module
    for call, scope in module.calls_where(
        lambda s: not ANSWER_KEYWORDS.isdisjoint(s.keywords) or not ANSWER_CALLS.isdisjoint(s.calls)
    ):
        yield from ((value, scope) for name, value in call.keywords if name in ANSWER_KEYWORDS)
        if facts.last_name(call.func) in ANSWER_CALLS:
            schema = call.keyword("schema") or next(iter(call.placed()), None)
            if schema is not None:
                yield schema, scope


def _models(value: Value) -> Iterator[ClassOf]:
    """Yield the classes that a type argument names: ``Answer``, ``[Answer, Refusal]``."""
    for option in options(value):
        if isinstance(option, ClassOf):
            yield option
        elif isinstance(option, ListOf):
            for entry in option.items:
                yield from _models(entry.value)


def _fields(context: Context, of: ClassOf, visited: set[facts.Class]) -> Iterator[Pending]:
    """Yield the numeric fields of a model of the project, and of those inside it."""
    for ancestor in classes.ancestors(context.evaluator, of):
        if not isinstance(ancestor, ClassOf) or ancestor.cls in visited:
            continue
        visited.add(ancestor.cls)
        for name, bindings in ancestor.cls.scope.bindings.items():
            annotation = next((b.annotation for b in bindings if b.annotation is not None), None)
            value = context.evaluator.field(ancestor, name) if annotation is not None else None
            if annotation is None or value is None:
                continue
            if number(value) is not None and not context.policy.is_plain(name):
                message = (
                    f"field `{name}` of `{of.cls.name}` is a number that the language model writes itself"
                )
                yield context.finding("GL406", Site(ancestor.module, annotation.at), message, HELP)
            for inner in _inner_models(value):
                yield from _fields(context, inner, visited)


def _inner_models(value: Value) -> Iterator[ClassOf]:
    """Yield the models in the value of a field: ``Part``, ``list[Part]``."""
    for option in options(value):
        if isinstance(option, Instance):
            yield option.of
        elif isinstance(option, Container) and option.rest is not None:
            yield from _inner_models(option.rest)


RULE = Rule(
    code="GL406",
    name="number-in-answer-model",
    summary="An answer model has a field that is a bare number",
    documentation=__doc__ or "",
    check=check,
    options=("plain-keys", "plain-kinds", "mode"),
)
