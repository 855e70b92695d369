"""Google's SDK for Python: automatic calls of functions, streams, a schema, counts, vectors, models, and a refusal."""

import os

from google import genai
from google.genai import errors, types
from pydantic import BaseModel

options = types.HttpOptions(base_url=os.environ["TROUPE_URL"])
client = genai.Client(api_key=os.environ["TROUPE_KEY"], http_options=options)
model = "simulated-1"


def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: Name of the city.
    """
    return f"sunny in {city}"


class City(BaseModel):
    name: str


tools = types.GenerateContentConfig(tools=[get_weather])
answer = client.models.generate_content(model=model, contents="Please use get_weather in Lagos", config=tools)
assert "sunny in Lagos" in answer.text, answer

parts = client.models.generate_content_stream(model=model, contents="Hello")
assert "".join(part.text or "" for part in parts) == "You said: Hello"

form = types.GenerateContentConfig(response_mime_type="application/json", response_schema=City)
assert isinstance(client.models.generate_content(model=model, contents="Lagos", config=form).parsed, City)

assert client.models.count_tokens(model=model, contents="Hello").total_tokens > 0
assert len(client.models.embed_content(model=model, contents=["one", "two"]).embeddings) == 2
assert any(each.name == f"models/{model}" for each in client.models.list()), "the model is not listed"

try:
    client.models.generate_content(model="no-such-model", contents="Hello")
except errors.ClientError as error:
    assert error.code == 404, error
else:
    raise AssertionError("a model that nobody serves was called")
