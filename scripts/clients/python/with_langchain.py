"""LangChain and LangGraph for Python on both of OpenAI's APIs: tools, a graph with a checkpointer, streams, typed answers, embeddings."""

import os

from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

try:
    from langchain.agents import create_agent
except ImportError:  # LangChain 0.3
    from langgraph.prebuilt import create_react_agent as create_agent

given = {"base_url": os.environ["TROUPE_URL"] + "/v1", "api_key": os.environ["TROUPE_KEY"]}


class Plan(BaseModel):
    """A journey."""

    city: str
    days: int


def text_of(message) -> str:
    """The text of a message, which is a method in LangChain 0.3."""
    return message.text if isinstance(message.text, str) else message.text()


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


for use_responses_api in (False, True):
    plain = ChatOpenAI(model="simulated-1", use_responses_api=use_responses_api, stream_usage=True, **given)
    model = plain.bind_tools([get_weather])
    messages = [HumanMessage("Please use get_weather in Lagos")]
    called = model.invoke(messages)
    [call] = called.tool_calls
    answer = model.invoke([*messages, called, get_weather.invoke(call)])
    assert "sunny in Lagos" in text_of(answer), answer
    assert answer.usage_metadata["input_tokens"] > 0, answer

    whole = None
    for chunk in model.stream("Please use get_weather in Oslo"):
        whole = chunk if whole is None else whole + chunk
    assert [each["args"] for each in whole.tool_calls] == [{"city": "Oslo"}], whole
    assert whole.usage_metadata["output_tokens"] > 0, whole

    for method in ("json_schema", "function_calling", "json_mode"):
        prompt = "A plan for 3 days in Paris"
        if method == "json_mode":
            prompt += f", as JSON of this schema: {Plan.model_json_schema()}".replace("'", '"')
        plan = plain.with_structured_output(Plan, method=method).invoke(prompt)
        assert plan.days == 3, (method, plan)

    agent = create_agent(plain, [get_weather], checkpointer=InMemorySaver(), response_format=None)
    thread = {"configurable": {"thread_id": "1"}}
    agent.invoke({"messages": "Please use get_weather in Lagos"}, thread)
    again = agent.invoke({"messages": "And again use get_weather in Oslo"}, thread)["messages"]
    assert len(again) == 8 and "sunny in Oslo" in text_of(again[-1]), again
    texts = [
        text_of(chunk)
        for chunk, _ in agent.stream({"messages": "Say two"}, thread, stream_mode="messages")
        if chunk.type == "AIMessageChunk"
    ]
    assert len(texts) > 2 and "".join(texts) == "You said: Say two", texts

    planner = create_agent(plain, [get_weather], response_format=Plan)
    plan = planner.invoke({"messages": "A plan for 3 days in Paris"})["structured_response"]
    assert plan.days == 3, plan

embeddings = OpenAIEmbeddings(model="simulated-embedding", check_embedding_ctx_length=False, **given)
one, other = embeddings.embed_documents(["one", "other"])
assert len(one) == len(other) == len(embeddings.embed_query("one")) and one != other
