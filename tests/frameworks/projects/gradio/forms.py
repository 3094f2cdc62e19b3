"""A pond."""

import gradio as gr


def depth(pond: str) -> dict:  # tool
    """Depth of a pond."""
    return {"depth": 1.875}  # GL101 @ 1.875


def fish(pond: str) -> float:  # tool
    """Fish in a pond."""
    return 46.5  # GL101 @ 46.5


@gr.mcp.tool(name="weeds")
def weeds(pond: str) -> dict:  # tool
    """Weeds of a pond."""
    return {"weeds": 7.625}  # GL101 @ 7.625


@gr.mcp.resource("pond://{name}")
def birds(name: str) -> str:
    """Birds of a pond."""
    return "ducks"


def frogs(pond: str) -> dict:
    return {"frogs": 12.25}


with gr.Blocks() as app:
    name, answer, button = gr.Textbox(), gr.JSON(), gr.Button()
    button.click(depth, name, answer)
    button.click(weeds, name, answer)
    gr.api(fish)

if __name__ == "__main__":
    app.launch(mcp_server=True)
