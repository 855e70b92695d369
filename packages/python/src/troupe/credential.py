"""How a client proves who it is."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TypedDict, Union

from .errors import TroupeError


class ClientToken(TypedDict):
    """A client token, as `client_tokens.create` answers."""

    token: str
    expires_at: str


TokenSource = Callable[[], Union[ClientToken, Awaitable[ClientToken]]]
"""Gets a client token. A function that waits without `await` runs in a thread."""

# part of its life after which a token is renewed
_RENEWED_AFTER = 0.8


@dataclass(frozen=True)
class _Held:
    token: str
    renew_at: float
    ends_at: float


class Credential:
    """A key, or the newest token, of which one is fetched at a time."""

    def __init__(self, key: str | None, token: TokenSource | None) -> None:
        if (key is None) == (token is None):
            raise TypeError("Pass either key or token to the client.")
        self._key = key
        self._source = token
        self._held: _Held | None = None
        self._lock = asyncio.Lock()
        # what the server's clock is ahead of this one, in seconds
        self._ahead = 0.0

    async def bearer(self) -> str:
        """Returns the key, or a token that is not due for renewal. A failed renewal leaves the old one its last fifth."""
        if self._key is not None:
            return self._key
        async with self._lock:
            held = self._held
            if held is not None and self._now() < held.renew_at:
                return held.token
            try:
                self._held = await self._renewed()
            except Exception:
                if held is None or self._now() >= held.ends_at:
                    raise
                return held.token
            return self._held.token

    def refused(self, bearer: str | None = None) -> bool:
        """Drops a bearer that the server refused; the newest, if none is named. Returns whether there may be another."""
        if bearer is None or (self._held is not None and self._held.token == bearer):
            self._held = None
        return self._source is not None

    def heard(self, date: str | None) -> None:
        """Learns the server's clock from the `Date` of a response."""
        if date is not None and self._source is not None:
            self._ahead = parsedate_to_datetime(date).timestamp() - time.time()

    def _now(self) -> float:
        return time.time() + self._ahead

    async def _renewed(self) -> _Held:
        source = self._source
        assert source is not None
        answer = source() if inspect.iscoroutinefunction(source) else await asyncio.to_thread(source)
        token = await answer if inspect.isawaitable(answer) else answer
        if not isinstance(token, dict) or not isinstance(token.get("token"), str):
            raise TroupeError("token must return what POST /v1/client-tokens answers.", code="no_token")
        now = self._now()
        ends_at = datetime.fromisoformat(str(token.get("expires_at")).replace("Z", "+00:00")).timestamp()
        # a clock that is wrong must not make every request fetch a token
        life = max(ends_at - now, 10.0)
        return _Held(token["token"], now + life * _RENEWED_AFTER, now + life)
