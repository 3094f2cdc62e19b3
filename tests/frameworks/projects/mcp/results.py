"""A sports club: results with parts, tools given to the constructor, methods of a class."""

from mcp.server import MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, TextContent


def courts(day: str) -> dict:  # tool
    """Courts that are free."""
    return {"free": 6.5}  # GL101 @ 6.5


server = MCPServer("club", tools=[Tool.from_function(courts)])


@server.tool()
def score(team: str) -> CallToolResult:  # tool
    """The score of a team."""
    return CallToolResult(
        content=[TextContent(type="text", text="see the board")],
        structured_content={"team": team, "points": 71.5},  # GL101 @ 71.5
        _meta={"cache_age": 12.125},
    )


class Club:
    def __init__(self) -> None:
        self.server = MCPServer("members")
        self.server.tool()(self.members)
        self.server.tool(name="fees")(self.fee_of)

    def members(self, section: str) -> dict:  # tool
        """Members of a section."""
        return {"members": 214.5}  # GL101 @ 214.5

    def fee_of(self, member: str) -> float:  # tool
        """The fee of a member."""
        return 35.75  # GL101 @ 35.75

    def archive(self, member: str) -> dict:
        return {"boxes": 5.125}


club = Club()
members = club.server
