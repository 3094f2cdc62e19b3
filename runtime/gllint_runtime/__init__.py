"""The policy on numbers, units and claims, and its enforcement when tools run.

No number reaches the user unless it came from a validated tool output, has a recognised unit, and is tied
to explicit provenance. Names load on first use, so that importing the policy alone stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gllint_runtime.policy.version import __version__ as __version__

if TYPE_CHECKING:
    from gllint_runtime.audit.audit import Audit as Audit
    from gllint_runtime.audit.audit import audit_run as audit_run
    from gllint_runtime.execution.approval import ToolCategory as ToolCategory
    from gllint_runtime.execution.calculate import calculate as calculate
    from gllint_runtime.execution.claimed import Claimed as Claimed
    from gllint_runtime.execution.claimed import ClaimedText as ClaimedText
    from gllint_runtime.execution.claimed import Unclaimed as Unclaimed
    from gllint_runtime.execution.claimed import current_session as current_session
    from gllint_runtime.execution.claimed import using as using
    from gllint_runtime.execution.dispatch import TOOL_REGISTRY as TOOL_REGISTRY
    from gllint_runtime.execution.dispatch import dispatch_tool as dispatch_tool
    from gllint_runtime.execution.dispatch import sanitize_args as sanitize_args
    from gllint_runtime.execution.final_schema import final_schema as final_schema
    from gllint_runtime.execution.registry import ToolRegistry as ToolRegistry
    from gllint_runtime.execution.runtime import ToolRuntime as ToolRuntime
    from gllint_runtime.execution.session import Refused as Refused
    from gllint_runtime.execution.session import Session as Session
    from gllint_runtime.execution.session import Verified as Verified
    from gllint_runtime.execution.sourced import drop_sentences as drop_sentences
    from gllint_runtime.execution.steps import ToolAction as ToolAction
    from gllint_runtime.execution.tools import BaseTool as BaseTool
    from gllint_runtime.execution.tools import Tool as Tool
    from gllint_runtime.execution.tools import ToolResult as ToolResult
    from gllint_runtime.execution.typed import tool as tool
    from gllint_runtime.execution.verdicts import trace_break as trace_break
    from gllint_runtime.policy.annotations import Unit as Unit
    from gllint_runtime.policy.configuration import ConfigurationError as ConfigurationError
    from gllint_runtime.policy.errors import GLDataError as GLDataError
    from gllint_runtime.policy.errors import GLError as GLError
    from gllint_runtime.policy.errors import GLProvenanceError as GLProvenanceError
    from gllint_runtime.policy.errors import GLRuntimeError as GLRuntimeError
    from gllint_runtime.policy.errors import GLSecurityError as GLSecurityError
    from gllint_runtime.policy.errors import GLValidationError as GLValidationError
    from gllint_runtime.policy.numbers import scan_naked_numbers as scan_naked_numbers
    from gllint_runtime.policy.schemas import QUANTITY_SCHEMA as QUANTITY_SCHEMA
    from gllint_runtime.policy.schemas import Claim as Claim
    from gllint_runtime.policy.schemas import Quantity as Quantity
    from gllint_runtime.policy.settings import Policy as Policy
    from gllint_runtime.policy.units import UnitRegistry as UnitRegistry
    from gllint_runtime.providers.scripted import Recorder as Recorder
    from gllint_runtime.providers.scripted import Replayer as Replayer
    from gllint_runtime.providers.scripted import ScriptedProvider as ScriptedProvider


_HOMES = {
    "audit.audit": "Audit audit_run",
    "execution.approval": "ToolCategory",
    "execution.calculate": "calculate",
    "execution.claimed": "Claimed ClaimedText Unclaimed current_session using",
    "execution.dispatch": "TOOL_REGISTRY dispatch_tool sanitize_args",
    "execution.final_schema": "final_schema",
    "execution.registry": "ToolRegistry",
    "execution.runtime": "ToolRuntime",
    "execution.session": "Refused Session Verified",
    "execution.sourced": "drop_sentences",
    "execution.steps": "ToolAction",
    "execution.typed": "tool",
    "execution.verdicts": "trace_break",
    "execution.tools": "BaseTool Tool ToolResult",
    "policy.annotations": "Unit",
    "policy.configuration": "ConfigurationError",
    "policy.errors": "GLDataError GLError GLProvenanceError GLRuntimeError GLSecurityError GLValidationError",
    "policy.numbers": "scan_naked_numbers",
    "policy.schemas": "QUANTITY_SCHEMA Claim Quantity",
    "policy.settings": "Policy",
    "policy.units": "UnitRegistry",
    "providers.scripted": "Recorder Replayer ScriptedProvider",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [*_HOME_OF]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value
