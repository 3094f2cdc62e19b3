"""Text from elsewhere as it is shown: whatever a file contains, its name included, stays harmless on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gllint_runtime.policy.wording import visible as visible

if TYPE_CHECKING:
    from gllint_rules import Failure


def quoted(value: Any) -> str:
    """Plain data as JSON writes it, and TOML a text: no sign of it reaches a terminal or ends the line."""
    import json  # which a run that finds nothing needs none of

    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else "".join(s if s.isprintable() else _escaped(s) for s in text)


def _escaped(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


def silence(package: str) -> None:
    """Let a package log nothing for the rest of this process: what there is to say gllint says itself."""
    import logging  # which few commands need

    logging.getLogger(package).setLevel(logging.CRITICAL + 1)


def failure_text(failure: Failure, *paths: str) -> str:
    """Return what to say about a rule that failed in one way on the files shown as ``paths``: whose defect it is.

    Without ``paths`` it begins with the code, as what is reported at a place of the file does.
    """
    from gllint_rules.catalogue.installed import package_of

    package = package_of(failure.code)
    if not paths:
        return f"{failure.code} failed ({package or 'a defect of gllint'}): {failure.error}"
    whose = "internal error:" if package is None else f"the package {package}:"
    more = len(paths) - 1
    rest = f" and {more} more file{'s' * (more > 1)}" if more else ""
    return f"{whose} {failure.code} failed on {paths[0]}{rest}: {failure.error}"
