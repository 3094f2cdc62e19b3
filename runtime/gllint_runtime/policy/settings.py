"""One frozen record of the settings of both moments: what counts as a unit, a quantity and a number.

A project writes it into ``[tool.gllint]``. The rules check the source against it, a gate the outputs and messages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from gllint_runtime.policy.kinds import KINDS
from gllint_runtime.policy.tuples import NamedTuple

if TYPE_CHECKING:
    from datetime import date
    from typing import Self, Unpack

    from gllint_runtime.policy.configuration import Problem, Table
    from gllint_runtime.policy.keywords import ArgumentOrigin, ArgumentUnits, JsonText, Mode, PolicySettings
    from gllint_runtime.policy.levels import Level, Levels
    from gllint_runtime.policy.units import UnitRegistry, UnitVerdict

POLICY_KEYS: Mapping[str, str] = {
    "extend-units": "extend_units",
    "strict-units": "strict_units",
    "unit-packs": "packs",
    "plain-keys": "plain_keys",
    "plain-kinds": "plain_kinds",
    "quantity-shapes": "quantity_shapes",
    "units": "units",
    "array-paths": "array_paths",
    "whitelist-patterns": "whitelist",
    "number-words": "number_words",
    "mode": "mode",
    "designations": "designations",
}
"""The keys of ``[tool.gllint]`` that apply at execution, too, with the fields of :class:`Policy` that they set."""

_KEY_OF = {field: key for key, field in POLICY_KEYS.items()}
# What only an agent's session has is no key.
_SHAPES: Mapping[str, Mapping[str, Any]] = {
    "argument_origin": {"enum": ["off", "record", "strict"]},
    "argument_units": {"enum": ["refuse", "convert", "record", "off"]},
    "allow_raw_numbers": {"type": "boolean"},
    "json_text": {"enum": ["record", "strict"]},
    "origin_kinds": {
        "type": "array",
        "uniqueItems": True,
        "items": {"enum": ["numbers", "dates", "identifiers"]},
    },
}


class _Fields(NamedTuple):
    """The fields of :class:`Policy`."""

    extend_units: tuple[str, ...] = ()
    strict_units: bool = False
    packs: tuple[str, ...] = ()
    plain_keys: tuple[str, ...] = ()
    plain_kinds: tuple[str, ...] = KINDS
    whitelist: tuple[str, ...] = ()
    number_words: bool = False
    argument_origin: ArgumentOrigin = "record"
    array_paths: bool = False
    allow_raw_numbers: bool = False
    argument_units: ArgumentUnits = "refuse"
    levels: Levels = "block"
    json_text: JsonText = "record"
    origin_kinds: tuple[str, ...] | None = None
    quantity_shapes: tuple[str, ...] = ()
    mode: Mode = "claims"
    designations: bool = False
    units: tuple[tuple[str, str], ...] = ()
    render: Callable[..., str] | None = None
    today: date | None = None


class Policy(_Fields):
    """What counts as a unit, a number and an origin. Raises ValueError or TypeError for a setting of no use.

    ``extend_units`` and ``strict_units`` widen or narrow the units that results may have, ``packs`` adds
    tables of them. ``plain_keys`` are patterns of keys whose numbers are not quantities. ``plain_kinds`` are kinds of
    number that are none where their key says that kind: all three by default, none with ``()``.
    ``allow_raw_numbers`` gives up the
    Quantity rule. ``quantity_shapes`` are other ways to write a Quantity that count: ``"fhir"``, ``"schema.org"``,
    ``"money"``, ``"open-mhealth"``. ``whitelist`` adds regular expressions whose matches may contain digits,
    ``number_words`` rejects numbers spelled out, too. ``array_paths`` lets claims cite ``$.rows[0].energy``.
    ``argument_origin`` traces the numbers in arguments: ``"record"`` adds what it finds to the provenance,
    ``"strict"`` rejects a number that is neither the user's, nor a tool's, nor a constant, ``"off"`` looks at none;
    ``origin_kinds`` are some of ``"numbers"``, ``"dates"`` and ``"identifiers"``; by default all of them in sourced
    mode, and numbers alone in claims mode.
    ``argument_units`` checks the units of their parameters: ``"refuse"`` rejects a bare number that an earlier
    output has in another unit, ``"convert"`` converts it and says so, ``"record"`` only traces it. All but ``"off"``
    convert Quantities.
    ``levels`` says what a violation does, all or by code: ``"block"``, ``"warn"`` (it is shown and logged),
    ``"shadow"`` (the trace alone has it). ``json_text`` says whether raw numbers in JSON text of a tool
    without result schema are kept, but cannot be claimed (``"record"``), or rejected (``"strict"``).
    ``mode="sourced"`` checks plain numbers in place of claims; ``units`` are those of bare
    numbers, by patterns of keys, or tool and path (``{"meter.$.heat": "kWh"}``);
    ``render`` formats what a claim shows, ``today`` is the day of the
    conversation, and ``designations`` lets names with digits (``iPhone 15``) pass in claims mode.
    """

    __slots__ = ()

    def __new__(cls, **settings: Unpack[PolicySettings]) -> Self:
        """Check the settings that differ from the defaults. Lists are kept as tuples."""
        return super().__new__(cls, **{field: _usable(field, value) for field, value in settings.items()})

    @classmethod
    def seeds(cls) -> Self:
        """Return the policy of the seeds: every number is a Quantity and every number of a message is claimed."""
        return cls(plain_kinds=())

    @classmethod
    def from_project(cls, path: str | os.PathLike[str] = ".") -> Self:
        """Return the policy in ``[tool.gllint]`` of the project that ``path``, a file or a folder, is in.

        That is the nearest ``gllint.toml`` or ``pyproject.toml`` with such a table upwards, as for
        ``gllint check``; or ``path`` itself if it is such a file. Without one the defaults apply. Raises
        :class:`~gllint_runtime.policy.configuration.ConfigurationError`, a ValueError of one line, for faults in
        it.
        """
        from gllint_runtime.policy.configuration import table_for

        table = table_for(os.fspath(path))
        return cls() if table is None else cls.of_table(table)

    @classmethod
    def of_table(cls, table: Table) -> Self:
        """Return the policy in a table whose shape is checked: ``strict-units = true`` → ``strict_units=True``."""
        settings: dict[str, Any] = {
            field: tuple(value) if isinstance(value, list) else _pairs(value) if field == "units" else value
            for key, value in table.entries.items()
            if (field := POLICY_KEYS.get(key)) is not None
        }
        if table.entries.get("strict") and "plain-kinds" not in table.entries:
            settings["plain_kinds"] = ()
        return super().__new__(cls, **settings)

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]:
        return (), self._asdict()

    def with_settings(self, **settings: Unpack[PolicySettings]) -> Self:
        """This policy but for ``settings``. Raises as the constructor does."""
        changes = {field: _usable(field, value) for field, value in settings.items()}
        return super().__new__(type(self), **self._asdict() | changes)

    @property
    def kinds_with_origin(self) -> tuple[str, ...]:
        """Return the kinds of values in arguments that need an origin: ``origin_kinds``, or those of the mode."""
        if self.origin_kinds is not None:
            return self.origin_kinds
        return ("numbers", "dates", "identifiers") if self.mode == "sourced" else ("numbers",)

    def level(self, code: str) -> Level:
        """Return what a violation with this code does."""
        from gllint_runtime.policy.levels import level_of

        return level_of(self.levels, code)

    def unit_registry(self) -> UnitRegistry:
        """Return a registry of the units that this policy allows."""
        from gllint_runtime.policy.units import UnitRegistry

        return UnitRegistry(self.extend_units, strict=self.strict_units, packs=self.packs)

    def judge(self, unit: str) -> UnitVerdict:
        """Return the verdict on a unit under this policy."""
        from gllint_runtime.policy.units import judge_unit

        return judge_unit(unit, extend=self.extend_units, strict=self.strict_units, packs=self.packs)

    def allows(self, unit: str) -> bool:
        """Return whether a result may have a unit."""
        from gllint_runtime.policy.units import is_allowed

        return is_allowed(unit, extend=self.extend_units, strict=self.strict_units, packs=self.packs)

    def pack_symbols(self) -> frozenset[str]:
        """Return the units that the packs add."""
        from gllint_runtime.policy.unit_table import pack_units

        return frozenset(pack_units(self.packs)) if self.packs else frozenset()

    def unit_declared(self, key: str | None, tool: str, path: str) -> str | None:
        """Return the unit that the setting ``units`` declares for a number; ``None`` if it declares none.

        ``{"heat": "kWh"}`` matches the ``key``, ``{"meter.$.heat": "kWh"}`` the ``tool`` and ``path``.
        """
        from fnmatch import fnmatchcase

        for pattern, unit in self.units:
            at = f"{tool}.{path}" if ".$" in pattern else key
            if at is not None and (pattern == at or fnmatchcase(at, pattern)):
                return unit
        return None

    def is_plain(self, key: object, value: object = 0, beside: Collection[str] = ()) -> bool:
        """Return whether a number under this key is no quantity; of a kind are integral numbers alone."""
        if not (self.plain_keys or self.plain_kinds) or not isinstance(key, str):
            return False
        from gllint_runtime.policy.names import is_plain

        return is_plain(key, self.plain_keys, self.plain_kinds, value, beside)


def combined(policy: Policy | None, settings: Mapping[str, Any], kind: type) -> Policy:
    """``policy``, or the defaults, but for ``settings``: keywords of ``kind``. Raises ValueError or TypeError."""
    if policy is not None and not isinstance(policy, Policy):
        raise TypeError(f"policy must be a Policy, not {type(policy).__name__}")
    if unknown := settings.keys() - kind.__annotations__.keys():
        raise TypeError(f"unknown settings: {', '.join(sorted(unknown))}")
    return (policy or Policy()).with_settings(**settings)


def _usable(field: str, value: Any) -> Any:
    """Return the value of a field as :class:`Policy` keeps it: a list as a tuple.

    Raises ValueError or TypeError for a bad one.
    """
    if field not in _Fields._fields:
        raise TypeError(f"Policy has no field {field!r}; its fields are {', '.join(_Fields._fields)}")
    if value is _Fields._field_defaults[field]:
        return value
    if field == "levels":
        from gllint_runtime.policy.levels import levels_of

        return levels_of(value)
    if field in ("units", "render", "today"):
        return _usable_object(field, value)
    if isinstance(value, Collection) and not isinstance(value, str | bytes):
        value = [*value]
    problem = _problem(field, value)
    if problem is not None:
        raise problem.error(f"{field}{problem.place}{problem.text}")
    return tuple(value) if isinstance(value, list) else value


def _usable_object(field: str, value: Any) -> Any:
    """Return the value of ``units``, ``render`` or ``today``, which no configuration file can hold.

    Raises TypeError.
    """
    from datetime import date, datetime

    if field == "units":
        pairs = _pairs(value)
        if all(isinstance(path, str) and isinstance(unit, str) for path, unit in pairs):
            return pairs
        raise TypeError(f"units must map paths to units, both as text, not {value!r}")
    if field == "render" and (value is None or callable(value)):
        return value
    if field == "today" and (value is None or isinstance(value, date)):
        return value.date() if isinstance(value, datetime) else value
    raise TypeError(f"{field} must be {'a callable' if field == 'render' else 'a date'}, not {value!r}")


def _pairs(units: Any) -> tuple[tuple[str, str], ...]:
    """Return a table of units as pairs; one that names a tool and a path goes before a pattern of keys."""
    rows = units.items() if isinstance(units, Mapping) else units
    return tuple(sorted(((path, unit) for path, unit in rows), key=lambda pair: (".$" not in pair[0], pair)))


def _problem(field: str, value: Any) -> Problem | None:
    from gllint_runtime.policy.configuration import schema, shape_problem

    return shape_problem(
        _SHAPES[field] if field in _SHAPES else schema()["properties"][_KEY_OF[field]], value
    )
