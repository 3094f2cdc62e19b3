"""A ski resort."""

from nat.builder.builder import Builder
from nat.builder.function_info import FunctionInfo
from nat.cli.register_workflow import register_function
from nat.data_models.function import FunctionBaseConfig


class SnowConfig(FunctionBaseConfig, name="snow"):
    pass


class LiftConfig(FunctionBaseConfig, name="lifts"):
    pass


class HutConfig(FunctionBaseConfig, name="huts"):
    pass


@register_function(config_type=SnowConfig)
async def snow(config: SnowConfig, builder: Builder):
    async def depth(slope: str) -> dict:  # tool
        """Snow of a slope."""
        return {"slope": slope, "depth": 1.675}  # GL101 @ 1.675

    async def melt(slope: str) -> float:
        return 0.315

    yield FunctionInfo.from_fn(depth, description="Snow of a slope.")


@register_function(config_type=LiftConfig)
async def lifts(config: LiftConfig, builder: Builder):
    async def queue(lift: str) -> float:  # tool
        """Minutes of waiting."""
        return 12.375  # GL101 @ 12.375

    yield queue


@register_function(config_type=HutConfig)
async def huts(config: HutConfig, builder: Builder):
    async def menu(hut: str) -> str:  # tool
        """Menu of a hut."""
        return "soup"

    yield FunctionInfo.create(single_fn=menu, description="Menu of a hut.")
