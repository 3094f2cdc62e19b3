"""A canal."""

from transformers import PreTrainedTokenizerBase


def lock(canal: str) -> dict:  # tool
    """Locks of a canal.

    Args:
        canal: Its name.
    """
    return {"locks": 17.25}  # GL101 @ 17.25


def depth(canal: str) -> float:  # tool
    """Depth of a canal.

    Args:
        canal: Its name.
    """
    return 2.875  # GL101 @ 2.875


def boats(canal: str) -> dict:
    return {"boats": 5.5}


TOOLS = [lock, depth]


def prompt(tokenizer: PreTrainedTokenizerBase, messages: list) -> str:
    return tokenizer.apply_chat_template(messages, tools=TOOLS, add_generation_prompt=True, tokenize=False)
