"""LiteLLM as a client, on OpenAI's two APIs and Anthropic's: streams put together, tools, typed answers, embeddings, refusals."""

import os

import litellm
from pydantic import BaseModel

url, key = os.environ["TROUPE_URL"], os.environ["TROUPE_KEY"]
litellm.drop_params = False
litellm.suppress_debug_info = True


class Plan(BaseModel):
    city: str
    days: int


weather = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
user = [{"role": "user", "content": "Please use get_weather in Lagos"}]
models = {
    "openai/simulated-1": {"api_base": f"{url}/v1", "api_key": key},
    "custom_openai/simulated-1": {"api_base": f"{url}/v1", "api_key": key},
    "openai/responses/simulated-1": {"api_base": f"{url}/v1", "api_key": key},
    "anthropic/simulated-1": {"api_base": url, "api_key": key},
}
for model, given in models.items():
    called = litellm.completion(model=model, messages=user, tools=[weather], **given).choices[0].message
    [call] = called.tool_calls
    result = {"role": "tool", "tool_call_id": call.id, "content": "sunny in Lagos"}
    answer = litellm.completion(model=model, messages=[*user, called, result], tools=[weather], **given)
    assert "sunny in Lagos" in answer.choices[0].message.content, (model, answer)
    assert answer.usage.prompt_tokens > 0, (model, answer)

    # for a model that LiteLLM does not know, it makes a stream from a complete answer itself, with each tool's
    # arguments twice
    if "responses" not in model:
        chunks = list(litellm.completion(model=model, messages=user, tools=[weather], stream=True, **given))
        whole = litellm.stream_chunk_builder(chunks, messages=user)
        assert whole.choices[0].message.tool_calls[0].function.arguments.replace(" ", "") == '{"city":"Lagos"}', (model, whole)
        assert whole.choices[0].finish_reason == "tool_calls", (model, whole)

    prompt = [{"role": "user", "content": "A plan for 3 days in Paris"}]
    plan = litellm.completion(model=model, messages=prompt, response_format=Plan, **given).choices[0].message.content
    assert Plan.model_validate_json(plan).days == 3, (model, plan)

    for said, kind in (("rate limit please", litellm.RateLimitError), ("fail please", litellm.BadGatewayError)):
        try:
            litellm.completion(model=model, messages=[{"role": "user", "content": said}], num_retries=0, max_retries=0, **given)
        except kind:
            pass
        else:
            raise AssertionError(f"{model}: no refusal of {said}")

given = models["openai/simulated-1"]
embedded = litellm.embedding(model="openai/simulated-embedding", input=["one", "other"], **given).data
assert len(embedded) == 2 and len(embedded[0]["embedding"]) > 10, embedded
response = litellm.responses(model="openai/simulated-1", input="Remember 42", **given)
again = litellm.responses(model="openai/simulated-1", input="And?", previous_response_id=response.id, **given)
assert again.output_text == "You said: And?", again
