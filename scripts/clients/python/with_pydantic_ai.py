"""pydantic-ai on OpenAI's two APIs and Anthropic's: tools, history, streams, each mode of typed output, embeddings, `/mcp`."""

import asyncio
import os

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

url, key = os.environ["TROUPE_URL"], os.environ["TROUPE_KEY"]
openai = OpenAIProvider(base_url=f"{url}/v1", api_key=key)
models = [
    OpenAIChatModel("simulated-1", provider=openai),
    OpenAIResponsesModel("simulated-1", provider=openai),
    AnthropicModel(
        "simulated-1",
        provider=AnthropicProvider(base_url=url, api_key=key),
        profile=ModelProfile(supports_json_schema_output=True),
    ),
]


class Plan(BaseModel):
    city: str
    days: int


async def turns(model) -> None:
    agent = Agent(model, instructions="Answer.")

    @agent.tool_plain
    def get_weather(city: str) -> str:
        """The weather of a city."""
        return f"sunny in {city}"

    first = await agent.run("Please use get_weather in Lagos")
    assert "sunny in Lagos" in first.output, first.output
    second = await agent.run("Please use get_weather in Oslo", message_history=first.all_messages())
    assert "sunny in Oslo" in second.output, second.output
    assert second.usage.input_tokens > 0, second.usage

    async with agent.run_stream("Say two words", message_history=second.all_messages()) as stream:
        texts = [text async for text in stream.stream_text(delta=True, debounce_by=None)]
    assert len(texts) > 2 and "".join(texts) == "You said: Say two words", texts

    for mode in (ToolOutput, NativeOutput, PromptedOutput):
        planner = Agent(model, output_type=mode(Plan))
        plan = (await planner.run("A plan for 3 days in Paris")).output
        assert plan.days == 3, (mode, plan)


async def main() -> None:
    for model in models:
        print(model)
        await turns(model)


asyncio.run(main())
