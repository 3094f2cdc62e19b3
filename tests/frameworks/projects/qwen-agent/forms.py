"""A weather desk."""

from qwen_agent.agents import Assistant
from qwen_agent.tools.base import BaseTool, register_tool

PLACE = [{"name": "place", "type": "string", "description": "Where.", "required": True}]


@register_tool("gusts")
class Gusts(BaseTool):
    description = "Gusts of a place."
    parameters = PLACE

    def call(self, params, **kwargs) -> dict:  # tool
        place = self._verify_json_format_args(params)["place"]
        return {"place": place, "gusts": 71.5}  # GL101 @ 71.5

    def raw(self, place: str) -> float:
        return 70.875


class Pressure(BaseTool):
    name = "pressure"
    description = "Pressure of a place."
    parameters = PLACE

    def call(self, params, **kwargs):  # tool
        return {"pressure": {"value": 1013.5, "unit": "kW"}}


@register_tool("clouds")
class Clouds(BaseTool):
    description = "Clouds of a place."
    parameters = PLACE

    def call(self, params, **kwargs) -> str:  # tool
        return "few"


desk = Assistant(
    llm={"model": "qwen-max", "api_key": "none"}, function_list=["gusts", Pressure(), {"name": "clouds"}]
)
