"""A quarry."""

from griptape.artifacts import InfoArtifact, JsonArtifact, TextArtifact
from griptape.tools import BaseTool
from griptape.utils.decorators import activity
from schema import Literal, Schema

PLACE = Schema({Literal("pit", description="A pit"): str})


class Quarry(BaseTool):
    @activity(config={"description": "Stone of a pit", "schema": PLACE})
    def stone(self, values: dict) -> JsonArtifact:  # tool
        return JsonArtifact({"stone": 64.5})  # GL101 @ 64.5

    @activity(config={"description": "Depth of a pit", "schema": PLACE})
    def depth(self, values: dict) -> dict:  # tool
        return {"depth": 21.75}  # GL101 @ 21.75

    @activity(config={"description": "Owner of a pit", "schema": PLACE})
    def owner(self, values: dict) -> TextArtifact:  # tool
        return TextArtifact("the village", meta={"share": 0.125})

    @activity(config={"description": "Age of a pit", "schema": PLACE})
    def age(self, values: dict) -> InfoArtifact:  # tool
        return InfoArtifact({"age": 140.5})  # GL101 @ 140.5

    def dust(self, values: dict) -> dict:
        return {"dust": 3.375}


quarry = Quarry()
