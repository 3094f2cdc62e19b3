"""Where the numbers of an answer come from, as W3C PROV-JSON (https://www.w3.org/submissions/prov-json/).

The message is derived from its numbers, each number from the output of a tool call, and what a call was made with from
what came before it. Records are named by their kind and number; texts of tools and models are in labels and
values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gllint_runtime.policy.schemas import Quantity

_KINDS = ("entity", "activity", "agent", "used", "wasGeneratedBy", "wasDerivedFrom", "wasAssociatedWith")


def prov_document(
    message_text: str, provenance: Sequence[Mapping[str, Any]], returned: Sequence[Quantity]
) -> dict[str, Any]:
    """Return the PROV-JSON document of a message as plain data: message, numbers, outputs and calls, and what came
    from what.
    """
    document = _Document()
    message = document.add(
        "entity", "message", {"prov:type": _name("gllint:Message"), "prov:value": message_text}
    )
    check = document.add("activity", "check", {"prov:label": "gllint"})
    gate = document.add("agent", "gate", {"prov:type": _name("prov:SoftwareAgent"), "prov:label": "gllint"})
    document.relate("wasGeneratedBy", entity=message, activity=check)
    document.relate("wasAssociatedWith", activity=check, agent=gate)
    for number, (entry, quantity) in enumerate(zip(provenance, returned, strict=True)):
        value = document.add(
            "entity",
            f"number-{number}",
            {
                "prov:type": _name("gllint:Quantity"),
                "prov:value": _typed(quantity),
                "gllint:unit": quantity.unit,
                "gllint:path": str(entry["path"]),
            },
        )
        document.relate("wasDerivedFrom", generatedEntity=value, usedEntity=_call(document, entry))
        document.relate("wasDerivedFrom", generatedEntity=message, usedEntity=value)
        document.relate("used", activity=check, entity=value)
    return {"prefix": {"gllint": "urn:gllint:"}, **{kind: of for kind, of in document.records.items() if of}}


class _Document:
    """The records of each kind, by their names."""

    def __init__(self) -> None:
        self.records: dict[str, dict[str, dict[str, Any]]] = {kind: {} for kind in _KINDS}
        self._relations: set[str] = set()
        self._numbered: dict[str, dict[str, str]] = {}

    def add(self, kind: str, name: str, attributes: Mapping[str, Any]) -> str:
        """Return a record, which has all that is said of it; its name."""
        self.records[kind].setdefault(f"gllint:{name}", {}).update(attributes)
        return f"gllint:{name}"

    def relate(self, kind: str, **ends: str) -> None:
        """A relation, unless it is there already."""
        relation = {f"prov:{role}": name for role, name in ends.items()}
        records = self.records[kind]
        if (key := json.dumps([kind, relation])) not in self._relations:
            self._relations.add(key)
            records[f"_:{kind}-{len(records) + 1}"] = relation

    def numbered(self, kind: str, what: str) -> str:
        """Return the name of what others call ``what``: its kind and a number."""
        names = self._numbered.setdefault(kind, {})
        return names.setdefault(what, f"{kind}-{len(names) + 1}")


def _call(document: _Document, entry: Mapping[str, Any]) -> str:
    """Add a call and its output to the document unless they are in it, and return the name of the output."""
    call_id = entry["call_id"]
    if f"gllint:{call_id}" in document.records["activity"]:
        return f"gllint:{call_id}-output"
    output = document.add(
        "entity",
        f"{call_id}-output",
        {"prov:type": _name("gllint:Output"), "gllint:hash": entry["output_hash"]},
    )
    call = document.add(
        "activity",
        call_id,
        {
            "prov:type": _name("gllint:ToolCall"),
            "prov:label": entry["tool_name"],
            "gllint:arguments": json.dumps(entry["arguments"], ensure_ascii=False, default=str),
        },
    )
    document.relate("wasGeneratedBy", entity=output, activity=call)
    for source in _sources(document, entry.get("origins", ())):
        document.relate("used", activity=call, entity=source)
        document.relate("wasDerivedFrom", generatedEntity=output, usedEntity=source)
    return output


def _sources(document: _Document, origins: Any) -> Iterator[str]:
    """Yield what the arguments of a call came from."""
    for origin in origins:
        kind, source = origin["origin"], str(origin["source"] or "")
        if kind == "tool":
            yield document.add(
                "entity", f"{source.partition(' ')[0]}-output", {"prov:type": _name("gllint:Output")}
            )
        elif kind == "user":
            yield document.add("entity", "user-message", {"prov:type": _name("gllint:UserMessage")})
        elif kind in ("constant", "schema"):
            name = document.numbered(kind, source)
            yield document.add(
                "entity",
                name,
                {"prov:type": _name(f"gllint:{kind.title()}"), "prov:label": source},
            )


def _name(name: str) -> dict[str, str]:
    return {"$": name, "type": "prov:QUALIFIED_NAME"}


def _typed(quantity: Quantity) -> dict[str, str]:
    """Return a number with its XML Schema type."""
    value: Any = quantity.value
    if isinstance(value, int):
        return {"$": str(value), "type": "xsd:integer"}
    if isinstance(value, Decimal):
        return {"$": f"{value:f}", "type": "xsd:decimal"}
    return {"$": str(value), "type": "xsd:string" if isinstance(value, Fraction) else "xsd:double"}
