"""One frozen record of what a gate holds outputs and messages to."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any, Literal, TypedDict

from gllint_runtime.policy.number_kinds import KINDS
from gllint_runtime.policy.patterns import backtracks
from gllint_runtime.policy.units import UnitRegistry

ArgumentOrigin = Literal["off", "record", "strict"]


class OutputSettings(TypedDict, total=False):
    """What tool outputs are held to; see :class:`Policy`."""

    extend_units: Collection[str]
    strict_units: bool
    packs: Collection[str]
    plain_keys: Collection[str]
    plain_kinds: Collection[str]
    allow_raw_numbers: bool


class MessageSettings(TypedDict, total=False):
    """What messages and the arguments of calls are held to; see :class:`Policy`."""

    whitelist: Collection[str]
    number_words: bool
    argument_origin: ArgumentOrigin
    array_paths: bool


class Settings(OutputSettings, MessageSettings, total=False):
    """All of them."""


def checked_settings(settings: Any, kind: Any) -> Any:
    """``settings`` themselves. Raises TypeError for one that is not of ``kind``."""
    if unknown := settings.keys() - kind.__annotations__.keys():
        raise TypeError(f"no such setting here: {', '.join(sorted(unknown))}")
    return settings


@dataclass(frozen=True)
class Policy:
    """What counts as a unit, a number and an origin. Raises ValueError or TypeError for a setting of no use.

    ``extend_units`` and ``strict_units`` widen or narrow the units that results may carry, ``packs`` adds
    tables of them. ``plain_keys`` are patterns of keys whose numbers are not quantities, ``plain_kinds`` kinds
    of number (``"count"``) that are none where their key says that kind; ``allow_raw_numbers`` gives up the
    Quantity rule. ``whitelist`` adds regular expressions whose matches may hold digits, ``number_words``
    refuses numbers spelled out, too. ``array_paths`` lets claims cite ``$.rows[0].energy``. ``argument_origin``
    traces the numbers in arguments: ``"record"`` adds what it finds to the provenance, ``"strict"`` refuses a
    number that is neither the user's, nor a tool's, nor a constant, ``"off"`` looks at none.
    """

    extend_units: Collection[str] = ()
    strict_units: bool = False
    packs: Collection[str] = ()
    plain_keys: Collection[str] = ()
    plain_kinds: Collection[str] = ()
    whitelist: Collection[str] = ()
    number_words: bool = False
    argument_origin: ArgumentOrigin = "record"
    array_paths: bool = False
    allow_raw_numbers: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(field.default, tuple):
                if isinstance(value, str) or not all(isinstance(item, str) for item in value):
                    raise TypeError(f"{field.name} is a list of texts, not {value!r}")
                object.__setattr__(self, field.name, tuple(value))
            elif isinstance(field.default, bool) and not isinstance(value, bool):
                raise TypeError(f"{field.name} is True or False, not {value!r}")
        if self.argument_origin not in ("off", "record", "strict"):
            raise ValueError(f'argument_origin is "off", "record" or "strict", not {self.argument_origin!r}')
        if unknown := sorted(set(self.plain_kinds) - set(KINDS)):
            raise ValueError(
                f"plain_kinds: {unknown[0]!r} is no kind of number (there are {', '.join(KINDS)})"
            )
        for pattern in self.whitelist:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"whitelist: {pattern!r} is no regular expression: {error}") from None
            if backtracks(pattern):
                raise ValueError(f"whitelist: {pattern!r} can take for ever: it repeats what repeats")

    def unit_registry(self) -> UnitRegistry:
        """A registry of the units that this policy allows. Raises ValueError for a pack that does not exist."""
        return UnitRegistry(self.extend_units, strict=self.strict_units, packs=self.packs)
