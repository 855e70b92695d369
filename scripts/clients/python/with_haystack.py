"""Haystack: a chat, a stream, an agent with a tool, typed answers, embeddings of documents and a search among them."""

import os
from typing import Annotated

from haystack import Document, Pipeline
from haystack.components.agents import Agent
from haystack.components.embedders import OpenAIDocumentEmbedder, OpenAITextEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.tools import tool
from haystack.utils import Secret
from pydantic import BaseModel

given = {
    "api_base_url": os.environ["TROUPE_URL"] + "/v1",
    "api_key": Secret.from_env_var("TROUPE_KEY"),
}


class Plan(BaseModel):
    city: str
    days: int


@tool
def get_weather(city: Annotated[str, "Name of the city"]) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


chunks = []
chat = OpenAIChatGenerator(model="simulated-1", streaming_callback=chunks.append, **given)
said = chat.run([ChatMessage.from_user("Say two words")])["replies"][0].text
assert said == "You said: Say two words" and len(chunks) > 2, (said, chunks)

plain = OpenAIChatGenerator(model="simulated-1", **given)
format = {"response_format": Plan}
plan = plain.run([ChatMessage.from_user("A plan for 3 days in Paris")], generation_kwargs=format)["replies"][0].text
assert Plan.model_validate_json(plan).days == 3, plan

agent = Agent(chat_generator=plain, tools=[get_weather])
first = agent.run([ChatMessage.from_user("Please use get_weather in Lagos")])["messages"]
assert "sunny in Lagos" in first[-1].text, first
second = agent.run([*first, ChatMessage.from_user("Please use get_weather in Oslo")])["messages"]
assert "sunny in Oslo" in second[-1].text, second

store = InMemoryDocumentStore()
embedder = OpenAIDocumentEmbedder(model="simulated-embedding", progress_bar=False, **given)
found = embedder.run([Document(content="The harbour opens at nine"), Document(content="Cats sleep")])
store.write_documents(found["documents"])
search = Pipeline()
search.add_component("question", OpenAITextEmbedder(model="simulated-embedding", **given))
search.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=1))
search.connect("question.embedding", "retriever.query_embedding")
best = search.run({"question": {"text": "When does the harbour open?"}})["retriever"]["documents"][0]
assert "harbour" in best.content, best
