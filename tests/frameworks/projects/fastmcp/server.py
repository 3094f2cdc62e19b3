"""A bakery's server."""

from fastmcp import FastMCP

server = FastMCP("bakery")


@server.tool()
def loaves(shop: str) -> dict:  # tool
    """Loaves that are left."""
    return {"shop": shop, "loaves": 41.5}  # GL101 @ 41.5


@server.tool(name="oven")
async def oven_temperature(oven: str) -> float:  # tool
    """Temperature of an oven."""
    return 231.5  # GL101 @ 231.5


@server.resource("bakery://recipes")
def recipes() -> dict:
    return {"flour": 500.25}


@server.prompt()
def ask_for_bread() -> str:
    return "A loaf, please."


def weigh(loaf: str) -> float:
    return 0.755


def flour(mill: str) -> dict:  # tool
    """Flour of a mill."""
    return {"flour": {"value": 25.5, "unit": "kg"}}


def yeast(mill: str) -> dict:  # tool
    """Yeast of a mill."""
    return {"yeast": 3.375}  # GL101 @ 3.375


server.add_tool(flour)
server.tool(name="yeast_of")(yeast)


class Till:
    def total(self, day: str) -> dict:  # tool
        """What a day brought."""
        return {"day": day, "total": 918.25}  # GL101 @ 918.25

    def open(self) -> float:
        return 100.125


till = Till()
server.add_tool(till.total)
