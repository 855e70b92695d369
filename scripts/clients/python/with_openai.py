"""OpenAI's SDK for Python: chat, parsed answers, responses, models, and the class of a refusal."""

import os
from typing import Optional

from openai import BadRequestError, OpenAI
from pydantic import BaseModel

client = OpenAI(base_url=os.environ["TROUPE_URL"] + "/v1", api_key=os.environ["TROUPE_KEY"])
model = "simulated-1"


class Place(BaseModel):
    city: str


class Plan(BaseModel):
    where: Optional[Place]
    days: int


asked = [{"role": "user", "content": "A plan for 3 days in Paris"}]
parsed = client.chat.completions.parse(model=model, messages=asked, response_format=Plan)
plan = parsed.choices[0].message.parsed
assert plan is not None and plan.days == 3 and plan.where is not None, plan

first = client.responses.create(model=model, input="Remember 42")
second = client.responses.create(model=model, input="And?", previous_response_id=first.id)
assert second.output_text, second

try:
    client.chat.completions.create(model=model, messages=asked, temperature=9)
except BadRequestError as error:
    assert error.param == "temperature", error
else:
    raise AssertionError("the temperature was taken")

assert any(each.id == model for each in client.models.list()), "the model is not listed"
