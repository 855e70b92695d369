"""What a user's program does with the client; each function is one guarantee, and its name is the argument."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import httpx

import troupe
from troupe import (
    AsyncSession,
    AsyncTroupe,
    InvalidRequestError,
    OutputTextDelta,
    SessionEvent,
    SessionSnapshot,
    Troupe,
    TroupeError,
    TurnCompleted,
    TurnPaused,
    TurnRestarted,
    TurnStarted,
    TurnText,
    function,
    input_image,
)
from troupe.api import Api, AsyncApi

URL, PROXY, TOOL, KEY = (os.environ.get(name, "") for name in ("URL", "PROXY", "TOOL", "KEY"))


def test_does(what: str) -> str:
    """Lets the test do something with the server, and waits until it is done."""
    print(json.dumps(what), flush=True)
    return sys.stdin.readline().strip()


def client(url: str = URL) -> AsyncTroupe:
    return AsyncTroupe(url, key=KEY)


def gated(name: str) -> troupe.TurnOptions:
    return {"tools": [{"type": "http", "name": name, "url": TOOL, "needsApproval": True}]}


async def waiting(session: AsyncSession) -> str:
    """The action of the first call that waits."""
    async for event in session.follow():
        if isinstance(event, TurnPaused):
            return event.action_id
        if isinstance(event, SessionSnapshot) and event.pending_actions:
            return event.pending_actions[0]["action_id"]
    raise AssertionError


async def code_of(work: Awaitable[object]) -> str:
    try:
        await work
    except TroupeError as error:
        return error.code
    return "none"


async def turn() -> None:
    async with client() as of:
        session = of.sessions.open()
        assert session.id is None
        ended = await session.send("reply exactly: Hello there.")
        assert (ended.turn, ended.status, ended.text, ended.error) == (1, "completed", "Hello there.", None), ended
        assert ended.usage["total_tokens"] > 0
        seen = [event async for event in session.stream("reply exactly: two words")]
        assert isinstance(seen[0], TurnStarted) and seen[0].turn_number == 2
        assert "".join(each.delta for each in seen if isinstance(each, OutputTextDelta)) == "two words"
        shown = [(each["role"], each["turn_number"], each["status"]) for each in await session.messages()]
        assert shown == [(role, turn, "completed") for turn in (1, 2) for role in ("user", "assistant")], shown
        assert [each["turn_number"] for each in await session.messages(turns=1)] == [2, 2]
        again = of.sessions.open(session.id)
        async for event in again.follow():
            assert isinstance(event, SessionSnapshot) and event.id == seen[-1].id == event.last_event_id
            break
        known = [event.id async for event in until(again.events(after=2), seen[-1].id)]
        assert known == list(range(3, seen[-1].id + 1)), known
        copy = await session.fork(1)
        assert copy.id != session.id
        assert (await copy.send("reply exactly: three")).turn == 2


async def images() -> None:
    picture = Path(os.environ["PICTURE"])
    content = picture.read_bytes()
    async with client() as of:
        session = of.sessions.open()
        sent = await session.send([{"type": "input_text", "text": "What is this?"}, input_image(picture, detail="low")])
        assert "640 × 480" in sent.text, sent
        assert (await session.send([input_image(content)])).status == "completed"
        shown = [part for message in await session.messages() for part in message["parts"] if part["type"] == "image"]
        assert [each.get("detail") for each in shown] == ["low", None]
        image = await session.image(shown[0]["image_id"])
        assert (image.content, image.mime_type) == (content, "image/png")
        assert await code_of(session.image("img_none")) == "not_found"
    with Troupe(URL, key=KEY) as again:
        assert again.sessions.open(session.id).image(shown[0]["image_id"]) == image
    assert input_image("https://example.com/a.png") == {"type": "input_image", "image_url": "https://example.com/a.png"}
    assert input_image("file_01") == {"type": "input_image", "file_id": "file_01"}
    for wrong in (b"%PDF-1.7", "a.png", Path(__file__)):
        try:
            input_image(wrong)
            raise AssertionError
        except InvalidRequestError as error:
            assert error.code == "unsupported_format" and error.message.split()[0] in ("This", "a.png", "program.py")


async def uploads() -> None:
    requests = 0

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        requests += 1
        head = await reader.readuntil(b"\r\n\r\n")
        left = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        while left > 0:
            left -= len(await reader.read(256 * 1024))
            await asyncio.sleep(0.02)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-type: application/json\r\n\r\n{}")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(slow, "127.0.0.1", 0, limit=64 * 1024)
    port = server.sockets[0].getsockname()[1]
    http = httpx.AsyncClient(timeout=httpx.Timeout(0.5, read=30))
    async with server, AsyncTroupe(f"http://127.0.0.1:{port}", key="csk_test", http=http) as of:
        await of.request("POST", "/v1/sessions/ses_1/turns", body={"input": "x" * 20_000_000}, idempotency_key="one")
    assert requests == 1, requests


async def until(events: AsyncIterator[SessionEvent], last: int) -> AsyncIterator[SessionEvent]:
    async for event in events:
        yield event
        if event.id >= last:
            return


async def decisions() -> None:
    async with client() as of:
        session = of.sessions.open()
        sent = asyncio.create_task(session.send("Please use issue_refund", **gated("issue_refund")))
        action = await waiting(session)
        assert [each["action_id"] for each in await session.approvals()] == [action]
        assert await session.approve(action) == "approved"
        assert (await sent).status == "completed"
        assert await session.approve(action) == "approved", "also to who decides too late"
        sent = asyncio.create_task(session.send("Please use pay", **gated("pay")))
        action = await waiting(session)
        assert await session.reject(action) == "rejected"
        assert await session.approve(action) == "rejected", "also to who decides too late"
        await sent
        sent = asyncio.create_task(session.send("slow please"))
        async for event in session.follow():
            if isinstance(event, OutputTextDelta):
                break
        await session.stop()
        stopped = await sent
        assert stopped.status == "failed" and stopped.error and stopped.error["code"] == "cancelled", stopped
        await session.stop()
        retried = asyncio.create_task(session.retry())
        assert (await retried).turn == 4
        async for event in session.follow():
            await of.request("DELETE", f"/v1/sessions/{session.id}")
            break
        assert await code_of(anext(session.events())) == "not_found"


class City(TypedDict):
    name: str


async def functions() -> None:
    runs: list[str] = []

    @function
    async def get_city(
        kind: Annotated[str, "What is looked for."] = "", size: Literal["small", "large"] | None = None
    ) -> dict[str, object]:
        """Finds a city."""
        runs.append("get_city")
        await asyncio.sleep(0.3)
        return {"city": "Porto"}

    @function(needs_approval=True)
    def pay(amount: int = 1) -> str:
        """Pays."""
        runs.append("pay")
        return f"paid {amount}"

    @function
    def breaks() -> None:
        raise ValueError("no such thing")

    @function
    def nested(cities: list[City], more: dict[str, float], flag: bool = False) -> None: ...

    assert get_city.tool["function"] == {
        "name": "get_city",
        "description": "Finds a city.",
        "parameters": {
            "type": "object",
            "properties": {
                "kind": {"type": "string", "description": "What is looked for."},
                "size": {"anyOf": [{"enum": ["small", "large"]}, {"type": "null"}]},
            },
            "required": [],
            "additionalProperties": False,
        },
    }, get_city.tool
    parameters: Any = nested.tool["function"]["parameters"]
    city = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    assert parameters["properties"]["cities"] == {"type": "array", "items": city}, parameters
    assert parameters["required"] == ["cities", "more"] and pay(2) == "paid 2"
    runs.clear()
    with tempfile.TemporaryDirectory() as folder:
        declared: list[troupe.AnyFunction] = [get_city, pay, breaks]
        async with AsyncTroupe(URL, key=KEY, calls=folder) as one, AsyncTroupe(URL, key=KEY, calls=folder) as other:
            session = one.sessions.open(functions=declared)
            sent = asyncio.create_task(session.send("Please use get_city"))
            while session.id is None:
                await asyncio.sleep(0.01)
            twins = [each.sessions.open(session.id, functions=declared) for each in (one, other)]
            readers = [asyncio.create_task(read_to_end(each)) for each in twins]
            assert (await sent).status == "completed"
            await asyncio.gather(*readers)
            assert runs == ["get_city"], runs
            [_, answer] = await session.messages()
            [call, *_] = answer["parts"]
            assert call["type"] == "tool" and call.get("output") == '{"city": "Porto"}', answer
            # a past call is not run again, though its record is gone and its pause is read again
            for each in Path(folder).iterdir():
                each.unlink()
            await asyncio.wait_for(read_to_end(one.sessions.open(session.id, functions=declared)), 10)
            assert runs == ["get_city"], runs
            sent = asyncio.create_task(session.send("Please use pay"))
            action = await waiting(session)
            await asyncio.sleep(0.2)
            assert runs == ["get_city"], "a person approves it first"
            assert await session.approve(action) == "approved"
            assert (await sent).status == "completed" and runs == ["get_city", "pay"], runs
            await session.send("Please use breaks")
            assert "no such thing" in json.dumps((await session.messages(turns=1))[-1])
        # a program that ended in the middle of a call, and begins again
        async with AsyncTroupe(URL, key=KEY) as plain:
            session = plain.sessions.open()
            sent = asyncio.create_task(session.send("Please use get_city", tools=[get_city.tool]))
            action = await waiting(session)
        sent.cancel()
        (Path(folder) / action).write_text("started")
        async with AsyncTroupe(URL, key=KEY, calls=folder) as begun:
            session = begun.sessions.open(session.id, functions=[get_city])
            await read_to_end(session)
            assert "not known whether it took effect" in json.dumps(await session.messages())
            assert runs == ["get_city", "pay"], runs


async def read_to_end(session: AsyncSession) -> None:
    async for event in session.events():
        if isinstance(event, TurnCompleted):
            return


async def kills() -> None:
    async with client() as of:
        session = of.sessions.open()
        await session.send("reply exactly: begin")
        seen: list[SessionEvent] = []
        texts: list[str] = []

        async def collect() -> None:
            text = TurnText()
            async for event in session.events():
                seen.append(event)
                texts.append(text.apply(event))
                if isinstance(event, TurnCompleted) and event.output == "the end":
                    return

        collecting = asyncio.create_task(collect())
        while not seen:
            await asyncio.sleep(0.01)
        for kill in range(4):
            length = len(seen)
            sent = asyncio.create_task(session.send("slow please" if kill % 2 else f"reply exactly: answer {kill}"))
            if kill % 2:
                while sum(isinstance(each, OutputTextDelta) for each in seen[length:]) < 4:
                    await asyncio.sleep(0.005)
            await asyncio.to_thread(test_does, "crash")
            await asyncio.to_thread(test_does, "restart")
            ended = await sent
            assert ended.status == "completed" and ended.turn == kill + 2, ended
        assert (await session.send("reply exactly: the end")).turn == 6
        await collecting
        log = [row async for row in of.pages(f"/v1/sessions/{session.id}/events", {"limit": 100})]
        kept = {row["sequence"]: row["event_type"] for row in log}
        ids = [each.id for each in seen]
        assert ids == sorted(set(ids)), "no doubles"
        assert [(each.id, each.event) for each in seen if each.id in kept] == list(kept.items()), "no gaps"
        # text that was shown and not durable yet is void
        assert {each.event for each in seen if each.id not in kept} <= {"output_text.delta"}
        assert any(isinstance(each, TurnRestarted) for each in seen), "a turn began again"
        shown = [text for at, text in enumerate(texts) if at == 0 or text != texts[at - 1]]
        flickers = [(a, b) for a, b in zip(shown, shown[1:]) if b != "" and not b.startswith(a)]
        assert flickers == [], flickers


async def cuts() -> None:
    async with client() as direct, client(PROXY) as of:
        session = direct.sessions.open()
        await session.send("reply exactly: A short text of a few words, with a 🙂 and a line\nbreak.")
        log = [row async for row in of.pages(f"/v1/sessions/{session.id}/events")]
        whole = [(int(str(row["sequence"])), row["event_type"]) for row in log]

        async def read(number: int) -> None:
            for _ in range(number):
                events = until(of.sessions.open(session.id).events(), whole[-1][0])
                assert [(each.id, each.event) async for each in events] == whole

        assert test_does("cut streams") == "ok"
        await asyncio.gather(*(read(25) for _ in range(8)))
        assert test_does("cut turns") == "ok"
        sent = await of.sessions.open(session.id).send("reply exactly: once")
        assert (sent.turn, sent.text) == (2, "once"), sent
        names = [row["event_type"] async for row in direct.pages(f"/v1/sessions/{session.id}/events")]
        assert names.count("turn.started") == 2, names


class Page(BaseHTTPRequestHandler):
    """A server that is not Troupe."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *_: object) -> None: ...


