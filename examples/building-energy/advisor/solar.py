"""The tool that knows about solar panels."""

from typing import Any, ClassVar

from advisor.cities import CITIES
from gllint_runtime import BaseTool, ToolCategory, ToolResult


class SolarYield(BaseTool):
    """What panels on a roof yield in a year."""

    name = "solar_yield"
    description = "What solar panels on a roof yield in a year"
    category = ToolCategory.READ_ONLY
    args_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "required": ["city", "panel_area"],
        "properties": {
            "city": {"type": "string", "enum": ["Lyon", "Oslo", "Porto"]},
            "panel_area": {"type": "number", "exclusiveMinimum": 0, "description": "square metres"},
        },
    }

    def run(self, city: str, panel_area: float) -> dict[str, Any]:
        """Say how much electricity the panels yield."""
        return {"solar_yield": {"value": panel_area * CITIES[city].sunshine, "unit": "kwh"}}

    async def execute(self, **arguments: Any) -> ToolResult:
        """Run for the registry."""
        return ToolResult(True, self.run(**arguments), self.name, self.category)


SOLAR_YIELD = SolarYield()
