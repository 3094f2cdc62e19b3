"""The part of the configuration that decides what is a finding.

Each list *adds to* the defaults of :mod:`gllint_rules.words.names`; names are dotted or their last part.
Which codes are selected, files excluded and how findings are shown belongs to the program, not here.
"""

from __future__ import annotations

from typing import NamedTuple


class Settings(NamedTuple):
    """Rule options as configured by the project; an empty tuple means "the defaults alone"."""

    extend_units: tuple[str, ...] = ()
    strict_units: bool = False
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
    # Not a key of its own: whether GL405 is selected, which looks at every file that imports a tool.
    audit: bool = False
