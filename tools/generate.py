"""Write the parts of the documentation that the program itself knows: ``python tools/generate.py``.

The rule pages are what ``gllint rule`` prints; the pages of ``docs/gate`` hold the files of ``examples/gate``;
tables stand in other pages between ``<!-- name -->`` and ``<!-- /name -->``. A test holds the files to that.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from gllint.cli.commands import cli
from gllint.cli.explaining import rules_text
from gllint.files.config import Config, schema, value_of
from gllint_rules import RULES, Rule
from gllint_rules.words.framework_table import shipped
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.settings import POLICY_KEYS
from gllint_runtime.policy.unit_table import pack_units

REPOSITORY = Path(__file__).resolve().parents[1]
DOCS = REPOSITORY / "docs"
RULE_PAGES = DOCS / "rules"
GATE_PAGES = DOCS / "gate"
SITE = REPOSITORY / "zensical.toml"

# What the rules of one family ask for, by how their codes begin.
FAMILIES = {
    "GL1": "tools return Quantities",
    "GL2": "schemas declare Quantities",
    "GL3": "calls go through dispatch",
    "GL4": "final messages carry claims",
    "GL5": "units are known, and right",
    "GL6": "tools declare what a replay cannot repeat",
    "GL7": "tools declare a true category",
    "GL9": "the linter itself",
}

# Terms that other pages explain: above the examples of a rule's page, the first occurrence of each is a link.
TERMS = {
    "Quantity": "../numbers.md#a-quantity",
    "final message": "../numbers.md#a-number-in-a-message",
    "claim macro": "../runtime/claims.md",
    "claim path": "../runtime/claims.md",
    "claims mode": "../runtime/claims.md",
    "replay": "../runtime/tools.md#replay",
    "`category`": "../runtime/tools.md#approval",
    "notice": "../unread.md",
}
# What references name, and where it is explained.
LINKS = {
    "The runtime's page on arguments": "../runtime/arguments.md",
    "The runtime's `Claimed`": "../gate/README.md#structured-answers",
}
# Documents that readers of the pages cannot open. `gllint rule` names them.
UNPUBLISHED = ("DOC-601", "QREW", "human-centred")


def documents() -> dict[Path, str]:
    """Return the text of each generated file, by path."""
    rules = {RULE_PAGES / f"{rule.name}.md": rule_page(rule) for rule in RULES.values()}
    gates = {page: renewed(page, examples_of(page)) for page in sorted(GATE_PAGES.glob("*.md"))}
    return {
        **rules,
        **gates,
        DOCS / "llms.txt": index_for_models(),
        RULE_PAGES / "README.md": renewed(RULE_PAGES / "README.md", {"rules": rule_tables("")}),
        SITE: renewed(SITE, {"rules": rule_navigation()}, marker="# {}\n"),
        DOCS / "tools.md": renewed(DOCS / "tools.md", {"frameworks": frameworks()}),
        DOCS / "framework-rows.md": renewed(DOCS / "framework-rows.md", {"row": row_table()}),
        DOCS / "rules-of-your-own.md": renewed(DOCS / "rules-of-your-own.md", own_rule()),
        DOCS / "kinds.md": renewed(DOCS / "kinds.md", {"packs": packs_table()}),
        DOCS / "command-line.md": renewed(
            DOCS / "command-line.md", {"commands": commands(), "options": check_options()}
        ),
        DOCS / "configuration.md": renewed(DOCS / "configuration.md", {"configuration": configuration()}),
    }


def index_for_models() -> str:
    """Return ``llms.txt`` (llmstxt.org): the pages of the navigation with what each answers, and the rules."""
    project = tomllib.loads((REPOSITORY / "zensical.toml").read_text("utf-8"))["project"]
    lines = [f"# {project['site_name']}", "", f"> {project['site_description']}", ""]
    for entry in project["nav"]:
        [(title, pages)] = entry.items()
        if isinstance(pages, str):
            lines += ["## Overview", "", _entry_for_models(title, pages), ""]
            continue
        lines += [f"## {title}", ""]
        for part in pages:
            [(name, page)] = part.items()
            lines.append(_entry_for_models(name, page if isinstance(page, str) else page[0]))
        lines.append("")
    lines += ["## Rules", ""]
    lines += [
        f"- [{rule.code} {rule.name}](rules/{rule.name}.md): {_summary(rule)}" for rule in RULES.values()
    ]
    return "\n".join(lines) + "\n"


def _entry_for_models(title: str, page: str) -> str:
    """A line of ``llms.txt``; the question that a page begins with says what it is about."""
    text = (DOCS / page).read_text("utf-8")
    question = re.search(r"(?m)^\*([^*]+\?)\*", text)
    return f"- [{title}]({page})" + (f": {' '.join(question[1].split())}" if question else "")


def renewed(path: Path, parts: Mapping[str, str], marker: str = "<!-- {} -->\n") -> str:
    """Return a file's text with each generated part replaced: that between ``<!-- name -->`` and ``<!-- /name -->``."""
    text = path.read_text("utf-8")
    for name, part in parts.items():
        begin, end = marker.format(name), marker.format(f"/{name}").rstrip("\n")
        pattern = re.compile(f"(?<={re.escape(begin)}).*?(?={re.escape(end)})", re.DOTALL)
        assert pattern.search(text), f"{path.name} has no {begin}"
        text = pattern.sub(lambda _, part=part: part, text)
    return text


