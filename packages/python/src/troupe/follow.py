"""Follows the log of a session through whatever breaks."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

import httpx

from .errors import AuthenticationError, InvalidRequestError, ServerUnreachableError, TroupeError
from .events import SessionEvent, SessionSnapshot, StreamEnded, TurnFailed, TurnRestarted
from .frames import Frames

if TYPE_CHECKING:
    from .client import AsyncTroupe

log = logging.getLogger("troupe")

# longest delay in seconds between attempts during the first minute and a half of an outage, and after it
_SOON, _LATER, _SOON_FOR = 0.3, 5.0, 90.0
# seconds after which a connection has shown that the next one may be tried at once
_LIVED = 1.0


def back_off(tries: int, longest: float) -> float:
    """A delay in seconds before the next of some attempts, of which the first waits not at all: doubled, with jitter."""
    return 0 if tries == 0 else min(0.05 * 2 ** min(tries, 16), longest) * random.uniform(0.5, 1)


async def follow(client: AsyncTroupe, session_id: str, after: int | None) -> AsyncGenerator[SessionEvent, None]:
    """
    Yields every event after a sequence once, in order, and then live ones; without a sequence, a snapshot comes first.

    Raises an error if the server refuses for good, if the session is deleted, and after an outage of `retry_for`.
    """
    reader = _Reader(client, session_id, after)
    tries, failing_since = 0, 0.0
    while True:
        heard, since = reader.heard, time.monotonic()
        error: TroupeError | None = None
        try:
            async with aclosing(reader.once()) as events:
                async for event in events:
                    yield event
        except TroupeError as caught:
            error = caught
        # one that ends as soon as it began is as bad as none
        if reader.heard != heard and time.monotonic() - since > _LIVED:
            tries = 0
        if tries == 0:
            failing_since = time.monotonic()
        outage = time.monotonic() - failing_since
        if error is not None and (not error.is_passing or outage > client.retry_for):
            raise error
        if tries == 1 and error is not None:
            log.warning("session %s: %s The stream is opened again until the server answers.", session_id, error)
        wait = back_off(tries, _SOON if outage < _SOON_FOR else _LATER)
        await asyncio.sleep(max(wait, error.retry_after if error else 0))
        tries += 1


class _Reader:
    """What one reader has had of a log."""

    def __init__(self, client: AsyncTroupe, session_id: str, after: int | None) -> None:
        self._client = client
        self._path = f"/v1/sessions/{session_id}/stream"
        self._last = -1 if after is None else after
        # event before a gap that has been read again already: the log itself has it
        self._gap_after = -1
        self.heard = 0
        """Number of pieces that have arrived."""

    async def once(self) -> AsyncGenerator[SessionEvent, None]:
        """Reads one connection until it ends."""
        start: dict[str, object] = {"snapshot": True} if self._last < 0 else {"after": self._last}
        query = {**start, "restarts": True, "event_names": "short"}
        frames = Frames()
        async with self._client.streamed("GET", self._path, query=query, repeat=False) as response:
            try:
                async for piece in response.aiter_bytes():
                    self.heard += 1
                    for event in frames.push(piece):
                        if isinstance(event, StreamEnded):
                            self._ended(event)
                        elif event.id > self._last:
                            if self._is_hole(event):
                                return
                            self._last = event.id
                            yield event
            except httpx.HTTPError as cause:
                raise ServerUnreachableError("The stream broke.", code="connection") from cause

    def _is_hole(self, event: SessionEvent) -> bool:
        """After a crash the log leaves sequences out before these; any other gap is one only if it is there again."""
        if event.id == self._last + 1 or self._last < 0 or self._gap_after == self._last:
            return False
        if isinstance(event, (SessionSnapshot, TurnRestarted, TurnFailed)):
            return False
        self._gap_after = self._last
        return True

    def _ended(self, event: StreamEnded) -> None:
        if event.reason == "deleted":
            raise InvalidRequestError("The session was deleted.", code="not_found", status=404)
        if not self._client.credential.refused():
            sentence = "The credential has ended: pass token to the client, which fetches another."
            raise AuthenticationError(sentence, code="authentication_required", status=401)
