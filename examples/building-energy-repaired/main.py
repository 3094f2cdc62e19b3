"""Ask the agent two questions and print a report: ``python main.py``."""

import json

from advisor.agent import answer
from advisor.messages import FINAL_MESSAGE_HEAT, FINAL_MESSAGE_SOLAR
from advisor.model import ScriptedModel
from advisor.report import site_report

HEAT_QUESTION = "My house in Oslo is not insulated and has 140 square metres. How much heat does it need?"
SOLAR_QUESTION = "What would 30 square metres of solar panels in Porto yield?"


def main() -> None:
    """Run the example."""
    house = {"city": "Oslo", "floor_area": 140, "standard": "uninsulated"}
    heat = ScriptedModel("heat_demand", house, FINAL_MESSAGE_HEAT, "$.heat_demand_kwh")
    print(answer(heat, HEAT_QUESTION))
    roof = {"city": "Porto", "panel_area": 30}
    solar = ScriptedModel("solar_yield", roof, FINAL_MESSAGE_SOLAR, "$.solar_yield")
    print(answer(solar, SOLAR_QUESTION))
    print(json.dumps(site_report("Lyon", 95, 24)))


if __name__ == "__main__":
    main()
