"""What the physics needs to know of a place."""

from dataclasses import dataclass


@dataclass(frozen=True)
class City:
    """``sunshine`` is what a square metre of panels yields in a year, in kWh."""

    heating_degree_days: float
    sunshine: float


CITIES = {
    "Lyon": City(heating_degree_days=2340, sunshine=215),
    "Oslo": City(heating_degree_days=3980, sunshine=165),
    "Porto": City(heating_degree_days=1330, sunshine=262),
}

HEAT_LOSS = {"uninsulated": 2.4, "insulated": 0.8}
"""Watts that leave through a square metre of floor for each degree of difference."""

EMISSION_FACTORS = {"gas": 0.202, "oil": 0.266, "heat pump": 0.018}
"""Kilograms of CO2 equivalent for each kilowatt-hour of heat."""
