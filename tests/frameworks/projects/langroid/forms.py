"""A cattery."""

import langroid as lr


class CatsTool(lr.ToolMessage):
    request: str = "cats"
    purpose: str = "Cats of a room <room>."
    room: str

    def handle(self) -> dict:  # tool
        return {"room": self.room, "cats": 17.5}  # GL101 @ 17.5

    @classmethod
    def examples(cls):
        return [cls(room="north")]


class FoodTool(lr.ToolMessage):
    request: str = "food"
    purpose: str = "Food of a cat <cat>."
    cat: str


class Keeper(lr.ChatAgent):
    def food(self, msg: FoodTool) -> dict:  # tool
        return {"grams": 82.25}  # GL101 @ 82.25

    def weigh(self, cat: str) -> float:
        return 4.125

    def handle_message_fallback(self, msg):
        return None


keeper = Keeper(lr.ChatAgentConfig(llm=None, vecdb=None))
keeper.enable_message(CatsTool)
keeper.enable_message([FoodTool])