async def errors() -> None:
    async with client() as of:
        try:
            await of.sessions.open().send("hello", model="of/nowhere")
            raise AssertionError
        except InvalidRequestError as error:
            assert (error.code, error.param, error.status) == ("model_not_found", "model", 404), repr(error)
            assert error.request_id and error.request_id in str(error)
        assert await code_of(of.request("GET", "/v1/sessions/ses_none")) == "not_found"
        assert await code_of(of.sessions.open("ses_none").send("hello")) == "not_found"
    async with AsyncTroupe(URL, key="csk_" + "x" * 43) as foreign:
        try:
            await foreign.sessions.open().send("hello")
            raise AssertionError
        except troupe.AuthenticationError as error:
            assert error.status == 401 and error.request_id, repr(error)
    async with AsyncTroupe("http://127.0.0.1:9", key=KEY, retry_for=0.2) as nowhere:
        for work in (nowhere.request("GET", "/v1/agents"), anext(nowhere.sessions.open("ses_1").follow())):
            try:
                await work
                raise AssertionError
            except troupe.ServerUnreachableError as error:
                assert "is base_url right?" in str(error), error
    other = HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    page = f"http://127.0.0.1:{other.server_port}"
    for url, code in ((page, "wrong_base_url"), ("localhost", "wrong_base_url"), (f"{URL}/v1/", "none")):
        async with AsyncTroupe(url, key=KEY) as of:
            assert await code_of(of.request("GET", "/v1/agents")) == code, url
    try:
        AsyncTroupe(URL)
        raise AssertionError
    except TypeError:
        pass


