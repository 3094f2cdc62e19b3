"""The fields of :class:`~gllint_runtime.policy.settings.Policy` as keywords: whose constructor takes which."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from datetime import date

    from gllint_runtime.policy.levels import Level

ArgumentOrigin = Literal["off", "record", "strict"]
Mode = Literal["claims", "sourced"]
ArgumentUnits = Literal["refuse", "convert", "record", "off"]
JsonText = Literal["record", "strict"]
OriginKind = Literal["numbers", "dates", "identifiers"]


class OutputSettings(TypedDict, total=False):
    """The schema keywords for tool outputs."""

    extend_units: Collection[str]
    strict_units: bool
    packs: Collection[str]
    plain_keys: Collection[str]
    plain_kinds: Collection[str]
    quantity_shapes: Collection[str]
    allow_raw_numbers: bool
    json_text: JsonText


class MessageSettings(TypedDict, total=False):
    """The schema keywords for messages and the arguments of calls."""

    whitelist: Collection[str]
    number_words: bool
    argument_origin: ArgumentOrigin
    argument_units: ArgumentUnits
    origin_kinds: Collection[OriginKind]
    array_paths: bool
    levels: Level | Mapping[str, Level]
    designations: bool
    units: Mapping[str, str]
    render: Callable[..., str] | None
    today: date | None


class PolicySettings(OutputSettings, MessageSettings, total=False):
    """All of them."""

    mode: Mode
