"""AutoGen: an assistant with a tool and its state over two turns, a stream, typed output, a team."""

import asyncio
import os

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import ModelClientStreamingChunkEvent
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.models.openai import OpenAIChatCompletionClient
from pydantic import BaseModel

client = OpenAIChatCompletionClient(
    model="simulated-1",
    base_url=os.environ["TROUPE_URL"] + "/v1",
    api_key=os.environ["TROUPE_KEY"],
    model_info={"vision": True, "function_calling": True, "json_output": True, "structured_output": True, "family": "unknown"},
)


class Plan(BaseModel):
    city: str
    days: int


async def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


async def main() -> None:
    agent = AssistantAgent("weather", client, tools=[get_weather], reflect_on_tool_use=True, model_client_stream=True)
    first = await agent.run(task="Please use get_weather in Lagos")
    assert "sunny in Lagos" in first.messages[-1].content, first
    events = [event async for event in agent.run_stream(task="Please use get_weather in Oslo")]
    assert sum(isinstance(event, ModelClientStreamingChunkEvent) for event in events) > 2, events
    assert "sunny in Oslo" in events[-1].messages[-1].content, events

    planner = AssistantAgent("planner", client, output_content_type=Plan)
    plan = (await planner.run(task="A plan for 3 days in Paris")).messages[-1].content
    assert isinstance(plan, Plan) and plan.days == 3, plan

    speakers = [AssistantAgent(name, client) for name in ("one", "other")]
    team = RoundRobinGroupChat(speakers, termination_condition=MaxMessageTermination(3))
    assert [each.source for each in (await team.run(task="Hello")).messages] == ["user", "one", "other"]


asyncio.run(main())