def rule_page(rule: Rule) -> str:
    """Return what ``gllint rule`` prints, with links from terms and from the references."""
    page, heading, references = rules_text(rule.code, "text").partition("\n## References\n")
    explanation, bad, rest = page.partition("\n## Bad\n")
    for term, target in TERMS.items():
        explanation = re.sub(rf"(?<![\w`[]){term}(?![\w`])", f"[{term}]({target})", explanation, count=1)
    if any(name in references for name in UNPUBLISHED):
        heading = references = ""
    for name, target in LINKS.items():
        references = references.replace(name, f"[{name}]({target})", 1)
    return re.sub(r"\n## \w+\n\nNone\.\n", "", explanation + bad + rest + heading + references)


def rule_tables(folder: str) -> str:
    """Return the catalogue as Markdown, a table for each family, whose codes link to the pages in ``folder``."""
    out = []
    for code, family in FAMILIES.items():
        rules = _rules_of(code)
        rows = [
            f"| [{r.code}]({folder}{r.name}.md) | {r.name} | {_summary(r)} | {r.fix_text} |" for r in rules
        ]
        head = [
            f"## {code}: {family}",
            "",
            "| code | name | reports that | fix |",
            "|---|---|---|---|",
        ]
        out.append("\n".join([*head, *rows, ""]))
    return "\n" + "\n".join(out) + "\n"


def rule_navigation() -> str:
    """Return the rules' pages for the navigation of the site, by family, as TOML."""
    lines = []
    for code, family in FAMILIES.items():
        lines += [f'      {{ "{code}: {family}" = [']
        lines += [f'        {{ "{r.code} {r.name}" = "rules/{r.name}.md" }},' for r in _rules_of(code)]
        lines += ["      ] },"]
    return "\n".join([*lines, "      "])


def _rules_of(family: str) -> list[Rule]:
    return [rule for rule in RULES.values() if rule.code.startswith(family)]


def _summary(rule: Rule) -> str:
    summary = rule.summary[0].lower() + rule.summary[1:]
    return summary if rule.default else f"{summary} (opt-in)"


# --- the configuration ---------------------------------------------------------------------------------------


def configuration() -> str:
    """Return the section of each key of ``[tool.gllint]``: what it means, which values it takes, and its default."""
    out = []
    for key, value in schema()["properties"].items():
        default = value_of(Config(), key)
        kind = _type(value)
        facts = [f"{kind[0].upper()}{kind[1:]}."]
        if default is not None and default != ():
            facts.append(f"Default: `{_toml(default)}`.")
        if (field := POLICY_KEYS.get(key)) is not None:
            facts.append(f"`Policy` field: `{field}`.")
        out.append(f"## {key}\n\n{value['description']}\n\n{' '.join(facts)}\n")
    return "\n" + "\n".join(out) + "\n"


def commands() -> str:
    """Return the table of commands, each with what it does."""
    rows = [
        f"| `gllint {name}` | {command.short_help} |"
        for name, command in sorted(cli.commands.items())
        if not command.hidden
    ]
    return "\n".join(["| command | does |", "|---|---|", *rows, ""])


def check_options() -> str:
    """Return the table of the options of ``gllint check``, in the order of its help."""
    rows = []
    for option in cli.commands["check"].params:
        if isinstance(option, click.Option):
            names = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len))
            taken = "" if option.is_flag else _cell(option.metavar or _choices(option))
            rows.append(f"| {names} | {taken} | {_cell(option.help or '')} |")
    return "\n".join(["| option | takes | means |", "|---|---|---|", *rows, ""])


def _choices(option: click.Option) -> str:
    return ", ".join(option.type.choices) if isinstance(option.type, click.Choice) else option.type.name


