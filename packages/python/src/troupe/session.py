"""One conversation."""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

import httpx

from .errors import TroupeError, whole
from .events import (
    PendingAction,
    SessionEvent,
    SessionMessage,
    SessionSnapshot,
    TurnCompleted,
    TurnError,
    TurnFailed,
    TurnOptions,
    TurnPaused,
    TurnResumed,
    TurnStarted,
    TurnUsage,
)
from .follow import back_off, follow
from .frames import Frames, snapshot_of
from .functions import AnyFunction
from .images import Image, TurnInput

if TYPE_CHECKING:
    from .client import AsyncTroupe

if sys.version_info >= (3, 11):
    from typing import Unpack
else:
    from typing_extensions import Unpack

Events = AsyncGenerator[SessionEvent, None]

Resolution = Literal["approved", "rejected", "connected", "answered", "declined", "dismissed"]
"""How a call was resolved."""


class SessionOptions(TypedDict, total=False):
    """How a session is created, and which functions its program has."""

    functions: Iterable[AnyFunction]
    """Functions that the model may call."""
    create: Mapping[str, object]
    """Body of `sessions.create`, for a session without an id."""


class Decision(TypedDict, total=False):
    """What an approval carries."""

    arguments: Mapping[str, object]
    """Edited arguments."""
    content: Mapping[str, object]
    """Values for a form."""
    output: str
    """Output of a tool that the caller runs."""


@dataclass(frozen=True)
class Turn:
    """How a turn ended."""

    turn: int
    status: Literal["completed", "failed"]
    text: str
    usage: TurnUsage
    error: TurnError | None


