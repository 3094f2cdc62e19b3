"""What gllint prints about itself: its rules, its configuration, its units, its cache."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gllint.errors import UsageError, nearest
from gllint.files.config import Config, schema, value_of
from gllint.files.paths import absolute
from gllint.files.places import Places, fixed_config
from gllint.run import cache
from gllint.shown import toml, visible
from gllint_rules import RULES, Rule

if TYPE_CHECKING:
    from gllint_runtime import Policy
    from gllint_runtime.policy.units import UnitVerdict


def rules_text(code: str | None, output_format: str, every: bool = False) -> str:
    """Return the pages of the rules that ``code`` selects, or of ``every`` rule; else a list of all rules.

    ``code`` is a code (GL101), the beginning of several (GL1), or a name. Raises :class:`UsageError`.
    """
    family = [rule for rule in RULES.values() if every or (code and rule.code.startswith(code.upper()))]
    if code is not None and (len(family) < 2 or code.upper() in RULES):
        rule = _rule(code, family)
        return json.dumps(_entry(rule), indent=2) + "\n" if output_format == "json" else _page(rule)
    if output_format == "json":
        return json.dumps([_entry(rule) for rule in family or RULES.values()], indent=2) + "\n"
    if family:
        return "\n".join(map(_page, family))
    width = max(len(rule.name) for rule in RULES.values())
    return "".join(_row(rule, width) for rule in RULES.values())


def schema_text() -> str:
    """Return the JSON Schema of the configuration."""
    return json.dumps(schema(), indent=2) + "\n"


def config_text(path: str, config_file: str | None, isolated: bool) -> str:
    """Return the settings in force for a file or folder as TOML, each with where it came from."""
    config = config_for(path, config_file, isolated)
    lines = [
        f"# {visible(config.source)}"
        if config.source
        else "# No configuration was found; these are the defaults."
    ]
    lines += [_line(config, key) for key in schema()["properties"]]
    return "\n".join([*lines, f"# codes in force: {', '.join(sorted(config.codes))}"]) + "\n"


def key_text(key: str, config_file: str | None, isolated: bool) -> str:
    """Return what a key of the configuration means, and its value in force here. Raises :class:`UsageError`."""
    keys = schema()["properties"]
    if key not in keys:
        hint = nearest(key, list(keys), "; gllint config lists the keys")
        raise UsageError(f"{key}: neither a file, a folder nor a key of the configuration{hint}")
    return f"# {keys[key]['description']}\n{_line(config_for('.', config_file, isolated), key)}\n"


def _line(config: Config, key: str) -> str:
    value = value_of(config, key)
    origin = config.origins.get(key, "default")
    return f"# {key}: not set" if value is None else f"{key} = {toml(value)}  # {visible(origin)}"


def units_text(output_format: str, pack: str | None = None) -> str:
    """Return the allowed units with their dimension, or those of one ``pack``, which need not be allowed here.

    The project's own units have no known dimension: in its place is ``extend-units``. Raises :class:`UsageError`.
    """
    from gllint_runtime.policy.packs import PACKS
    from gllint_runtime.policy.unit_table import pack_units
    from gllint_runtime.policy.units import ALLOWED_UNITS, dimension_of

    policy = config_for(".", None, False).rules.policy
    if pack is not None and pack not in PACKS:
        hint = nearest(pack, PACKS)
        raise UsageError(f"--pack: unknown unit pack '{pack}'{hint}; the packs are {', '.join(PACKS)}")
    packs = (pack,) if pack is not None else policy.packs
    units = {} if pack is not None else dict(ALLOWED_UNITS)
    for unit in policy.extend_units if pack is None else ():
        units.setdefault(unit, "extend-units")
    for unit in pack_units(packs):
        units.setdefault(unit, dimension_of(unit, packs=packs) or "")
    if output_format == "json":
        return (
            json.dumps([{"unit": unit, "dimension": kind} for unit, kind in units.items()], indent=2) + "\n"
        )
    width = max(map(len, units))
    rows = "".join(f"{visible(unit):<{width}}  {kind}".rstrip() + "\n" for unit, kind in units.items())
    if pack is not None:
        return rows + _allowing(pack, policy.packs)
    if policy.strict_units:
        return rows
    return rows + "\nCompounds of these, also with units of time, are allowed too: kWh/year, kgCO2e/kWh.\n"


def _allowing(pack: str, allowed: Sequence[str]) -> str:
    if pack in allowed:
        return "\nThe configuration of this folder allows them.\n"
    line = f"unit-packs = {toml((*allowed, pack))}"
    return f"\nThey are not allowed here; `{line}` in the configuration allows them.\n"


def frameworks_text(output_format: str) -> str:
    """Return the framework table with the project's own rows, as text or JSON. Raises :class:`UsageError`."""
    from gllint_rules.words.framework_table import configured

    rows = configured(config_for(".", None, False).rules).written
    if output_format == "json":
        return json.dumps(rows, indent=2) + "\n"
    blocks: list[str] = []
    for row in rows:
        head = f"{row['name']} ({row['verified']})" if row.get("verified") else row["name"]
        lines = (
            f"  {key}: {_inline(value)}" for key, value in row.items() if key not in ("name", "verified")
        )
        blocks.append("\n".join([head, *lines]))
    return "\n\n".join("\n".join(map(visible, block.split("\n"))) for block in blocks) + "\n"


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_inline(item)}" if item else name for name, item in value.items())
    return ", ".join(map(_inline, value)) if isinstance(value, (list, tuple)) else str(value)


