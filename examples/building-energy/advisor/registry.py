"""The tools of the agent, all of them."""

from advisor.heating import HEAT_DEMAND, HEATING_EMISSIONS
from advisor.solar import SOLAR_YIELD
from gllint_runtime import ToolRegistry

TOOL_REGISTRY = ToolRegistry()
TOOL_REGISTRY.register(HEAT_DEMAND)
TOOL_REGISTRY.register(HEATING_EMISSIONS)
TOOL_REGISTRY.register(SOLAR_YIELD)
