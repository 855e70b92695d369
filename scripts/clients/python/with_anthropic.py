"""Anthropic's SDK for Python: its tool runner, a stream, a count of tokens, models, and the class of a refusal."""

import os

from anthropic import Anthropic, BadRequestError, beta_tool

client = Anthropic(base_url=os.environ["TROUPE_URL"], api_key=os.environ["TROUPE_KEY"])
model = "simulated-1"


@beta_tool
def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: Name of the city.
    """
    return f"sunny in {city}"


asked = [{"role": "user", "content": "Please use get_weather in Lagos"}]
runner = client.beta.messages.tool_runner(model=model, max_tokens=200, messages=asked, tools=[get_weather])
last = runner.until_done()
assert "sunny in Lagos" in str(last.content), last

with client.messages.stream(model=model, max_tokens=200, messages=[{"role": "user", "content": "Hello"}]) as stream:
    assert stream.get_final_text() == "You said: Hello"

assert client.messages.count_tokens(model=model, messages=asked).input_tokens > 0
assert any(each.id == model and each.type == "model" for each in client.models.list()), "the model is not listed"

try:
    client.messages.create(model=model, max_tokens=0, messages=asked)
except BadRequestError as error:
    assert error.request_id, error
else:
    raise AssertionError("max_tokens 0 was taken")
