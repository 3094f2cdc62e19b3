"""Objects: by the class that they are of, or by the fields that they were made with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import field
from msgspec.structs import force_setattr, replace

from gllint_rules.inference.values.base import UNKNOWN, Value
from gllint_rules.inference.values.collections import Record
from gllint_rules.inference.values.references import ClassOf


class Instance(Value, frozen=True):
    """An instance of a class of the project whose fields are looked up in the class.

    ``arguments`` are its type arguments: ``Context[Building]``. ``attributes`` are the arguments that its constructor
    stores in attributes, if it does nothing else.
    """

    of: ClassOf
    arguments: tuple[Value, ...] = ()
    attributes: Mapping[str, Value] = field(default_factory=dict)
    gap: bool = False  # set below

    def __post_init__(self) -> None:
        force_setattr(self, "gap", any(value is UNKNOWN or value.gap for value in self.attributes.values()))

    @property
    def identity(self) -> object:
        return self if self.arguments else (Instance, self.of.cls)

    def merged(self, others: Sequence[Instance]) -> Instance:
        # Instances that were created with different arguments have only their class in common.
        is_same = all(self.attributes is other.attributes for other in others)
        return self if is_same else replace(self, attributes={})


class ModelInstance(Record, frozen=True, kw_only=True):
    """An instance of a class of the project whose fields are what its constructor was given."""

    of: ClassOf


class QuantityInstance(Record, frozen=True):
    """The instance that a call of a class named ``Quantity`` makes, with any fields.

    ``of`` is its class, if the project defines it.
    """

    of: ClassOf | None = None

    def as_dict(self) -> QuantityInstance:
        return self  # as a dict it is a Quantity still


class Envelope(Record, frozen=True):
    """The part of an instance that the model sees, where a framework takes the instance apart.

    ``of`` is its class, if the project defines it.
    """

    of: ClassOf | None = None


def class_of(value: Value) -> ClassOf | None:
    """Return the class of the project that an object is an instance of."""
    return value.of if isinstance(value, (Instance, Record)) else None
