"""Models that call a tool and then say what they are told to, in pieces where they are streamed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any


def openai_model(text: str, pieces: Sequence[str]) -> Any:
    """One for the OpenAI Agents SDK."""
    from agents import Model, ModelResponse, Usage
    from openai.types.responses import (
        Response,
        ResponseCompletedEvent,
        ResponseContentPartDoneEvent,
        ResponseCreatedEvent,
        ResponseFunctionToolCall,
        ResponseOutputItemDoneEvent,
        ResponseOutputMessage,
        ResponseOutputText,
        ResponseTextDeltaEvent,
        ResponseTextDoneEvent,
    )

    call = ResponseFunctionToolCall(call_id="call_1", name="meter", arguments="{}", type="function_call")
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    message = ResponseOutputMessage(
        id="m", content=[part], role="assistant", status="completed", type="message"
    )

    class Scripted(Model):
        async def get_response(self, system: Any, input: Any, *arguments: Any, **options: Any) -> Any:
            return ModelResponse(output=[_next(input, call, message)], usage=Usage(), response_id=None)

        async def stream_response(
            self, system: Any, input: Any, *arguments: Any, **options: Any
        ) -> AsyncIterator[Any]:
            item: Any = _next(input, call, message)
            whole = Response(
                id="r", created_at=0, model="m", object="response", output=[item], tool_choice="auto", tools=[],
                parallel_tool_calls=True,
            )  # fmt: skip
            at: Any = {"item_id": "m", "output_index": 0, "sequence_number": 0, "content_index": 0}
            empty = whole.model_copy(update={"output": []})
            yield ResponseCreatedEvent(response=empty, type="response.created", sequence_number=0)
            if item is message:
                for piece in pieces:
                    yield ResponseTextDeltaEvent(
                        delta=piece, logprobs=[], type="response.output_text.delta", **at
                    )
                yield ResponseTextDoneEvent(text=text, logprobs=[], type="response.output_text.done", **at)
                yield ResponseContentPartDoneEvent(part=part, type="response.content_part.done", **at)
            yield ResponseOutputItemDoneEvent(
                item=item, output_index=0, sequence_number=0, type="response.output_item.done"
            )
            yield ResponseCompletedEvent(response=whole, type="response.completed", sequence_number=0)

    return Scripted()


def _next(items: Any, call: Any, message: Any) -> Any:
    is_called = isinstance(items, list) and any(item.get("type") == "function_call_output" for item in items)
    return message if is_called else call


def langchain_model(text: str, pieces: Sequence[str]) -> Any:
    """One for LangChain."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage
    from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

    class Scripted(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

        def _generate(self, messages: Any, *arguments: Any, **options: Any) -> Any:
            call: Any = {"name": "meter", "args": {}, "id": "call_1"}
            is_called = any(isinstance(message, ToolMessage) for message in messages)
            answer = AIMessage(text) if is_called else AIMessage("", tool_calls=[call])
            return ChatResult(generations=[ChatGeneration(message=answer)])

        def _stream(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
        ) -> Iterator[Any]:
            is_called = any(isinstance(message, ToolMessage) for message in messages)
            call: Any = {"name": "meter", "args": "{}", "id": "call_1", "index": 0}
            chunks = (
                [AIMessageChunk(piece, id="m") for piece in pieces]
                if is_called
                else [AIMessageChunk("", id="c", tool_call_chunks=[call])]
            )
            for message in chunks:
                chunk = ChatGenerationChunk(message=message)
                if run_manager:
                    run_manager.on_llm_new_token(message.text, chunk=chunk)
                yield chunk

    return Scripted()
