"""instructor in its modes: tools, tools in parallel, strict tools, JSON, JSON Schema, JSON in a code block, responses, streams, retries."""

import os
from collections.abc import Iterable

import instructor
from anthropic import Anthropic
from openai import OpenAI
from pydantic import BaseModel

url, key = os.environ["TROUPE_URL"], os.environ["TROUPE_KEY"]


class Plan(BaseModel):
    """A journey."""

    city: str
    days: int


said = [{"role": "user", "content": "A plan for 3 days in Paris"}]
for mode in ("TOOLS", "TOOLS_STRICT", "JSON", "JSON_SCHEMA", "MD_JSON", "RESPONSES_TOOLS"):
    client = instructor.from_openai(OpenAI(base_url=f"{url}/v1", api_key=key), mode=instructor.Mode[mode])
    plan = client.create(model="simulated-1", messages=said, response_model=Plan, max_retries=0)
    assert plan.days == 3, (mode, plan)
    parts = list(client.create_partial(model="simulated-1", messages=said, response_model=Plan, max_retries=0))
    assert parts[-1].days == 3, (mode, parts)
for mode in ("ANTHROPIC_TOOLS", "ANTHROPIC_JSON"):
    client = instructor.from_anthropic(Anthropic(base_url=url, api_key=key), mode=instructor.Mode[mode])
    plan = client.create(model="simulated-1", max_tokens=200, messages=said, response_model=Plan, max_retries=0)
    assert plan.days == 3, (mode, plan)
