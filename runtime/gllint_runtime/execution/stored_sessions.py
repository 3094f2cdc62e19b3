"""A session as text, for a store between requests: written, signed, and verified again when it is read.

The policy is the program's own. The text's own policy is reported if it differs, and
never used: everyone who can write to the store could loosen it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Container, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from operator import getitem
from typing import Any

from gllint_runtime.execution.record import CallRecord, Origin
from gllint_runtime.policy.data import plain
from gllint_runtime.policy.errors import GLSecurityError
from gllint_runtime.policy.log import logger
from gllint_runtime.policy.outputs import OutputSchema, verified_output
from gllint_runtime.policy.parameter_units import ParameterUnit
from gllint_runtime.policy.schemas import Path
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.units import UnitRegistry

_FORM = 2
Key = str | bytes


def signed_text(stored: Mapping[str, Any], key: Key | None) -> str:
    """Return stored data as text, signed if there is a ``key``."""
    text = json.dumps({"gllint_session": _FORM, **stored})
    return text if key is None else json.dumps({"signed": text, "signature": _signature(text, key)})


def opened(text: str, key: Key | None) -> dict[str, Any]:
    """Return the session's data that :func:`signed_text` wrote; without a key, a signature is not checked.

    Raises ValueError for a text that is no session, GLSecurityError SESSION_SIGNATURE if ``key`` did not sign it.
    """
    stored = json.loads(text)
    signed = isinstance(stored, dict) and "signed" in stored
    if key is not None:
        signature = stored.get("signature") if signed else None
        if not isinstance(signature, str) or not isinstance(stored["signed"], str):
            raise GLSecurityError("SESSION_SIGNATURE", "The stored session is not signed")
        if not hmac.compare_digest(signature.encode(), _signature(stored["signed"], key).encode()):
            text = "The stored session was signed with another key, or changed since"
            raise GLSecurityError("SESSION_SIGNATURE", text)
    if signed:
        stored = json.loads(stored["signed"])
    if not isinstance(stored, dict) or stored.get("gllint_session") != _FORM:
        raise ValueError(f"no session of version {_FORM}")
    return stored


def stored_call(record: CallRecord) -> dict[str, Any]:
    """Return a call as JSON data; :func:`restored_call` reads it."""
    return {
        "id": record.call_id,
        "tool": record.tool_name,
        "arguments": record.arguments,
        "output": record.output.given,
        # Decimals and Fractions, which JSON would round.
        "exact": [
            [list(path), exact_text(quantity.value)]
            for path, quantity in record.output.quantities.items()
            if isinstance(quantity.value, (Decimal, Fraction))
            and _number_key(reduce(getitem, path, record.output.data)) is not None
        ],
        "declared": [[list(path), unit] for path, unit in record.output.declared.items()],
        "bases": [[list(path), basis] for path, basis in record.output.bases.items()],
        "origins": None if record.origins is None else [[*origin] for origin in record.origins],
    }


def _signature(text: str, key: Key) -> str:
    secret = key.encode() if isinstance(key, str) else key
    if not secret:
        raise ValueError("the key must not be empty")
    return hmac.new(secret, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def plain_policy(policy: Policy) -> dict[str, Any]:
    """Return the settings of a policy as plain data; a callable is none."""
    settings = policy._asdict()
    return settings | {"render": None, "today": policy.today and policy.today.isoformat()}


def log_policy_differences(of_program: Policy, stored: Mapping[str, Any]) -> None:
    """Log the settings in which the policy of a stored session differs from the program's."""
    settings = json.loads(json.dumps(plain_policy(of_program)))
    missing = object()
    differing = [
        name
        for name in sorted({*settings, *stored})
        if stored.get(name, missing) != settings.get(name, missing)
    ]
    if differing:
        logger.warning(
            "The session was stored with another policy; the policy of this program is used (%s)",
            ", ".join(differing[:20]),
        )


def restored_call(
    call: Mapping[str, Any], count: int, calls: Container[str], policy: Policy, units: UnitRegistry
) -> CallRecord:
    """Return a stored call, verified again.

    Raises ValueError for an id beyond ``count`` or in ``calls``, or GLError.
    """
    number = call["id"].removeprefix("tc_")
    if not number.isdecimal() or call["id"] != f"tc_{int(number)}" or not 0 < int(number) <= count:
        raise ValueError(f"no id of this session: {call['id']!r}")
    if call["id"] in calls or not isinstance(call["arguments"], dict) or not isinstance(call["tool"], str):
        raise ValueError(f"call {call['id']} is stored twice, or is malformed")
    for path, exact in call["exact"]:
        quantity = reduce(getitem, path, call["output"])
        quantity[_number_key(quantity)] = number_of(exact)
    schema = _stored_schema(call["declared"], call["bases"])
    output = verified_output(call["tool"], call["output"], policy, units, schema)
    origins = None if call["origins"] is None else tuple(Origin(*o) for o in plain(call["origins"]))
    return CallRecord(call["id"], call["tool"], plain(call["arguments"]), output, origins)


def checked_constants(constants: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a copy of declared constants, all of them finite numbers: ``{"vat": 0.19}``; empty for None.

    Raises TypeError for a value that is no number, ValueError for NaN and infinity.
    """
    if not isinstance(constants, Mapping | None):
        raise TypeError(f"constants must be a mapping of names to numbers, got {constants!r}")
    for name, value in (constants or {}).items():
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, Fraction)):
            raise TypeError(f"constants: {name!r} must be a number, got {value!r}")
        if not (value.is_finite() if isinstance(value, Decimal) else -math.inf < value < math.inf):
            raise ValueError(f"constants: {name!r} must be a finite number, got {value!r}")
    return dict(constants or {})


def _stored_schema(declared: Any, bases: Any) -> OutputSchema | None:
    """Return a schema that declares the stored units and bases, and accepts any data; ``None`` without either."""
    units = {tuple(path): str.__str__(unit) for path, unit in declared}
    by_path = {tuple(path): str.__str__(basis) for path, basis in bases}

    def declaration_at(path: Path) -> ParameterUnit:
        unit = units.get(path)
        readings = () if unit is None else (unit,)
        return ParameterUnit(readings, is_declared=unit is not None, basis=by_path.get(path))

    return OutputSchema(lambda data: None, declaration_at) if units or by_path else None


def _number_key(written: Mapping[str, Any]) -> str | None:
    """Return the key of a Quantity's number; ``None`` if that is text, which is exact."""
    key = "value" if "value" in written else "amount"
    return None if type(written.get(key)) is str else key


def exact_text(value: Any) -> Any:
    """Return a number as it is stored, to its last digit."""
    return {"exact": str(value)} if isinstance(value, (Decimal, Fraction)) else value


def number_of(stored: Any) -> Any:
    """Return the number that :func:`exact_text` stored.

    ``{"exact": "1/3"}`` → ``Fraction(1, 3)``; a plain number is unchanged.

    Raises ValueError.
    """
    if not isinstance(stored, dict):
        return stored
    text = stored["exact"]
    if len(text) > 2000:  # Python takes quadratic time to read the digits
        raise ValueError("a number is too long")
    return Fraction(text) if "/" in text else Decimal(text)