def _cell(text: str) -> str:
    """A text, escaped for a table."""
    return text.replace("|", "\\|")


def row_table() -> str:
    """Return the table of the keys of a framework row."""
    keys = schema()["$defs"]["framework"]["properties"]
    return "\n".join(
        [
            "| key | means |",
            "|---|---|",
            *(f"| `{key}` | {said['description']} |" for key, said in keys.items()),
            "",
        ]
    )


def _type(value: Mapping[str, Any]) -> str:
    """Return the type of a key in words: ``{"type": "boolean"}`` → "`true` or `false`"."""
    match value:
        case {"enum": options}:
            return f"one of {', '.join(f'`{option}`' for option in options)}"
        case {"$ref": "#/$defs/units"}:
            return "a table"
        case {"$ref": "#/$defs/strings"}:
            return "a list of strings"
        case {"$ref": "#/$defs/level"}:
            return _type(schema()["$defs"]["level"])
        case {"type": "array", "items": {"enum": options}}:
            return f"a list of {', '.join(f'`{option}`' for option in options)}"
        case {"type": "array", "items": {"$ref": "#/$defs/framework"}}:
            return "a list of tables"
        case {"type": "array"}:
            return "a list of strings"
        case {"type": "object"}:
            return "a table"
        case {"type": "boolean"}:
            return "`true` or `false`"
        case {"type": "integer"}:
            return "a whole number"
        case _:
            return "a string"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(held)}" for key, held in value.items()) + "}"
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


# --- frameworks and units ------------------------------------------------------------------------------------


def frameworks() -> str:
    """Return the table of frameworks, each with its version and the forms in which it takes tools."""
    rows = sorted((row for row in shipped().written if row["name"] != "any"), key=lambda row: row["name"])
    lines = [f"| {row['name']} | {_verified(row)} | {_forms(row)} |" for row in rows]
    return "\n".join(["| framework | verified against | forms |", "|---|---|---|", *lines, ""])


def _verified(row: Mapping[str, Any]) -> str:
    """Return what a row was checked against; of the package that it is named after, only the version."""
    against: str = row.get("verified", "its source" if row.get("imports") else "–")
    return against.removeprefix(f"{row['name']} ")


_FORMS = {
    "decorators": "decorator",
    "generators": "decorator",
    "calls": "call",
    "keywords": "list",
    "bases": "class",
    "published": "toolkit",
    "described": "described",
    "handlers": "cloud function",
}


def _forms(row: Mapping[str, Any]) -> str:
    return ", ".join(dict.fromkeys(form for key, form in _FORMS.items() if row.get(key)))


def packs_table() -> str:
    """Return the table of unit packs, each with some of its units."""
    rows = []
    for pack in PACKS:
        units = list(pack_units((pack,)))
        more = f" and {len(units) - 6} more" if len(units) > 6 else ""
        rows.append(f"| `{pack}` | {', '.join(f'`{unit}`' for unit in units[:6])}{more} |")
    return "\n".join(["| pack | allows |", "|---|---|", *rows, ""])


# --- what lies in examples --------------------------------------------------------------------------------


def own_rule() -> dict[str, str]:
    """Return the parts of the page about rules of your own: the files of the example package."""
    folder, module = (
        REPOSITORY / "examples" / "rules-of-your-own",
        "acme_rules/acme101_tool_without_description.py",
    )
    rule, package = ((folder / name).read_text("utf-8") for name in (module, "pyproject.toml"))
    package = package[package.index("[project.entry-points") : package.index("\n[tool.")]
    # More backquotes than the blocks within have.
    return {
        "rule": f'````python title="{module}"\n{rule}````\n',
        "package": f'```toml title="pyproject.toml"\n{package}```\n',
    }


def examples_of(page: Path) -> dict[str, str]:
    """Return the files of ``examples/gate`` that a page has places for, without docstring and test, by name."""
    files = re.findall(r"^<!-- (\w+\.py) -->$", page.read_text("utf-8"), re.MULTILINE)
    parts = {}
    for file in files:
        source = (REPOSITORY / "examples" / "gate" / file).read_text("utf-8")
        code = re.sub(r'\A""".*?"""\n+', "", source, flags=re.DOTALL)
        code, *_ = re.split(r"\n+# -+ does it work\?\n", code)
        parts[file] = f"```python\n{code.rstrip()}\n```\n"
    return parts


def main() -> None:
    """Write the generated files, and remove the pages of rules that no longer exist."""
    wanted = documents()
    for path, text in wanted.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    for path in RULE_PAGES.glob("*.md"):
        if path not in wanted:
            path.unlink()


if __name__ == "__main__":
    main()
