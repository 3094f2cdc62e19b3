"""The part of the configuration that decides what is a finding.

Each list *adds to* the defaults of :mod:`gllint_rules.words.names` and of the framework table; a name is dotted, or the
last part of a dotted one. The program has the settings for selected codes, excluded files and the form of the output.
"""

from __future__ import annotations

from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.settings import Policy


class Settings(NamedTuple):
    """Rule options as configured by the project; an empty tuple means "the defaults alone"."""

    # Settings that apply at execution, too: units, plain numbers, claim paths, what a message may show.
    policy: Policy = Policy()
    tool_classes: tuple[str, ...] = ()
    tool_decorators: tuple[str, ...] = ()
    tool_methods: tuple[str, ...] = ()
    result_payloads: tuple[str, ...] = ()
    dispatchers: tuple[str, ...] = ()
    registry_modules: tuple[str, ...] = ()
    final_message_names: tuple[str, ...] = ()
    final_message_calls: tuple[str, ...] = ()
    # Rows of the framework table, each as JSON of what is written (see `frameworks.toml`).
    frameworks: tuple[str, ...] = ()
    # An environment, by its folder or interpreter, whose packages are read for their types.
    python: str | None = None
    # The following are no keys of the configuration; they are derived from it.
    # A digest of the packages in that environment, and the folders that contain them.
    packages: tuple[str, ...] = ()
    # Whether GL405 is selected, which looks at every file that imports a tool.
    audit: bool = False
    # Whether GL103 is selected, which reports a list of numbers instead of GL102.
    lists: bool = True
    # Words that the rules of installed packages look for in files.
    needles: tuple[str, ...] = ()

    def reads_like(self, other: Settings) -> bool:
        """Return whether inference gives the same values with both: they differ only in allowed numbers and units."""
        own = self.policy
        # These settings are applied after the inference, so a difference in them does not count.
        policy = other.policy._replace(
            packs=own.packs,
            plain_keys=own.plain_keys,
            plain_kinds=own.plain_kinds,
            units=own.units,
            quantity_shapes=own.quantity_shapes,
            extend_units=own.extend_units,
        )
        return self == other._replace(policy=policy)
