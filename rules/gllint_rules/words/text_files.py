"""Which files contain templates and prompts that are no Python, by their names."""

from __future__ import annotations

from typing import Literal

TextKind = Literal["jinja", "markup", "plain", "yaml", "json"]

_KINDS: dict[str, TextKind] = {
    ".j2": "jinja",
    ".jinja": "jinja",
    ".jinja2": "jinja",
    ".md": "markup",
    ".markdown": "markup",
    ".mdx": "markup",
    ".html": "markup",
    ".htm": "markup",
    ".txt": "plain",
    ".text": "plain",
    ".tmpl": "plain",
    ".tpl": "plain",
    ".template": "plain",
    ".prompt": "plain",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
}
TEXT_SUFFIXES = tuple(_KINDS)
# What shows results to people: pages, the templates of pages, and the scripts behind them.
PAGE_SUFFIXES = (
    *(suffix for suffix, kind in _KINDS.items() if kind == "jinja" or suffix in (".html", ".htm", ".tmpl")),
    *(".js", ".jsx", ".mjs", ".ts", ".tsx", ".vue", ".svelte"),
)
# The prefix of such a file's path or name in lists whose other entries are modules.
TEXT_MARK = "text:"


def text_kind(path: str) -> TextKind | None:
    """Return what a file contains, by its name; ``None`` if that is not a template, prompt or data of prompts."""
    name = path.rpartition("/")[2]
    return _KINDS.get(f".{name.rpartition('.')[2].lower()}") if "." in name else None
