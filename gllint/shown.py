"""How text from files and their names is printed: on one line, without characters that a terminal would obey."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gllint_runtime.policy.wording import visible as visible

if TYPE_CHECKING:
    from gllint_rules import Failure


def quoted(value: Any) -> str:
    """Return plain data as JSON, and TOML for strings, with every unprintable character escaped."""
    import json  # not at the top, for fast starts

    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else "".join(s if s.isprintable() else _escaped(s) for s in text)


def toml(value: Any) -> str:
    """Return plain data as TOML on one line: ``{ keywords = ["actions"] }``."""
    if isinstance(value, dict):
        parts = (f"{toml_key(key)} = {toml(item)}" for key, item in value.items())
        return f"{{ {', '.join(parts)} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml, value))}]"
    return quoted(value)


def toml_key(name: str) -> str:
    """Return a name as a key of TOML: ``GL4`` bare, ``"tests/"`` quoted."""
    is_bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if is_bare else quoted(name)


def _escaped(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


def silence(package: str) -> None:
    """Turn off a package's log for the rest of this process: gllint reports what matters itself."""
    import logging  # not at the top, for fast starts

    logging.getLogger(package).setLevel(logging.CRITICAL + 1)


def failure_text(failure: Failure, *paths: str) -> str:
    """Return the message for a rule that failed with one error on ``paths``; it says whose defect that is.

    Without ``paths`` the message begins with the code, like a finding.
    """
    from gllint_rules.catalogue.installed import package_of

    package = package_of(failure.code)
    if not paths:
        return f"{failure.code} failed ({package or 'a defect of gllint'}): {failure.error}"
    whose = "internal error:" if package is None else f"the package {package}:"
    more = len(paths) - 1
    rest = f" and {more} more file{'s' * (more > 1)}" if more else ""
    return f"{whose} {failure.code} failed on {paths[0]}{rest}: {failure.error}"
