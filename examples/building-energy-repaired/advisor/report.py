"""The yearly report on a site, written without a model."""

from typing import Any

from advisor.dispatch import dispatch_tool
from gllint_runtime import ToolAction


def site_report(city: str, floor_area: float, panel_area: float) -> dict[str, Any]:
    """Return what the tools say of a site."""
    building = {"city": city, "floor_area": floor_area, "standard": "insulated", "source": "heat pump"}
    heating = dispatch_tool(ToolAction(name="heating_emissions", args=building))
    solar = dispatch_tool(ToolAction(name="solar_yield", args={"city": city, "panel_area": panel_area}))
    return {"heating": heating, "solar": solar}
