"""LlamaIndex by OpenAILike: a chat, streams, tools, a function agent with its memory, typed answers, embeddings and an index."""

import asyncio
import os

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.memory import Memory
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

given = {"api_base": os.environ["TROUPE_URL"] + "/v1", "api_key": os.environ["TROUPE_KEY"]}


class Plan(BaseModel):
    """A journey."""

    city: str
    days: int


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


llm = OpenAILike(model="simulated-1", is_chat_model=True, is_function_calling_model=True, **given)
assert llm.complete("Hello").text == "You said: Hello"
deltas = [part.delta for part in llm.stream_chat([ChatMessage(role="user", content="Say two words")])]
assert len(deltas) > 2 and "".join(deltas) == "You said: Say two words", deltas
tool = FunctionTool.from_defaults(get_weather)
called = llm.predict_and_call([tool], "Please use get_weather in Lagos")
assert called.response == "sunny in Lagos", called
plan = llm.as_structured_llm(Plan).complete("A plan for 3 days in Paris").raw
assert plan.days == 3, plan


async def agents() -> None:
    memory = Memory.from_defaults(session_id="1")
    agent = FunctionAgent(tools=[get_weather], llm=llm)
    first = await agent.run("Please use get_weather in Lagos", memory=memory)
    assert "sunny in Lagos" in str(first), first
    second = await agent.run("Please use get_weather in Oslo", memory=memory)
    assert "sunny in Oslo" in str(second), second


asyncio.run(agents())
embedding = OpenAILikeEmbedding(model_name="simulated-embedding", **given)
index = VectorStoreIndex.from_documents(
    [Document(text="The harbour opens at nine"), Document(text="Cats sleep")], embed_model=embedding
)
[best] = index.as_retriever(similarity_top_k=1).retrieve("When does the harbour open?")
assert "harbour" in best.text, best
answer = index.as_query_engine(llm=llm, similarity_top_k=1).query("When does the harbour open?")
assert str(answer), answer
