"""smolagents: an agent that calls tools, its memory over two turns, a stream, typed output."""

import os

from smolagents import OpenAIModel, ToolCallingAgent, tool

model = OpenAIModel("simulated-1", api_base=os.environ["TROUPE_URL"] + "/v1", api_key=os.environ["TROUPE_KEY"])


@tool
def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: Name of the city.
    """
    return f"sunny in {city}"


agent = ToolCallingAgent(tools=[get_weather], model=model, max_steps=4, verbosity_level=0)
first = agent.run("Please use get_weather in Lagos")
assert first, first
calls = [call.name for step in agent.memory.steps for call in getattr(step, "tool_calls", None) or []]
assert "get_weather" in calls, calls
assert agent.run("Please use get_weather in Oslo", reset=False)

streaming = ToolCallingAgent(tools=[get_weather], model=model, max_steps=4, stream_outputs=True, verbosity_level=0)
steps = list(streaming.run("Please use get_weather in Rome", stream=True))
assert any("sunny in Rome" in str(getattr(step, "observations", "")) for step in steps), steps
