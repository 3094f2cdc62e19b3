"""What could be put into the configuration because of a finding, and which of that takes it away."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gllint.files.config import Config, value_of
from gllint.shown import quoted
from gllint_rules import Finding
from gllint_rules.tuples import NamedTuple

# What the help may propose without changing what the policy asks for.
KEYS = ("unit-packs", "plain-kinds", "plain-keys", "dispatchers")
SWITCHES = ("array-paths",)
# The kinds that no claim is ever made of.
PLAIN_KINDS = ("count", "index", "identifier")
# What takes the finding away: a pack of units only allows the unit to return the number in.
_SETTLING = ("plain-kinds", "plain-keys")
# The rules that a plain key silences.
_OF_KEYS = ("GL101", "GL201")
_LINE = re.compile(rf"`((?:{'|'.join(KEYS)}) = \[[^`\n]*?\])`")
_SWITCH = re.compile(rf"`({'|'.join(SWITCHES)}) = true`")


def asked_by(finding: Finding, config: Config) -> Iterator[tuple[str, list[str]]]:
    """Yield the settings that would remove a finding, each with the items that ``config`` lacks.

    Example: ``"plain-keys", ["*_id"]``.

    A kind of number (``plain-kinds``) goes before the pattern of its key, and before a pack of units.
    """
    kind = _plain_kind(finding)
    yield from _lacking(
        [("plain-kinds", [kind])] if kind is not None else _proposed_settings(finding), finding, config
    )


def named_by(finding: Finding, config: Config) -> Iterator[tuple[str, list[str]]]:
    """Yield the keys of ``[tool.gllint]`` that the help of a finding names, each with the items that
    ``config`` lacks.
    """
    yield from _lacking(_proposed_settings(finding), finding, config)


def _lacking(
    requests: Iterable[tuple[str, list[str]]], finding: Finding, config: Config
) -> Iterator[tuple[str, list[str]]]:
    for key, items in requests:
        new = [item for item in items if item not in value_of(config, key)]
        if new:
            yield key, new


def switches_asked_by(finding: Finding, config: Config) -> list[str]:
    """Return the keys that the help of a finding says are to be ``true``, where ``config`` has them not."""
    return [key for key in _SWITCH.findall(finding.help) if not value_of(config, key)]


class Settled(NamedTuple):
    """Findings that lines of configuration settle, and these ``lines``."""

    findings: Sequence[Finding] = ()
    lines: Sequence[str] = ()


def settled(findings: Sequence[Finding], config_of: Callable[[str], Config]) -> Settled:
    """Return the findings that the settings of :func:`asked_by` remove, with the lines of configuration that do it.

    A finding stays if a second key at its place stays, or if its key also has a number of another kind.
    """
    requests: dict[str, dict[str, set[str]]] = {}
    others = uncounted_keys(findings)

    def asked(finding: Finding) -> Iterator[tuple[str, list[str]]]:
        for key, new in asked_by(finding, config_of(finding.path)):
            if key == "plain-kinds" or (key == "plain-keys" and is_counted(finding, others)):
                yield key, new

    for finding in findings:
        items = requests.setdefault(config_of(finding.path).source, {key: set() for key in _SETTLING})
        for key, new in asked(finding):
            items[key].update(new)
    gone = [f for f in findings if _is_settled(f, requests[config_of(f.path).source])]
    removing: dict[str, set[str]] = {}
    for finding in gone:
        for key, new in asked(finding):
            removing.setdefault(key, set()).update(new)
    lines = [
        f"{key} = [{', '.join(map(quoted, sorted(values)))}]" for key, values in sorted(removing.items())
    ]
    return Settled(gone, lines)


def uncounted_keys(findings: Iterable[Finding]) -> frozenset[str]:
    """Return the keys under which one of the findings is a number that no expression counts: none of them is plain."""
    numbers = (finding for finding in findings if finding.code in _OF_KEYS and finding.kind != "count")
    return frozenset(key for finding in numbers for key in finding.keys)


def is_counted(finding: Finding, others: Collection[str]) -> bool:
    """Return whether only an expression counts the number of a finding, and no key of its is among ``others``."""
    return finding.kind == "count" and not any(key in others for key in finding.keys)


def _is_settled(finding: Finding, items: Mapping[str, Collection[str]]) -> bool:
    from gllint_runtime.policy.names import is_plain

    if not finding.keys or not any(items.values()) or finding.code not in _OF_KEYS:
        return False
    return all(is_plain(key, items["plain-keys"], items["plain-kinds"]) for key in finding.keys)


def _plain_kind(finding: Finding) -> str | None:
    """Return the kind that the key of a number says (``n_users`` → "count"), if such numbers may be declared
    plain; else ``None``.
    """
    if finding.kind not in PLAIN_KINDS or finding.what not in ("number", finding.kind) or not finding.keys:
        return None
    from gllint_runtime.policy.names import is_plain

    kind = finding.kind
    return kind if all(is_plain(key, (), (kind,)) for key in finding.keys) else None


def _proposed_settings(finding: Finding) -> Iterator[tuple[str, list[str]]]:
    """Yield the settings that the help of a finding proposes: `` `plain-keys = ["*_id"]` `` → plain-keys, *_id."""
    for line in _LINE.findall(finding.help):
        try:
            table: dict[str, Any] = tomllib.loads(line)
        except tomllib.TOMLDecodeError:  # not a complete line of configuration
            continue
        yield from table.items()
