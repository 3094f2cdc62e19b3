"""A tool call that succeeded: what later claims, and the origins of later arguments, are resolved against."""

from __future__ import annotations

import hashlib
import json
import marshal
from dataclasses import dataclass
from typing import Any, NamedTuple

from gllint_runtime.policy.claims import parse_claim_path
from gllint_runtime.policy.data import Survey, copy_plain
from gllint_runtime.policy.schemas import Claim

_canonical = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, check_circular=False
).encode


class Origin(NamedTuple):
    """The origin of a number in a call's arguments.

    ``kind`` is ``"user"``, ``"tool"``, ``"constant"``, ``"schema"`` (declared by the tool itself) or ``"none"``;
    ``source`` is the constant's name or ``"tc_1 $.energy"``. ``grounded`` is false if the number has no origin, or one
    in a call with such a number. ``unit`` is the parameter's, ``source_unit`` that in which the number came, each
    ``None`` if it is not known. ``demand`` names the only origin that the tool accepts, if the number has another.
    """

    path: str
    value: Any
    kind: str
    source: str | None = None
    grounded: bool = True
    unit: str | None = None
    source_unit: str | None = None
    demand: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the origin as plain data; units and a demand are left out if they are unknown."""
        path, value, kind, source, _, unit, source_unit, demand = self
        data = {"path": path, "value": value, "origin": kind, "source": source}
        if unit is not None:
            data["unit"] = unit
        if source_unit is not None:
            data["source_unit"] = source_unit
        if demand is not None:
            data["demand"] = demand
        return data


@dataclass(eq=False)
class CallRecord:
    """A call with its verified output; ``origins`` is ``None`` if they were not looked for."""

    call_id: str
    tool_name: str
    arguments: dict[str, Any]
    output: Survey
    origins: tuple[Origin, ...] | None
    _hash: str | None = None  # of the output, computed once however many claims cite it

    def __post_init__(self) -> None:
        self.grounded = None if self.origins is None else not [o for o in self.origins if not o.grounded]
        # Approximately its size in bytes.
        self.size = 500 + len(marshal.dumps(self.arguments, 2)) + self.output.size

    @property
    def output_hash(self) -> str:
        """The SHA-256 of the output."""
        if self._hash is None:
            canonical = _canonical(self.output.data).encode("utf-8", "surrogatepass")
            self._hash = f"sha256:{hashlib.sha256(canonical).hexdigest()}"
        return self._hash

    def basis_of(self, claim: Claim) -> str | None:
        """Return the basis that the tool's schema declares of what a claim cites; ``None``: it declares none."""
        bases = self.output.bases
        if not bases:
            return None
        steps = parse_claim_path(claim.path, arrays=True)
        return bases.get(steps) or bases.get(self.output.odd_paths.get(tuple(map(str, steps)), steps))

    def provenance(self, claim: Claim) -> dict[str, Any]:
        """Return a claim with its whole chain: tool, arguments, their origins, and a SHA-256 hash of the output."""
        entry = {
            "source_call_id": claim.source_call_id,
            "path": claim.path,
            "quantity": claim.quantity.to_dict(),
            "tool_name": self.tool_name,
            "call_id": self.call_id,
            "arguments": copy_plain(self.arguments),
            "output_hash": self.output_hash,
        }
        if basis := self.basis_of(claim):
            entry["basis"] = basis
        if self.origins is not None:
            entry["origins"] = [origin.to_dict() for origin in self.origins]
            entry["grounded"] = self.grounded
        return entry
