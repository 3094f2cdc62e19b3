"""What the audit and the guard say of an answer that rests on one result of a tool called ``meter``."""

from __future__ import annotations

import json
from typing import Any

from gllint.guard.exchange import Guard
from gllint_runtime import Policy, audit_run


def refused_by_audit(user: str, data: Any, answer: str) -> set[str]:
    """Return the numbers, as the answer has them, that the audit of the recorded conversation refuses."""
    call = {"id": "tc_1", "function": {"name": "meter", "arguments": "{}"}}
    run = [
        {"role": "user", "content": user},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "tc_1", "content": json.dumps(data)},
        {"role": "assistant", "content": answer},
    ]
    return {
        str(one["text"]) for one in audit_run(run).numbers if one["verdict"] in ("unsourced", "mislabelled")
    }


def passes_guard(data: dict[str, Any], answer: str) -> bool:
    """Return whether ``verify_answer`` of a guard passes the answer."""
    guard = Guard(Policy(), "block")
    guard.from_client(_call(1, "meter", {}))
    guard.from_server({"jsonrpc": "2.0", "id": 1, "result": {"content": [], "structuredContent": data}})
    [sent] = guard.from_client(_call(2, "verify_answer", {"message": answer}))
    return not sent.message["result"]["isError"]


def _call(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
