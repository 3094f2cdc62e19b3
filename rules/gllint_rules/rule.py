"""A rule's record: what it means, how it is documented, and the generator that finds it.

One rule is one module in :mod:`gllint_rules.catalogue`, named ``gl101_raw_number_in_result.py``. Its module
docstring is its documentation, in fixed sections; the fenced blocks under *Bad* and *Good* are executed as
tests and printed by ``gllint rule``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from gllint_rules.tuples import NamedTuple

if TYPE_CHECKING:
    from gllint_rules.project.context import Context, Pending

# Rules that report only if they are selected by name. A list here, so that the selection loads no rule.
OPT_IN = frozenset({"GL105", "GL106", "GL405", "GL406"})

# Rules that sourced mode switches off: in that mode, answers cite numbers without macros.
OFF_IN_SOURCED_MODE = frozenset({"GL103", "GL402", "GL404", "GL406"})

FixSafety = Literal["none", "safe", "unsafe", "sometimes"]


class Rule(NamedTuple):
    """The public record of one code.

    ``needles``, of a rule that an installed package offers, are texts: a file that contains one of them is read even if
    no rule of ours could report in it. ``check`` is ``None`` for the codes that the program itself
    reports (GL900, GL901, GL902). ``documentation`` is the module's docstring: Markdown, sections *What it does*,
    *Why is this bad?*, *Bad*, *Good*, *How to fix*, *Options*, *References*.
    """

    code: str
    name: str
    summary: str
    documentation: str
    check: Callable[[Context], Iterator[Pending]] | None
    fix: FixSafety = "none"
    since: str = "0.1.0"
    options: tuple[str, ...] = ()
    needles: tuple[str, ...] = ()
    per_tool: bool = False  # one finding for each tool, also where several share a place

    @property
    def default(self) -> bool:
        """Return whether the rule is on without being selected by its code."""
        return self.code not in OPT_IN

    @property
    def fix_text(self) -> str:
        """Return how safe the fixes are, for a reader: ``"safe or unsafe"`` where it depends on the finding."""
        return "safe or unsafe" if self.fix == "sometimes" else self.fix

    @property
    def url(self) -> str:
        """The address of the rule's page; "" where gllint's pages have none, and for other packages' rules."""
        if not self.code.startswith("GL"):
            return ""
        if home := _project_url("Homepage"):
            return f"{home}/rules/{self.name}/"
        pages = _project_url("Documentation")
        return f"{pages}/rules/{self.name}.md" if pages else ""


def home_page() -> str:
    """Return the address of the project: its own site, else the repository; "" where the distribution names none."""
    return _project_url("Homepage") or _project_url("Repository")


@lru_cache(maxsize=4)
def _project_url(label: str) -> str:
    """Return an address from the metadata of the installed package."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        named = metadata("gllint").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    pairs = (entry.partition(",") for entry in named)
    return next((url.strip().rstrip("/") for name, _, url in pairs if name.strip() == label), "")
