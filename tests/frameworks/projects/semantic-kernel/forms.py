"""A thermostat."""

from semantic_kernel import Kernel
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.functions import kernel_function


class Climate:
    @kernel_function(description="Temperature of a room.")
    def temperature(self, room: str) -> dict:  # tool
        return {"celsius": 21.375}  # GL101 @ 21.375

    @kernel_function
    async def humidity(self, room: str) -> float:  # tool
        """Humidity of a room."""
        return 0.455  # GL101 @ 0.455

    def calibrate(self, room: str) -> float:
        return 0.125


class Blinds:
    @kernel_function(name="position")
    def position_of(self, window: str) -> dict:  # tool
        """Position of a blind."""
        return {"open": "half"}


@kernel_function(description="Battery of a sensor.")
def battery(sensor: str) -> dict:  # tool
    return {"volts": 3.275}  # GL101 @ 3.275


def plain(sensor: str) -> float:
    return 9.75


kernel = Kernel()
kernel.add_plugin(Climate(), plugin_name="climate")
kernel.add_function(plugin_name="sensors", function=battery)


@kernel.filter("function_invocation")
async def watch(context, next):
    await next(context)


agent = ChatCompletionAgent(
    service=OpenAIChatCompletion(ai_model_id="gpt-4o", api_key="none"), name="house", plugins=[Blinds()]
)
