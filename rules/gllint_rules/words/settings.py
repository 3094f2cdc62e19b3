"""The part of the configuration that decides what is a finding.

Each list *adds to* the defaults of :mod:`gllint_rules.words.names` and of the framework table; names are dotted or
their last part.
Which codes are selected, files excluded and how findings are shown belongs to the program, not here.
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
    # Not a key of its own: what is installed in that environment, in short, and the folders that contain it.
    packages: tuple[str, ...] = ()
    # Nor is this: whether GL405 is selected, which looks at every file that imports a tool.
    audit: bool = False
    # Nor is this: whether GL103 is selected, which reports a series in the place of GL102.
    lists: bool = True
    # Nor is this: what the rules of installed packages look for in files.
    needles: tuple[str, ...] = ()

    def reads_like(self, other: Settings) -> bool:
        """Return whether code means the same under both: they differ at most in the numbers and units that
        they allow.
        """
        own = self.policy
        policy = other.policy._replace(
            packs=own.packs,
            plain_keys=own.plain_keys,
            plain_kinds=own.plain_kinds,
            units=own.units,
            quantity_shapes=own.quantity_shapes,
            extend_units=own.extend_units,
        )
        return self == other._replace(policy=policy)
