"""A marina: methods that a class registers of itself."""

from fastmcp import FastMCP


class Marina:
    def __init__(self, mcp: FastMCP) -> None:
        self.mcp = mcp
        self.mcp.tool(self.moorings)
        self.mcp.tool(name="fuel")(self.diesel)
        self.mcp.add_tool(self.tide)
        mcp.resource("marina://rules")(self.rules)

    def moorings(self, pier: str) -> dict:  # tool
        """Moorings of a pier."""
        return {"moorings": 48.5}  # GL101 @ 48.5

    def diesel(self, pump: str) -> float:  # tool
        """Diesel of a pump."""
        return 1.745  # GL101 @ 1.745

    async def tide(self, day: str) -> dict:  # tool
        """The tide of a day."""
        return {"tide": {"value": 3.5, "unit": "count"}}

    def rules(self) -> dict:
        return {"speed": 5.375}

    def invoice(self, boat: str) -> dict:
        return {"sum": 310.125}


def build() -> FastMCP:
    server = FastMCP("marina")

    @server.tool
    def lights(buoy: str) -> dict:  # tool
        """Lights of a buoy."""
        return {"lights": 2.625}  # GL101 @ 2.625

    @server.prompt
    def ask() -> str:
        return "Where may I moor?"

    return server


server = build()
marina = Marina(server)