async def tokens() -> None:
    minted: list[float] = []
    async with client() as of:
        tenant = await of.request("POST", "/v1/tenants", body={"external_id": "acme", "name": "Acme"})

        async def mint(**more: object) -> troupe.ClientToken:
            minted.append(time.time())
            body = {"tenant_id": tenant["id"], "external_user_id": "ada", **more}
            answer = await of.request("POST", "/v1/client-tokens", body=body)
            return {"token": str(answer["token"]), "expires_at": str(answer["expires_at"])}

        async with AsyncTroupe(URL, token=mint) as page:
            sessions = [page.sessions.open() for _ in range(3)]
            await asyncio.gather(*(each.send("reply exactly: yes") for each in sessions))
            assert len(minted) == 1, minted
            sent = asyncio.create_task(sessions[0].send("Please use pay", tools=[pay_tool()]))
            action = await waiting(sessions[0])
            try:
                await sessions[0].approve(action)
                raise AssertionError
            except troupe.PermissionDeniedError as error:
                assert error.code == "secret_key_required", error
            sent.cancel()

        first = True

        async def stale() -> troupe.ClientToken:
            nonlocal first
            token = await mint()
            if first:
                token["token"] = "ect_" + "x" * 43
            first = False
            return token

        async with AsyncTroupe(URL, token=stale) as page:
            assert (await page.sessions.open().send("reply exactly: yes")).text == "yes"
            assert len(minted) == 3, minted