def unit_text(unit: str, *, explain: bool = False) -> tuple[str, bool]:
    """Return a text that says why a unit is allowed or not in the current folder, and whether it is allowed.

    With ``explain``, the text begins with the steps by which the unit is read.
    """
    policy = config_for(".", None, False).rules.policy
    verdict = policy.judge(unit)
    allowed = verdict.status == "allowed"
    if explain:
        from gllint.cli.unit_steps import unit_steps

        steps = "".join(f"{step}\n" for step in unit_steps(unit, policy))
        verdict_text, _ = unit_text(unit)
        return f"{steps}{verdict_text}", allowed
    missing_packs = () if allowed else _missing_packs(unit, policy)
    dimension = verdict.dimension
    if missing_packs:  # a unit of ours, even if pint reads `1` or `count` in another way
        status, reason = (
            "not allowed",
            f"{_of_packs(missing_packs)}, not listed in `unit-packs` here.",
        )
        dimension = policy.with_settings(packs=(*policy.packs, *missing_packs)).judge(unit).dimension
    else:
        status, reason = verdict.status.replace("-", " "), verdict.reason
    lines = [f"{unit!r} is {status}. {reason}"]
    if dimension is not None:
        lines.append(f"dimension: {dimension}")
    if not allowed:
        lines.append(_advice(verdict, policy))
    elif verdict.symbol != unit:
        lines.append(f"written: {verdict.symbol}")
    return "\n".join(lines) + "\n", allowed


def _missing_packs(unit: str, policy: Policy) -> tuple[str, ...]:
    """Return the packs to add to the configuration so that a unit is allowed, ``()`` if no pack has it."""
    from gllint_runtime.policy.units import packs_for

    packs = tuple(pack for pack in packs_for(unit) or () if pack not in policy.packs)
    wider_policy = policy.with_settings(packs=(*policy.packs, *packs))
    return packs if packs and wider_policy.judge(unit).status == "allowed" else ()


def _of_packs(packs: Sequence[str]) -> str:
    names = [f"`{pack}`" for pack in packs]
    if len(names) == 1:
        return f"It is a unit of the pack {names[0]}"
    return f"It is made of units of the packs {', '.join(names[:-1])} and {names[-1]}"


def _advice(verdict: UnitVerdict, policy: Policy) -> str:
    """Say what to do about a unit that is not allowed, or how to write one that equals an allowed unit."""
    from gllint_rules.project.kinds import unit_advice

    advice = unit_advice(policy, verdict)
    # After the sentence about the unit in question, "it" would not be the nearest one.
    return advice.replace("Allow it with", f"Allow `{verdict.nearest}` with") if verdict.nearest else advice


def clean_caches(paths: Sequence[str], cache_dir: str | None) -> Iterable[str]:
    """Remove the cache at ``cache_dir``, or those of the projects at ``paths``, and yield a line about each."""
    from gllint.run.engine import Engine

    for path in paths:
        if not os.path.exists(path):
            raise UsageError(f"{path}: no such file or folder")
    if cache_dir:
        folders = {cache.cache_folder(cache_dir)}
    else:
        engine = Engine()
        places = [engine.places.project(_folder(path)) for path in paths]
        folders = {folder for place in places if (folder := engine.cache_dir(place)) is not None}
    for folder in sorted(folders):
        removed, foreign_files = cache.clean(folder)
        if removed:
            yield f"Removed {folder}" if not foreign_files else f"Removed what gllint wrote in {folder}"
        if foreign_files:
            tail = f" and {len(foreign_files) - 1} more" if len(foreign_files) > 1 else ""
            yield f"Kept what gllint did not write: {visible(foreign_files[0])}{tail}"


def config_for(path: str, config_file: str | None, isolated: bool) -> Config:
    """Return the configuration in force for a file or folder. Raises :class:`UsageError`."""
    if not os.path.exists(path):
        raise UsageError(f"{path}: no such file or folder")
    return Places(lambda config: config, fixed_config(config_file, isolated)).project(_folder(path)).config


def _folder(path: str) -> str:
    full = absolute(path)
    return full if os.path.isdir(full) else os.path.dirname(full)


def _rule(word: str, family: Sequence[Rule]) -> Rule:
    """Return the rule with that code or name, else the only rule of ``family``. Raises :class:`UsageError`."""
    matches = [rule for rule in RULES.values() if word.upper() == rule.code or word.lower() == rule.name]
    if matches or family:
        return [*matches, *family][0]
    names = [*RULES, *(rule.name for rule in RULES.values())]
    raise UsageError(f"unknown rule '{word}'{nearest(word, names, '; gllint rule lists them')}")


def _entry(rule: Rule) -> dict[str, Any]:
    """Return a rule as JSON data."""
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "default": rule.default,
        "fix": rule.fix,
        "since": rule.since,
        "options": list(rule.options),
        "documentation": rule.documentation,
        "url": rule.url or None,
    }


def _row(rule: Rule, width: int) -> str:
    remarks = [] if rule.default else ["opt-in"]
    remarks += [] if rule.fix == "none" else [f"fix: {rule.fix_text}"]
    tail = f" ({', '.join(remarks)})" if remarks else ""
    return f"{rule.code}  {rule.name:<{width}}  {rule.summary}{tail}\n"


def _page(rule: Rule) -> str:
    state = "on by default" if rule.default else "opt-in: select it by its code"
    facts = f"{state}; fix: {rule.fix_text}; since {rule.since}"
    facts += f"; {rule.url}" if rule.url else ""
    return f"# {rule.code} {rule.name}\n\n{facts}\n\n{rule.documentation.strip()}\n"
