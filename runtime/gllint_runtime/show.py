"""How an answer shows itself: a page, a notebook cell.

Everything that a tool or a model wrote is escaped. The page is one file without a script that asks nothing of the
network; each number can be reached by keyboard, and its tooltip says where it comes from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any, NamedTuple

from gllint_runtime.policy.data_files import read
from gllint_runtime.policy.schemas import Quantity

_MAX_TEXT = 2_000


class Shown(NamedTuple):
    """What there is to show: the message in pieces (text and values in turn), and where the values come from."""

    pieces: Sequence[str]
    cited: Sequence[int]
    provenance: list[dict[str, Any]]
    returned: Sequence[Quantity]
    trace: Sequence[Mapping[str, Any]]
    violations: Sequence[dict[str, Any]] = ()


class Showing:
    """An answer that shows itself."""

    rendering: Shown

    def to_html(self) -> str:
        """Return a page: the message, each number with its source on hover and focus, and a timeline of the steps."""
        title = escape("".join(self.rendering.pieces)[:80])
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
            f"<title>{title}</title><style>body{{margin:0}}@media(prefers-color-scheme:dark){{body{{background:#0d1117}}}}"
            f"</style></head><body>{self._repr_html_()}</body></html>\n"
        )

    def _repr_html_(self) -> str:
        """Return the page's content, for a place in another one such as a notebook's cell."""
        rendering = self.rendering
        pieces = [escape(piece) for piece in rendering.pieces]
        for at, claim in zip(range(1, len(pieces), 2), rendering.cited, strict=True):
            entry = rendering.provenance[claim]
            if "verdict" in entry:
                value, lines = escape(str(entry["value"])), list(_judged(entry))
            else:
                value = escape(str(rendering.returned[claim].value))
                lines = list(_source(entry, rendering.returned[claim]))
            pairs = "".join(f"<i>{escape(name)}</i><b>{escape(text)}</b>" for name, text in lines)
            spoken = escape(f"{rendering.pieces[at]}: " + "; ".join(f"{name} {text}" for name, text in lines))
            pieces[at] = (
                f'<span class="number"><data value="{value}" tabindex="0" role="note" aria-label="{spoken}">'
                f"{pieces[at]}</data>"
                f'<span class="source" aria-hidden="true">{pairs}</span></span>'
            )
        steps = "".join(
            f'<li class="{"done" if done else "failed"}"><b>{escape(head)}</b> '
            f'<span class="more">{escape(detail)}</span>'
            f"<br><code>{escape(data)}</code></li>"
            for head, detail, data, done in _steps(rendering)
        )
        timeline = f"<h2>How it came about</h2><ol>{steps}</ol>" if steps else ""
        return f'<style>{_style()}</style><div class="gllint"><p class="message">{"".join(pieces)}</p>{timeline}</div>'

    def to_prov(self) -> dict[str, Any]:
        """Where the numbers come from, as W3C PROV-JSON: ``json.dumps`` writes it."""
        from gllint_runtime.prov import prov_document

        rendering = self.rendering
        return prov_document("".join(rendering.pieces), rendering.provenance, rendering.returned)


@cache
def _style() -> str:
    return read("../show.css")


def _source(entry: Mapping[str, Any], quantity: Quantity) -> Iterator[tuple[str, str]]:
    """Yield what is shown for a number: its call, arguments, path, value and conversion."""
    yield "Tool call", f"{entry['tool_name']} ({entry['call_id']})"
    yield "Arguments", _data(entry["arguments"])
    yield "Path", str(entry["path"])
    yield "Returned", _text(quantity)
    if conversion := _conversion(entry, quantity):
        yield "Conversion", conversion
    ungrounded = [origin for origin in entry.get("origins", ()) if origin["origin"] == "none"]
    if ungrounded:
        yield "No origin for", ", ".join(f"{origin['path']} = {origin['value']}" for origin in ungrounded[:5])


def _judged(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the rows, label and text, that say what a plain number rests on: ("Verdict", "sourced"), ("Tool call",
    …).
    """
    yield "Verdict", str(entry["verdict"])
    if entry["source_call_id"] is not None:
        yield "Tool call", f"{entry['tool_name']} ({entry['source_call_id']})"
        yield "Path", str(entry["path"])
    if entry["value"] is not None:
        yield "Source", f"{entry['value']} {entry['unit'] or ''}".strip()
    if entry["derived"] is not None:
        yield "Derived", str(entry["derived"]["how"])
        for source in entry["derived"]["from"][:6]:
            yield "From", f"{source['value']} {source['unit'] or ''} ({source['call_id']} {source['path']})"


def _conversion(entry: Mapping[str, Any], quantity: Quantity) -> str | None:
    claimed = Quantity(**entry["quantity"])
    return None if claimed.unit == quantity.unit else f"claimed as {_text(claimed)} = {_text(quantity)}"


def _steps(rendering: Shown) -> Iterator[tuple[str, str, str, bool]]:
    """Yield the head, detail, data and success of each step of a run; without a trace, of each call that is cited."""
    for entry in rendering.trace:
        if entry["kind"] == "tool":
            detail = f"{entry['call_id'] or 'failed'}, {entry['duration_ms']:.1f} ms"
            refused = entry["validation"].get("error", {}).get("message")
            data = f"{_data(entry['input'])} → {_data(entry['observation'] if entry['success'] else refused)}"
            yield f"Tool {entry['tools'][0]}", detail, data, entry["success"]
        elif entry["kind"] == "model":
            detail = f"{str(entry['decision']).replace('_', ' ')}, {entry['duration_ms']:.1f} ms"
            refused = entry["validation"].get("message") if isinstance(entry["validation"], Mapping) else None
            yield "Model", detail, refused or _data(entry["observation"]), entry["success"]
        else:
            yield "Start", str(entry["input"].get("mode", "")), _data(entry["input"]), True
    if not rendering.trace:
        calls = {entry["call_id"]: entry for entry in rendering.provenance if "call_id" in entry}
        for call_id, entry in calls.items():
            yield f"Tool {entry['tool_name']}", call_id, _data(entry["arguments"]), True


def _text(quantity: Quantity) -> str:
    return f"{quantity.value} {quantity.unit}"


def _data(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"