def pay_tool() -> troupe.events.FunctionTool:
    return {"type": "function", "function": {"name": "pay"}, "needsApproval": True}


async def pages() -> None:
    async with client() as of:
        for each in range(5):
            body = {"external_id": f"page-{each}", "name": "a tenant"}
            await of.request("POST", "/v1/tenants", body=body, idempotency_key=f"page-{each}")
            await of.request("POST", "/v1/sessions", body={})
        names = [str(row["external_id"]) async for row in of.pages("/v1/tenants", {"limit": 2})]
        assert sorted(each for each in names if each.startswith("page")) == [f"page-{each}" for each in range(5)], names
        ids = [row["id"] async for row in of.pages("/v1/sessions", {"limit": 2})]
        assert len(ids) == len(set(ids)) >= 5
        assert ids == [row["id"] async for row in of.sessions.list()]


async def calls() -> None:
    async with client() as troupe:
        api = AsyncApi(troupe)
        made = [await api.agents.create({"name": f"Agent {n}", "config": {"model": "simulated-1"}}) for n in range(3)]
        one = await api.agents.get(made[0]["id"])
        assert one["name"] == "Agent 0"
        named = await api.agents.update(one["id"], {"name": "Named / so"}, idempotency_key="named")
        assert named["name"] == "Named / so"
        found = [agent["id"] async for agent in api.agents.list({"limit": 1})]
        assert {agent["id"] for agent in made} <= set(found) and len(found) == len(set(found))
        assert await code_of(api.agents.get("agt_none/../x")) == "not_found"
        await api.agents.delete(one["id"])
        assert await code_of(api.agents.get(one["id"])) == "not_found"
        tenant = await api.tenants.create({"external_id": "of-headers", "name": "a tenant"})
        async with AsyncTroupe(URL, key=KEY, headers={"X-Tenant-Id": tenant["id"]}) as of_tenant:
            await AsyncApi(of_tenant).memory.write({"userId": "ada", "content": "Ada keeps bees"})
            assert (await AsyncApi(of_tenant).memory.list({"userId": "ada"}))["count"] == 1
        assert (await api.memory.list({"userId": "ada"}))["count"] == 0
        assert (await api.memory.list({"userId": "ada"}, headers={"X-Tenant-Id": tenant["id"]}))["count"] == 1
        base = await api.knowledge_bases.create({"name": "Handbook"})
        await api.knowledge_sources.create(base["id"], {}, files={"file": ("rules.txt", b"Goods can be returned.")})
        invoice = dict(await api.usage.export({"format": "csv"}))
        assert str(invoice["data"]).startswith("tenant_id,")
    with Troupe(URL, key=KEY) as waiting_client:
        again = Api(waiting_client)
        assert [agent["id"] for agent in again.agents.list({"limit": 1})] == [each for each in found if each != one["id"]]
        assert again.sessions.create({})["status"] == "active"


