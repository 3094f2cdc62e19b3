"""The tools that know about heating."""

from typing import Any

from advisor.cities import CITIES, EMISSION_FACTORS, HEAT_LOSS
from gllint_runtime import Tool

HOURS_A_DAY = 24


def annual_heat(city: str, floor_area: float, standard: str) -> float:
    """Return the heat that a building loses in a year, in kWh."""
    watts_per_degree = floor_area * HEAT_LOSS[standard]
    return watts_per_degree * CITIES[city].heating_degree_days * HOURS_A_DAY / 1000


def heat_demand(city: str, floor_area: float, standard: str) -> dict[str, Any]:
    """Say how much heat a building needs in a year."""
    demand = annual_heat(city, floor_area, standard)
    return {"city": city, "heat_demand_kwh": {"value": demand, "unit": "kWh"}}


def heating_emissions(city: str, floor_area: float, standard: str, source: str) -> dict[str, Any]:
    """Say what heating a building for a year emits."""
    heat = annual_heat(city, floor_area, standard)
    return {"emissions": {"value": round(heat * EMISSION_FACTORS[source], 2), "unit": "kgCO2e"}}


BUILDING = {
    "city": {"type": "string", "enum": ["Lyon", "Oslo", "Porto"]},
    "floor_area": {"type": "number", "exclusiveMinimum": 0, "description": "square metres"},
    "standard": {"type": "string", "enum": ["uninsulated", "insulated"]},
}

HEAT_DEMAND = Tool(
    name="heat_demand",
    description="The heat that a building needs in a year",
    args_schema={
        "type": "object",
        "required": ["city", "floor_area", "standard"],
        "properties": BUILDING,
    },
    result_schema={
        "type": "object",
        "required": ["city", "heat_demand_kwh"],
        "properties": {
            "city": {"type": "string"},
            "heat_demand_kwh": {"$ref": "greenlang://schemas/quantity.json"},
        },
    },
    fn=heat_demand,
)

HEATING_EMISSIONS = Tool(
    name="heating_emissions",
    description="What heating a building for a year emits",
    args_schema={
        "type": "object",
        "required": ["city", "floor_area", "standard", "source"],
        "properties": {**BUILDING, "source": {"type": "string", "enum": ["gas", "oil", "heat pump"]}},
    },
    result_schema={
        "type": "object",
        "required": ["emissions"],
        "properties": {"emissions": {"$ref": "greenlang://schemas/quantity.json"}},
    },
    fn=heating_emissions,
)
