"""The part of the configuration that decides what is a finding.

Each list *adds to* the defaults of :mod:`gllint_rules.words.names` and of the framework table; names are dotted or
their last part.
Which codes are selected, files excluded and how findings are shown belongs to the program, not here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gllint_rules.tuples import NamedTuple

if TYPE_CHECKING:
    from gllint_runtime.policy.units import UnitVerdict


class Settings(NamedTuple):
    """Rule options as configured by the project; an empty tuple means "the defaults alone"."""

    extend_units: tuple[str, ...] = ()
    strict_units: bool = False
    unit_packs: tuple[str, ...] = ()
    plain_keys: tuple[str, ...] = ()
    plain_kinds: tuple[str, ...] = ()
    array_paths: bool = False
    tool_classes: tuple[str, ...] = ()
    tool_decorators: tuple[str, ...] = ()
    tool_methods: tuple[str, ...] = ()
    result_payloads: tuple[str, ...] = ()
    dispatchers: tuple[str, ...] = ()
    registry_modules: tuple[str, ...] = ()
    final_message_names: tuple[str, ...] = ()
    final_message_calls: tuple[str, ...] = ()
    whitelist_patterns: tuple[str, ...] = ()
    number_words: bool = False
    # Rows of the framework table, each as JSON of what is written (see `frameworks.toml`).
    frameworks: tuple[str, ...] = ()
    # An environment, by its folder or interpreter, whose packages are read for their types.
    python: str | None = None
    # Not a key of its own: what is installed in that environment, in short, and the folders that hold it.
    packages: tuple[str, ...] = ()
    # Nor is this: whether GL405 is selected, which looks at every file that imports a tool.
    audit: bool = False
    # Nor is this: what the rules of installed packages look for in files.
    needles: tuple[str, ...] = ()

    def reads_like(self, other: Settings) -> bool:
        """Whether both tell the same of what code means: they differ at most in the numbers and units they allow."""
        return self == other._replace(
            unit_packs=self.unit_packs,
            plain_keys=self.plain_keys,
            plain_kinds=self.plain_kinds,
            extend_units=self.extend_units,
        )

    def judge(self, unit: str) -> UnitVerdict:
        """What the policy says of a unit under these settings."""
        from gllint_runtime.policy.units import judge_unit

        return judge_unit(unit, extend=self.extend_units, strict=self.strict_units, packs=self.unit_packs)

    def allows(self, unit: str) -> bool:
        """Whether the policy allows a unit under these settings."""
        from gllint_runtime.policy.units import is_allowed

        return is_allowed(unit, extend=self.extend_units, strict=self.strict_units, packs=self.unit_packs)

    def pack_symbols(self) -> frozenset[str]:
        """The units that the packs add."""
        from gllint_runtime.policy.packs import pack_units

        return frozenset(pack_units(self.unit_packs)) if self.unit_packs else frozenset()

    def is_plain(self, key: object) -> bool:
        """Whether a number under this key is declared to be no quantity."""
        if not (self.plain_keys or self.plain_kinds) or not isinstance(key, str):
            return False
        from gllint_runtime.policy.key_kinds import is_plain

        return is_plain(key, self.plain_keys, self.plain_kinds)