async def webhooks() -> None:
    body, headers, secret = os.environ["BODY"], json.loads(os.environ["HEADERS"]), os.environ["SECRET"]
    event = troupe.webhooks.unwrap(body.encode(), headers, secret)
    assert event["type"] == "run.completed" and event["data"]["run_id"] == "run_1", event
    assert Troupe.webhooks.unwrap(body, {name.title(): text for name, text in headers.items()}, secret) == event
    both = {**headers, "webhook-signature": f"v1,{'A' * 43}= {headers['webhook-signature']}"}
    assert troupe.webhooks.unwrap(body, both, secret) == event

    def refusal(text: str, sent: dict[str, str], tolerance: float = 300, key: str = secret) -> str:
        try:
            troupe.webhooks.unwrap(text, sent, key, tolerance=tolerance)
        except troupe.WebhookSignatureError as error:
            return error.code
        return "none"

    assert refusal(body + " ", headers) == "invalid_signature"
    assert refusal(body, {**headers, "webhook-id": "other"}) == "invalid_signature"
    assert refusal(body, {**headers, "webhook-timestamp": str(int(time.time()) + 1)}) == "invalid_signature"
    assert refusal(body, {}) == "invalid_signature"
    assert refusal(body, headers, key="whsec_" + "A" * 44) == "invalid_signature"
    assert refusal(body, headers, key="no base64!") == "invalid_secret"
    assert refusal(body, headers, tolerance=-1) == "invalid_timestamp"
    assert refusal(os.environ["BODY"], json.loads(os.environ["OLD"])) == "invalid_timestamp"


async def notebook() -> None:
    """The sync client, in a running loop as a notebook has it."""
    runs: list[str] = []

    @function
    def get_city() -> str:
        # another client of the same program
        with Troupe(URL, key=KEY) as inner:
            runs.append(inner.sessions.open().send("reply exactly: Porto").text)
        return runs[-1]

    with Troupe(URL, key=KEY) as of:
        session = of.sessions.open(functions=[get_city])
        assert session.send("reply exactly: Hello").text == "Hello"
        for event in session.stream("Please use issue_refund", **gated("issue_refund")):
            if isinstance(event, TurnPaused):
                assert session.approve(event.action_id) == "approved"
        assert isinstance(event, TurnCompleted) and event.turn_number == 2
        assert session.send("Please use get_city").status == "completed" and runs == ["Porto"]
        for event in session.follow():
            assert isinstance(event, SessionSnapshot)
            break
        assert next(session.events(after=1)).id == 2
        assert len(session.messages(turns=2)) == 4 and session.approvals() == []
        assert session.fork(1).send("reply exactly: fork").turn == 2
        assert [row["id"] for row in of.sessions.list(status="active")][-1]
        assert of.request("GET", f"/v1/sessions/{session.id}")["turn_count"] == 3
        session.stop()
        left = session.follow()
        next(left)
    try:
        session.messages()
        raise AssertionError
    except RuntimeError as error:
        assert "closed" in str(error)
    # an iterator that is left until the end of the program does not keep it
    globals()["left"] = (Troupe(URL, key=KEY).sessions.open(session.id).follow(), left)
    next(globals()["left"][0])


programs: dict[str, Callable[[], Awaitable[None]]] = {
    each.__name__: each
    for each in (turn, images, uploads, decisions, functions, kills, cuts, errors, tokens, pages, calls, webhooks, notebook)
}

if __name__ == "__main__":
    asyncio.run(asyncio.wait_for(programs[sys.argv[1]](), 100))
