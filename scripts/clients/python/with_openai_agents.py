"""openai-agents for Python on both of OpenAI's APIs: tools, a session of several turns, a handoff, streams, typed output, `/mcp`."""

import asyncio
import os

from agents import (
    Agent,
    OpenAIProvider,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from agents.mcp import MCPServerStreamableHttp
from pydantic import BaseModel

set_tracing_disabled(True)
url, key = os.environ["TROUPE_URL"], os.environ["TROUPE_KEY"]


class Plan(BaseModel):
    city: str
    days: int


@function_tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


async def turns(config: RunConfig) -> None:
    agent = Agent(name="Weather", instructions="Answer.", model="simulated-1", tools=[get_weather])
    session = SQLiteSession("1")
    first = await Runner.run(agent, "Please use get_weather in Lagos", session=session, run_config=config)
    assert "sunny in Lagos" in first.final_output, first.final_output
    second = await Runner.run(agent, "Please use get_weather in Oslo", session=session, run_config=config)
    assert "sunny in Oslo" in second.final_output, second.final_output
    assert len(await session.get_items()) >= 8, await session.get_items()

    streamed = Runner.run_streamed(agent, "Please use get_weather in Rome", run_config=config)
    kinds = [event.name async for event in streamed.stream_events() if event.type == "run_item_stream_event"]
    assert kinds == ["tool_called", "tool_output", "message_output_created"], kinds
    assert "sunny in Rome" in streamed.final_output, streamed.final_output

    planner = Agent(name="Planner", model="simulated-1", output_type=Plan)
    plan = (await Runner.run(planner, "A plan for 3 days in Paris", run_config=config)).final_output
    assert isinstance(plan, Plan) and plan.days == 3, plan

    clerk = Agent(name="Clerk", model="simulated-1", handoffs=[agent])
    passed = await Runner.run(clerk, "Please use transfer_to_weather", run_config=config)
    assert passed.last_agent.name == "Weather", passed.last_agent


async def with_tool_server(config: RunConfig) -> None:
    params = {"url": f"{url}/mcp", "headers": {"authorization": f"Bearer {key}"}}
    async with MCPServerStreamableHttp(params=params) as server:
        agent = Agent(name="Clerk", model="simulated-1", mcp_servers=[server])
        listed = await Runner.run(agent, "Please use list_agents", run_config=config)
        outputs = [item.output for item in listed.new_items if item.type == "tool_call_output_item"]
        assert len(outputs) == 1 and "data" in str(outputs[0]), outputs


async def main() -> None:
    for use_responses in (True, False):
        provider = OpenAIProvider(base_url=f"{url}/v1", api_key=key, use_responses=use_responses)
        config = RunConfig(model_provider=provider)
        await turns(config)
        await with_tool_server(config)


asyncio.run(main())
