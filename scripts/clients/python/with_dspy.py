"""DSPy: a prediction, typed fields, its JSON adapter, ReAct with a tool, a stream, an embedder."""

import asyncio
import os

import dspy

given = {"api_base": os.environ["TROUPE_URL"] + "/v1", "api_key": os.environ["TROUPE_KEY"]}


class Model(dspy.LM):
    """A model with structured outputs, which DSPy otherwise assumes only for names in its own list."""

    supports_response_schema = True
    supports_function_calling = True
    supported_params = {"response_format", "tools", "tool_choice"}


dspy.configure(lm=Model("openai/simulated-1", cache=False, **given))


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


class Plan(dspy.Signature):
    """Plan a journey."""

    request: str = dspy.InputField()
    days: int = dspy.OutputField()
    city: str = dspy.OutputField()


assert dspy.Predict("question -> answer")(question="Why?").answer
planned = dspy.ChainOfThought(Plan)(request="A plan for 3 days in Paris")
assert planned.days == 3 and planned.reasoning, planned
with dspy.context(adapter=dspy.JSONAdapter()):
    planned = dspy.Predict(Plan)(request="A plan for 3 days in Paris")
    assert planned.days == 3, planned
acted = dspy.ReAct("question -> answer", tools=[get_weather], max_iters=3)(question="use get_weather in Lagos")
assert acted.answer and len(acted.trajectory) > 3, acted


async def streamed() -> None:
    listener = dspy.streaming.StreamListener(signature_field_name="answer")
    predict = dspy.streamify(dspy.Predict("question -> answer"), stream_listeners=[listener])
    parts = [part async for part in predict(question="Why is that so today?")]
    assert isinstance(parts[-1], dspy.Prediction) and len(parts) > 2, parts


asyncio.run(streamed())
embedder = dspy.Embedder("openai/simulated-embedding", **given)
assert embedder(["one", "other"]).shape[0] == 2
