"""A dairy: the functions of a group."""

from nat.builder.builder import Builder
from nat.builder.function import FunctionGroup
from nat.cli.register_workflow import register_function_group
from nat.data_models.function import FunctionGroupBaseConfig


class DairyConfig(FunctionGroupBaseConfig, name="dairy"):
    pass


class CheeseConfig(FunctionGroupBaseConfig, name="cheese"):
    pass


@register_function_group(config_type=DairyConfig)
async def dairy(config: DairyConfig, builder: Builder):
    group = FunctionGroup(config=config)

    async def fat(farm: str) -> dict:  # tool
        """Fat of the milk of a farm."""
        return {"farm": farm, "fat": 4.175}  # GL101 @ 4.175

    async def churns(farm: str) -> float:  # tool
        """Churns that a farm brings."""
        return 31.625  # GL101 @ 31.625

    async def price(farm: str) -> float:
        return 0.435

    group.add_function(name="fat", fn=fat, description=fat.__doc__)
    group.add_function("churns", churns, description=churns.__doc__)

    yield group


class Cellar(FunctionGroup):
    def __init__(self, config: CheeseConfig):
        super().__init__(config=config)
        self.add_function(name="ripe", fn=self._ripe, description="Days that a wheel lay.")

    async def _ripe(self, wheel: str) -> dict:  # tool
        return {"wheel": wheel, "days": 97.5}  # GL101 @ 97.5

    async def _turn(self, wheel: str) -> dict:
        return {"wheel": wheel, "turns": 11.25}


@register_function_group(config_type=CheeseConfig)
async def cheese(config: CheeseConfig, builder: Builder):
    yield Cellar(config)
