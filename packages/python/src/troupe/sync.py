"""The client without `await`: the other one, in an event loop of its own thread. So it also works where a loop runs."""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping
from typing import TypeVar

from . import webhooks
from .client import AsyncTroupe, ClientOptions, Document, RequestOptions
from .events import PendingAction, SessionEvent, SessionMessage, TurnOptions
from .images import Image, TurnInput
from .session import AsyncSession, Decision, Resolution, SessionOptions, Turn

if sys.version_info >= (3, 11):
    from typing import Unpack
else:
    from typing_extensions import Unpack

T = TypeVar("T")


class _LoopThread:
    """An event loop in a thread, for one client and one process."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._serve, name="troupe", daemon=True)
        self._thread.start()
        # iterators that are left to the end of the program must not wait for a thread that is gone
        atexit.register(self.stop)

    def _serve(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    def run(self, work: Coroutine[object, object, T]) -> T:
        """Runs work in the loop, and waits for it."""
        wrong = self._refusal()
        if wrong is not None:
            work.close()
            raise RuntimeError(wrong)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()

    def iterate(self, items: AsyncGenerator[T, None]) -> Iterator[T]:
        """Yields what an asynchronous iterator yields."""

        async def step() -> T | None:
            return await anext(items, None)

        try:
            while (item := self.run(step())) is not None:
                yield item
        finally:
            if self._refusal() is None:
                self.run(items.aclose())

    def stop(self) -> None:
        """Ends the thread, and what still runs in it."""
        atexit.unregister(self.stop)
        if self._thread.is_alive() and self._process == os.getpid():
            asyncio.run_coroutine_threadsafe(self._end(), self._loop)
            self._thread.join(5)

    async def _end(self) -> None:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        self._loop.stop()

    def _refusal(self) -> str | None:
        if self._process != os.getpid():
            return "A client cannot be used after a fork: make another one in this process."
        if threading.current_thread() is self._thread:
            return "An async function of a session cannot use the sync client: declare it without async."
        return None if self._thread.is_alive() else "The client is closed."


class Troupe:
    """A client of a Troupe server."""

    webhooks = webhooks

    def __init__(self, base_url: str = "http://127.0.0.1:8080", **options: Unpack[ClientOptions]) -> None:
        """As `AsyncTroupe`."""
        self._client = AsyncTroupe(base_url, **options)
        self._thread = _LoopThread()
        self.sessions = Sessions(self._client, self._thread)

    def __enter__(self) -> Troupe:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes all connections."""
        self._thread.run(self._client.close())
        self._thread.stop()

    def request(self, method: str, path: str, **options: Unpack[RequestOptions]) -> Document:
        """As `AsyncTroupe.request`."""
        return self._thread.run(self._client.request(method, path, **options))

    def pages(self, path: str, query: Mapping[str, object] | None = None) -> Iterator[Document]:
        """As `AsyncTroupe.pages`."""
        return self._thread.iterate(self._client.pages(path, query))


class Sessions:
    """Sessions of a client."""

    def __init__(self, client: AsyncTroupe, thread: _LoopThread) -> None:
        self._client = client
        self._thread = thread

    def open(self, id: str | None = None, **options: Unpack[SessionOptions]) -> Session:
        """As `AsyncSessions.open`."""
        return Session(self._client.sessions.open(id, **options), self._thread)

    def list(self, **filters: str | None) -> Iterator[Document]:
        """As `AsyncSessions.list`."""
        return self._thread.iterate(self._client.sessions.list(**filters))


class Session:
    """A session, with the methods of `AsyncSession`."""

    def __init__(self, session: AsyncSession, thread: _LoopThread) -> None:
        self._session = session
        self._thread = thread

    @property
    def id(self) -> str | None:
        """None until the first message has created the session."""
        return self._session.id

    def send(self, input: TurnInput, **options: Unpack[TurnOptions]) -> Turn:
        """As `AsyncSession.send`."""
        return self._thread.run(self._session.send(input, **options))

    def stream(self, input: TurnInput, **options: Unpack[TurnOptions]) -> Iterator[SessionEvent]:
        """As `AsyncSession.stream`."""
        return self._thread.iterate(self._session.stream(input, **options))

    def retry(self, turn: int | None = None) -> Turn:
        """As `AsyncSession.retry`."""
        return self._thread.run(self._session.retry(turn))

    def stop(self) -> None:
        """As `AsyncSession.stop`."""
        self._thread.run(self._session.stop())

    def approve(self, action_id: str, **decision: Unpack[Decision]) -> Resolution:
        """As `AsyncSession.approve`."""
        return self._thread.run(self._session.approve(action_id, **decision))

    def reject(self, action_id: str) -> Resolution:
        """As `AsyncSession.reject`."""
        return self._thread.run(self._session.reject(action_id))

    def fork(self, turn: int | None = None) -> Session:
        """As `AsyncSession.fork`."""
        return Session(self._thread.run(self._session.fork(turn)), self._thread)

    def messages(self, *, turns: int | None = None) -> list[SessionMessage]:
        """As `AsyncSession.messages`."""
        return self._thread.run(self._session.messages(turns=turns))

    def image(self, id: str) -> Image:
        """As `AsyncSession.image`."""
        return self._thread.run(self._session.image(id))

    def approvals(self) -> list[PendingAction]:
        """As `AsyncSession.approvals`."""
        return self._thread.run(self._session.approvals())

    def events(self, *, after: int = 0) -> Iterator[SessionEvent]:
        """As `AsyncSession.events`."""
        return self._thread.iterate(self._session.events(after=after))

    def follow(self) -> Iterator[SessionEvent]:
        """As `AsyncSession.follow`."""
        return self._thread.iterate(self._session.follow())
