"""Calls every API with OpenAI's SDK, with only the base URL changed, and prints the results as one line of JSON."""

import json
import os
import time

import openai

client = openai.OpenAI(
    base_url=os.environ["TROUPE_URL"] + "/v1", api_key=os.environ["TROUPE_KEY"], max_retries=0, timeout=60
)
model = "simulated-1"
hello = [{"role": "user", "content": "Good morning"}]
weather = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
tool = {"type": "function", "function": {"name": "get_weather", "parameters": weather}}
asked = [{"role": "user", "content": "Use get_weather for Paris"}]


def chat():
    answer = client.chat.completions.create(model=model, messages=hello)
    return [answer.choices[0].message.content, answer.choices[0].finish_reason, answer.usage.total_tokens > 0]


def chat_stream():
    options = {"include_usage": True}
    chunks = list(client.chat.completions.create(model=model, messages=hello, stream=True, stream_options=options))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    return [text, chunks[0].choices[0].delta.role, chunks[-1].usage.completion_tokens]


def tools():
    first = client.chat.completions.create(model=model, messages=asked, tools=[tool])
    message = first.choices[0].message
    call = message.tool_calls[0]
    result = {"role": "tool", "tool_call_id": call.id, "content": "21 degrees"}
    second = client.chat.completions.create(model=model, messages=[*asked, message, result], tools=[tool])
    return [call.function.name, json.loads(call.function.arguments), second.choices[0].message.content]


def tools_stream():
    with client.chat.completions.stream(model=model, messages=asked, tools=[tool]) as stream:
        message = stream.get_final_completion().choices[0].message
    return json.loads(message.tool_calls[0].function.arguments)


def responses():
    first = client.responses.create(model=model, input="Good morning")
    second = client.responses.create(model=model, input="And again", previous_response_id=first.id)
    return [first.output_text, second.output_text, client.responses.retrieve(first.id).id == first.id]


def responses_stream():
    with client.responses.stream(model=model, input="Good morning") as stream:
        types = [event.type for event in stream]
        text = stream.get_final_response().output_text
    return [types[0], types[-1], text]


def embeddings():
    answer = client.embeddings.create(model=model, input=["one", "two"], dimensions=16)
    return [len(each.embedding) for each in answer.data]


def image():
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + png}}
    parts = [{"type": "text", "text": "What is this?"}, url]
    answer = client.chat.completions.create(model=model, messages=[{"role": "user", "content": parts}])
    return answer.choices[0].message.content


def audio():
    speech = client.audio.speech.create(model=model, voice="alloy", input="Hello there", response_format="wav")
    wav = speech.read()
    text = client.audio.transcriptions.create(model=model, file=("speech.wav", wav, "audio/wav"))
    return [wav[:4].decode(), len(text.text) > 0]


def models():
    return model in [each.id for each in client.models.list()]


def refusals():
    def of(call):
        try:
            call()
        except openai.APIStatusError as error:
            return [type(error).__name__, error.status_code, error.code, error.param]

    def ask(**more):
        return lambda: client.chat.completions.create(**{"model": model, "messages": hello, **more})

    wrong = client.with_options(api_key="csk_wrong")
    return [
        of(ask(model="nobody-knows-1")),
        of(ask(temperature=9)),
        of(lambda: wrong.models.list()),
        of(ask(messages=[{"role": "user", "content": "rate limit please"}])),
        of(ask(messages=[{"role": "user", "content": "fail please"}])),
    ]


def broken_stream():
    try:
        broken = [{"role": "user", "content": "cut please, in the middle of a long answer"}]
        text = "".join(
            chunk.choices[0].delta.content or ""
            for chunk in client.chat.completions.create(model=model, messages=broken, stream=True)
            if chunk.choices
        )
        return ["whole", text]
    except openai.APIError as error:
        return ["broken", isinstance(error, openai.APIError)]


def left_early():
    slow = [{"role": "user", "content": "slow please"}]
    stream = client.chat.completions.create(model=model, messages=slow, stream=True)
    began = time.monotonic()
    for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            break
    stream.close()
    return time.monotonic() - began < 30


forms = [
    *[chat, chat_stream, tools, tools_stream, responses, responses_stream, embeddings, image, audio, models],
    *[refusals, broken_stream, left_early],
]
print(json.dumps({form.__name__: form() for form in forms}))