class AsyncSession:
    """A session. What it does settles by the session's log, not by the response of a request."""

    def __init__(self, client: AsyncTroupe, id: str | None, options: SessionOptions) -> None:
        self.id = id
        """None until the first message has created the session."""
        self._client = client
        self._functions = {each.name: each for each in options.get("functions", ())}
        self._create = options.get("create", {})
        self._creating = asyncio.Lock()

    async def send(self, input: TurnInput, **options: Unpack[TurnOptions]) -> Turn:
        """Sends a message, of text or of parts with images, until the server has it, and returns how its turn ended. A turn that pauses is waited for."""
        return await _outcome(self.stream(input, **options))

    def stream(self, input: TurnInput, **options: Unpack[TurnOptions]) -> Events:
        """Sends a message, and yields the events of its turn. `options` are fields of `sessions.turns`."""
        tools = [each.tool for each in self._functions.values()] + list(options.get("tools", []))
        return self._turn({"input": input, **options, **({"tools": tools} if tools else {})})

    async def retry(self, turn: int | None = None) -> Turn:
        """Repeats a turn that failed; the newest, if none is named."""
        if turn is None:
            newest = (await self._snapshot(1)).data
            turn = newest[-1]["turn_number"] if newest else 1
        return await _outcome(self._turn({"retry_of": turn}))

    async def stop(self) -> None:
        """Ends the running or paused turn. Returns when the log says so, also if it had ended already."""
        await self._post("cancel", {}, settled="no_turn_in_progress")
        async with aclosing(follow(self._client, await self._created(), None)) as events:
            async for event in events:
                if isinstance(event, SessionSnapshot):
                    newest = event.data[-1]["status"] if event.data else "completed"
                    if newest in ("completed", "failed"):
                        return
                elif isinstance(event, (TurnCompleted, TurnFailed)):
                    return

    async def approve(self, action_id: str, **decision: Unpack[Decision]) -> Resolution:
        """
        Approves a tool call, and returns how the log resolved it, also if someone else was first. A function of this
        session is run before.
        """
        output = decision.pop("output", None)
        if output is None and self._functions:
            pending = await self._pending(action_id)
            output = None if pending is None else await self._output(pending)
        results = {} if output is None else {"tool_results": [{"action_id": action_id, "output": output}]}
        body = {"action_id": action_id, **decision, **results}
        try:
            async with aclosing(self._answer("approve", body, str(uuid.uuid4()))) as events:
                async for event in events:
                    if isinstance(event, TurnResumed) and event.action_id == action_id:
                        return event.resolution
        except TroupeError as error:
            if error.code != "action_already_resolved":
                raise
        return await self._resolution(action_id)

    async def reject(self, action_id: str) -> Resolution:
        """Rejects a tool call, and returns how the log resolved it."""
        answer = await self._post("reject", {"action_id": action_id}, settled="action_already_resolved")
        return await self._resolution(action_id) if answer is None else "rejected"

    async def fork(self, turn: int | None = None) -> AsyncSession:
        """Copies the session up to a turn that has ended; the newest, if none is named."""
        answer = await self._post("fork", {} if turn is None else {"turn_number": turn})
        id = str((answer or {})["id"])
        return AsyncSession(self._client, id, {"functions": self._functions.values()})

    async def messages(self, *, turns: int | None = None) -> list[SessionMessage]:
        """Returns the messages of the newest turns, oldest first; of all turns, if no number is given."""
        messages: list[SessionMessage] = []
        while True:
            have = len({each["turn_number"] for each in messages})
            limit = 100 if turns is None else min(100, turns - have)
            before = messages[0]["turn_number"] if messages else None
            page = await self._snapshot(limit, before)
            messages = page.data + messages
            have = len({each["turn_number"] for each in messages})
            if not page.has_more or not page.data or (turns is not None and have >= turns):
                return messages

    async def image(self, id: str) -> Image:
        """Returns an image of a message, by its `image_id`."""
        async with self._client.streamed("GET", f"/v1/sessions/{self.id}/images/{id}") as response:
            return Image(await whole(response), response.headers["content-type"])

    async def approvals(self) -> list[PendingAction]:
        """Returns the tool calls that wait."""
        return (await self._snapshot(1)).pending_actions

    def events(self, *, after: int = 0) -> Events:
        """Yields the events of the log after a sequence, then live ones."""
        return self._read(after)

    def follow(self) -> Events:
        """Yields the session as it is, as a `SessionSnapshot`, then live events."""
        return self._read(None)

    async def _turn(self, body: Mapping[str, object]) -> Events:
        started = await self._begun(body)
        async with aclosing(self._read(started.id - 1)) as events:
            async for event in events:
                yield event
                if isinstance(event, (TurnCompleted, TurnFailed)) and event.turn_number == started.turn_number:
                    return

    async def _begun(self, body: Mapping[str, object]) -> TurnStarted:
        """Posts a turn until the log has it. The rest of the response comes with the log."""
        key, tries = str(uuid.uuid4()), 0
        while True:
            async with aclosing(self._answer("turns", body, key)) as events:
                async for event in events:
                    if isinstance(event, TurnStarted):
                        return event
            tries += 1
            await asyncio.sleep(back_off(tries, 0.4))

    async def _answer(self, what: str, body: Mapping[str, object], key: str) -> Events:
        """The events of a response, which may break; its request is repeated until the server has it."""
        path = f"/v1/sessions/{await self._created()}/{what}"
        query, frames = {"event_names": "short"}, Frames()
        async with self._client.streamed("POST", path, query=query, body=body, idempotency_key=key) as response:
            try:
                async for piece in response.aiter_bytes():
                    for event in frames.push(piece):
                        yield event
            except httpx.HTTPError:
                return

    async def _read(self, after: int | None) -> Events:
        """Yields events, and runs calls of this session's functions meanwhile."""
        calls: set[asyncio.Future[SessionEvent | None]] = set()
        async with aclosing(follow(self._client, await self._created(), after)) as events:
            following: asyncio.Future[SessionEvent | None] = asyncio.ensure_future(anext(events))
            try:
                while True:
                    await asyncio.wait([following, *calls], return_when=asyncio.FIRST_COMPLETED)
                    for call in [each for each in calls if each.done()]:
                        calls.remove(call)
                        call.result()
                    if not following.done():
                        continue
                    event = following.result()
                    assert event is not None
                    if isinstance(event, TurnResumed):
                        self._client.calls.settled(event.action_id)
                    calls |= {asyncio.ensure_future(self._run_call(each)) for each in self._calls(event)}
                    yield event
                    following = asyncio.ensure_future(anext(events))
            finally:
                for left in (following, *calls):
                    left.cancel()
                await asyncio.gather(following, *calls, return_exceptions=True)

    def _calls(self, event: SessionEvent) -> list[str]:
        """Actions of an event that may wait for functions which need no approval."""
        waiting: list[tuple[str, str]] = []
        if isinstance(event, TurnPaused) and event.run_by == "caller":
            waiting = [(event.action_id, event.tool)]
        elif isinstance(event, SessionSnapshot):
            waiting = [(each["action_id"], each["tool"]) for each in event.pending_actions if "run_by" in each]
        return [id for id, tool in waiting if tool in self._functions and not self._functions[tool].needs_approval]

    async def _run_call(self, action_id: str) -> None:
        pending = await self._pending(action_id)
        # what is read may be the past
        output = None if pending is None else await self._output(pending)
        if output is not None:
            await self.approve(action_id, output=output)

    async def _pending(self, action_id: str) -> PendingAction | None:
        pending = await self.approvals()
        return next((each for each in pending if each["action_id"] == action_id), None)

    async def _output(self, action: PendingAction) -> str | None:
        run = self._functions.get(action["tool"])
        if run is None or action.get("run_by") != "caller":
            return None
        arguments = action["arguments"]
        return await self._client.calls.once(
            action["action_id"], lambda: run.output(arguments), idempotent=run.idempotent
        )

    async def _resolution(self, action_id: str) -> Resolution:
        """How the messages show a call that was resolved before."""
        before: int | None = None
        while True:
            page = await self._snapshot(100, before)
            for message in page.data:
                for part in message["parts"]:
                    if part["type"] == "tool" and part["action_id"] == action_id:
                        return "rejected" if part["status"] in ("rejected", "cancelled") else "approved"
            if not page.has_more or not page.data:
                return "rejected"
            before = page.data[0]["turn_number"]

    async def _snapshot(self, limit: int, before: int | None = None) -> SessionSnapshot:
        path = f"/v1/sessions/{await self._created()}/messages"
        return snapshot_of(await self._client.request("GET", path, query={"limit": limit, "before": before}))

    async def _post(
        self, what: str, body: Mapping[str, object], settled: str | None = None
    ) -> Mapping[str, object] | None:
        """`settled`: code of a refusal which says that the log has an outcome already."""
        path = f"/v1/sessions/{await self._created()}/{what}"
        try:
            return await self._client.request("POST", path, body=body, idempotency_key=str(uuid.uuid4()))
        except TroupeError as error:
            if error.code == settled:
                return None
            raise

    async def _created(self) -> str:
        async with self._creating:
            if self.id is None:
                answer = await self._client.request(
                    "POST", "/v1/sessions", body=self._create, idempotency_key=str(uuid.uuid4())
                )
                self.id = str(answer["id"])
            return self.id


async def _outcome(events: Events) -> Turn:
    turn: Turn | None = None
    async for event in events:
        if isinstance(event, TurnCompleted):
            turn = Turn(event.turn_number, "completed", event.output, event.usage, None)
        elif isinstance(event, TurnFailed):
            turn = Turn(event.turn_number, "failed", event.output["text"], event.usage, event.error)
    assert turn is not None, "a turn ends with its last event"
    return turn
