"""Write the parts of the documentation that the program itself knows: ``python docs/generate.py``.

The rule pages are what ``gllint rule`` prints; the tables and the output in README.md stand between
``<!-- name -->`` and ``<!-- /name -->``. A test holds the files to what this makes of them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from gllint.cli.explaining import rules_text
from gllint.files.config import schema
from gllint_rules import RULES, Rule

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = REPOSITORY / "docs" / "rules"
README = REPOSITORY / "README.md"


def documents() -> dict[Path, str]:
    """The files as they should be."""
    pages = {PAGES / f"{rule.name}.md": rules_text(rule.code, "text") for rule in RULES.values()}
    index = f"# Rules\n\n{rule_table('')}"
    return {**pages, PAGES / "README.md": index, README: readme()}


def readme() -> str:
    """README.md with its generated parts renewed."""
    text = README.read_text("utf-8")
    for name, part in {
        "output": f"```console\n$ gllint check examples/building-energy\n{example_output()}```\n",
        "rules": rule_table("docs/rules/"),
        "configuration": configuration_table(),
    }.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        pattern = re.compile(f"(?<={re.escape(begin)}).*?(?={re.escape(end)})", re.DOTALL)
        assert pattern.search(text), f"README.md has no {begin}"
        text = pattern.sub(lambda _, part=part: part, text)
    return text


def rule_table(folder: str) -> str:
    """The catalogue as a table whose codes link to the pages in ``folder``."""
    rows = [
        f"| [{r.code}]({folder}{r.name}.md) | {r.name} | {_summary(r)} | {r.fix} |" for r in RULES.values()
    ]
    return "\n".join(["| code | name | reports that | fix |", "|---|---|---|---|", *rows, ""])


def _summary(rule: Rule) -> str:
    summary = rule.summary[0].lower() + rule.summary[1:]
    return summary if rule.default else f"{summary} (opt-in)"


def configuration_table() -> str:
    """The keys of ``[tool.gllint]`` with what they mean."""
    rows = [f"| `{key}` | {value['description']} |" for key, value in schema()["properties"].items()]
    return "\n".join(["| key | meaning |", "|---|---|", *rows, ""])


def example_output() -> str:
    """What ``gllint check`` prints about the example project."""
    done = subprocess.run(
        [sys.executable, "-m", "gllint", "check", "--no-cache", "examples/building-energy"],
        cwd=REPOSITORY,
        env={**os.environ, "NO_COLOR": "1", "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1, done.stdout
    return done.stdout


def main() -> None:
    """Write the files and remove the pages of rules that are no more."""
    wanted = documents()
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    for path in PAGES.glob("*.md"):
        if path not in wanted:
            path.unlink()


if __name__ == "__main__":
    main()
