"""The section *Where numbers come from*: each tool, what it returns in which unit, and the messages that claim it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gllint.report import Report
from gllint.report.html.markup import html_text
from gllint_rules import ToolAt

if TYPE_CHECKING:
    from gllint_rules.check.map import MappedClaim, MappedTool, Message, ReturnedNumber

_MOST_TEXT = 600


def sections(report: Report) -> Iterator[str]:
    """Yield the lines of the section: a card for each tool with numbers, a list of the others, the final messages."""
    tools = [tool for project_map in report.maps for tool in project_map.tools]
    messages = [message for project_map in report.maps for message in project_map.messages]
    ids = {tool.tool: f"t{i}" for i, tool in enumerate(tools)}
    claiming = _claiming(messages)
    yield '<section id="map" aria-labelledby="map-title">\n<h2 id="map-title">Where numbers come from</h2>'
    yield (
        '<p class="quiet">The tools, the numbers that they return with their units, and the final messages that '
        "claim these, as far as the source shows it. Test code is left out.</p>"
    )
    if any(project_map.is_cut for project_map in report.maps):
        yield "<p>There are more tools and messages than are shown here.</p>"
    with_numbers = [tool for tool in tools if tool.returned or tool.is_cut]
    yield '<div class="cards">'
    for tool in with_numbers:
        yield from _tool(tool, report, ids[tool.tool], claiming)
    yield "</div>"
    without_numbers = [tool for tool in tools if not (tool.returned or tool.is_cut)]
    if without_numbers:
        count = len(without_numbers)
        subject = f"{count} tools return" if count > 1 else "1 tool returns"
        yield f'<details class="card"><summary>{subject} no number that the source shows</summary><ul>'
        yield from (f"<li>{_named(tool, report, ids[tool.tool])}</li>" for tool in without_numbers)
        yield "</ul></details>"
    if not tools:
        yield "<p>No tools were found.</p>"
    if messages:
        yield '<h3>Final messages</h3>\n<div class="cards">'
        yield from (_message(i, message, report, ids) for i, message in enumerate(messages))
        yield "</div>"
    yield "</section>"


def _claiming(messages: Sequence[Message]) -> dict[tuple[ToolAt, str], list[int]]:
    """Map each tool and path of a number to the indexes of the messages that claim it."""
    claimants: dict[tuple[ToolAt, str], list[int]] = {}
    for index, message in enumerate(messages):
        for claim in message.claims or ():
            for tool in claim.tools if claim.path is not None else ():
                indexes = claimants.setdefault((tool, claim.path or ""), [])
                if index not in indexes:
                    indexes.append(index)
    return claimants


def _named(tool: MappedTool, report: Report, name: str) -> str:
    of = f"{html_text(tool.framework)}, " if tool.framework else ""
    where = f"{report.show(tool.tool.path)}:{_line(report, tool.tool.path, tool.span.line)}"
    return (
        f'<b id="{name}"><code>{html_text(tool.tool.name or "(no name)")}</code></b> '
        f'<span class="quiet">{of}<span class="where">{html_text(where)}</span></span>'
    )


def _line(report: Report, path: str, line: int) -> str:
    cell = report.cell(path, line)
    return str(line) if cell is None else f"cell {cell.cell}:{cell.line}"


def _tool(
    tool: MappedTool, report: Report, name: str, claiming: Mapping[tuple[ToolAt, str], list[int]]
) -> Iterator[str]:
    """Yield the card of a tool: what it returns, in which units, and which messages claim it."""
    yield f'<div class="card"><h3>{_named(tool, report, name)}</h3>'
    if tool.returned:
        yield '<table><thead><tr><th scope="col">returns</th><th scope="col">unit</th><th scope="col">claimed by</th>'
        yield "</tr></thead><tbody>"
        for returned in tool.returned:
            claims = claiming.get((tool.tool, returned.path), [])
            links = ", ".join(f'<a href="#m{index}">message {index + 1}</a>' for index in claims)
            yield (
                f"<tr><td><code>{html_text(returned.path)}</code></td><td>{_unit(returned)}</td>"
                f"<td>{links or '<span class=quiet>–</span>'}</td></tr>"
            )
        yield "</tbody></table>"
    if tool.is_cut:
        yield '<p class="quiet">A result of this tool is too large to be checked.</p>'
    yield "</div>"


def _unit(returned: ReturnedNumber) -> str:
    """Return the unit of a returned number, or that it has none."""
    if returned.is_shown:
        return '<span class="quiet">shown by the output</span>'
    if not returned.is_quantity:
        what = returned.kind or ""
        kind = f' <span class="quiet">({what})</span>' if what else ""
        return f'<span class="bad">no unit</span>{kind}'
    if returned.unit is None:
        return '<span class="quiet">not written out</span>'
    if not returned.is_allowed:
        return f'<span class="bad"><code>{html_text(returned.unit)}</code> is not allowed</span>'
    return f'<code class="good">{html_text(returned.unit)}</code>'


def _message(index: int, message: Message, report: Report, ids: Mapping[ToolAt, str]) -> str:
    """Return the card of a message, with its claims."""
    where = f"{report.show(message.path)}:{_line(report, message.path, message.span.line)}"
    text = message.text if len(message.text) <= _MOST_TEXT else f"{message.text[:_MOST_TEXT]}…"
    parts = [
        f'<div class="card" id="m{index}"><h4>Message {index + 1} '
        f'<span class="quiet where">{html_text(where)}</span></h4>'
        f"<p>{html_text(text)}</p>"
    ]
    if message.claims is None:
        parts.append('<p class="quiet">Its claims are only known at run time.</p>')
    elif message.claims:
        items = "".join(f"<li>{_claim(i, claim, ids)}</li>" for i, claim in enumerate(message.claims))
        parts.append(f"<ul>{items}</ul>")
    return "".join(parts) + "</div>"


def _claim(index: int, claim: MappedClaim, ids: Mapping[ToolAt, str]) -> str:
    """Return a claim in words: ``{{claim:0}} is $.total in kWh of meter``."""
    path = (
        f"<code>{html_text(claim.path)}</code>"
        if claim.path is not None
        else "a path that is only known at run time"
    )
    unit = f" in <code>{html_text(claim.unit)}</code>" if claim.unit is not None else ""
    links = [_linked(tool, ids) for tool in claim.tools]
    of = f" of {', '.join(links)}" if links else ""
    return f"<code>{{{{claim:{index}}}}}</code> is {path}{unit}{of}"


def _linked(tool: ToolAt, ids: Mapping[ToolAt, str]) -> str:
    name = f"<code>{html_text(tool.name)}</code>"
    return f'<a href="#{ids[tool]}">{name}</a>' if tool in ids else name
