"""The client with `await`."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from os import PathLike
from typing import TypedDict, TypeVar

import httpx

from . import webhooks
from .calls import Calls
from .credential import Credential, TokenSource
from .errors import InvalidRequestError, ServerUnreachableError, TroupeError, error_in, whole, wrong_base_url
from .follow import back_off
from .session import AsyncSession, SessionOptions

if sys.version_info >= (3, 11):
    from typing import Unpack
else:
    from typing_extensions import Unpack

T = TypeVar("T")

Document = dict[str, object]
"""A JSON document of the API."""

# bytes that are sent at a time: the time for each is limited, not that for all of an upload
_PIECE = 64 * 1024

# methods that may be repeated without a key
_REPEATABLE = frozenset({"GET", "PUT", "DELETE"})


class ClientOptions(TypedDict, total=False):
    """How a client proves who it is, and how long it tries."""

    key: str
    """Secret key (`csk_…`)."""
    token: TokenSource
    """Gets client tokens, instead of a key."""
    calls: str | PathLike[str]
    """Folder in which calls of functions are recorded: so each runs once across restarts and processes."""
    retry_for: float
    """Seconds for which requests and streams are repeated after failures that pass. Default: 120."""
    keep_alive: float
    """Seconds between the keep-alives of the server. A stream that misses two is opened again. Default: 15."""
    headers: Mapping[str, str]
    """Headers of every request, such as `{"X-Tenant-Id": "ten_…"}`."""
    http: httpx.AsyncClient
    """Sends the requests, for proxies and certificates of your own."""


class RequestOptions(TypedDict, total=False):
    """What a request carries."""

    query: Mapping[str, object]
    body: Mapping[str, object]
    """JSON; with `files`, the fields of a form."""
    files: Mapping[str, tuple[str, bytes]]
    """Names and contents of files, by the fields of a form."""
    idempotency_key: str
    """All attempts of one request carry the same key, so that the server carries it out once."""
    headers: Mapping[str, str]
    """Headers of this request, beside those of the client."""


class AsyncTroupe:
    """A client of a Troupe server, for one event loop."""

    webhooks = webhooks

    def __init__(self, base_url: str = "http://127.0.0.1:8080", **options: Unpack[ClientOptions]) -> None:
        """`base_url`: address under which `/v1` is served."""
        self.base_url = re.sub(r"/(v1/?)?$", "", base_url)
        self.credential = Credential(options.get("key"), options.get("token"))
        self.calls = Calls(options.get("calls"))
        self.retry_for = options.get("retry_for", 120)
        self.headers = options.get("headers", {})
        self.sessions = AsyncSessions(self)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
        timeout = httpx.Timeout(10, read=max(2.2 * options.get("keep_alive", 15), 10), pool=None)
        self._http = options.get("http") or httpx.AsyncClient(limits=limits, timeout=timeout)

    async def __aenter__(self) -> AsyncTroupe:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all connections."""
        await self._http.aclose()

    async def request(self, method: str, path: str, **options: Unpack[RequestOptions]) -> Document:
        """
        Sends a request and returns its document; a text, such as a CSV file, and a list are its `data`. Failures that pass are repeated, unless the method acts and has no key.
        """

        async def document() -> Document:
            async with aclosing(await self._opened(method, path, options)) as response:
                content = await whole(response)
                is_text = response.headers.get("content-type", "").startswith("text/")
                read = response.text if is_text else json.loads(content or b"{}")
                return read if isinstance(read, dict) else {"data": read}

        return await self._repeated(document, self._may_repeat(method, options))

    async def pages(self, path: str, query: Mapping[str, object] | None = None) -> AsyncGenerator[Document, None]:
        """Yields the items of a list, page after page."""
        place = dict(query or {})
        while True:
            page = await self.request("GET", path, query=place)
            items = page.get("data")
            rows: list[Document] = items if isinstance(items, list) else []
            for row in rows:
                yield row
            following = _following(path, page, rows)
            if following is None:
                return
            place.update(following)

    @asynccontextmanager
    async def streamed(
        self, method: str, path: str, *, repeat: bool = True, **options: Unpack[RequestOptions]
    ) -> AsyncGenerator[httpx.Response, None]:
        """Opens a response without reading it: a stream, or a file. Until it begins, it is repeated like `request`."""
        may_repeat = repeat and self._may_repeat(method, options)
        opening = self._repeated(lambda: self._opened(method, path, options), may_repeat)
        async with aclosing(await opening) as response:
            yield response

    def _may_repeat(self, method: str, options: RequestOptions) -> bool:
        return method in _REPEATABLE or "idempotency_key" in options

    async def _repeated(self, attempt: Callable[[], Awaitable[T]], may_repeat: bool) -> T:
        since, tries = time.monotonic(), 0
        while True:
            try:
                return await attempt()
            except TroupeError as error:
                tries += 1
                if not may_repeat or not error.is_passing or time.monotonic() - since > self.retry_for:
                    raise
                await asyncio.sleep(max(back_off(tries, 0.4 * max(1, tries / 20)), error.retry_after))

    async def _opened(self, method: str, path: str, options: RequestOptions) -> httpx.Response:
        """A response that succeeded and is not read yet."""
        is_first = True
        while True:
            bearer = await self.credential.bearer()
            response = await self._answered(method, path, options, bearer)
            self.credential.heard(response.headers.get("date"))
            is_html = response.headers.get("content-type", "").startswith("text/html")
            if response.is_success and not is_html:
                return response
            async with aclosing(response):
                await whole(response)
            if response.is_success:
                raise wrong_base_url(self.base_url, response.status_code)
            if response.status_code != 401 or not is_first or not self.credential.refused(bearer):
                raise error_in(response, self.base_url)
            is_first = False

    async def _answered(self, method: str, path: str, options: RequestOptions, bearer: str) -> httpx.Response:
        own = [*self.headers.items(), *options.get("headers", {}).items()]
        # two headers whose names differ in case would both be sent
        headers = {**{name.lower(): value for name, value in own}, "authorization": f"Bearer {bearer}"}
        if "idempotency_key" in options:
            headers["idempotency-key"] = options["idempotency_key"]
        query = {name: _text(value) for name, value in options.get("query", {}).items() if value is not None}
        body, files, url = options.get("body"), options.get("files"), f"{self.base_url}{path}"
        try:
            if files is None and body is not None:
                content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
                headers |= {"content-type": "application/json", "content-length": str(len(content))}
                request = self._http.build_request(
                    method, url, params=query, headers=headers, content=_pieces(content)
                )
            elif files is None:
                request = self._http.build_request(method, url, params=query, headers=headers)
            else:
                form = dict(body or {})
                request = self._http.build_request(method, url, params=query, headers=headers, data=form, files=files)
            return await self._http.send(request, stream=True)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as cause:
            sentence = f"base_url is no address of a server: {self.base_url}"
            raise InvalidRequestError(sentence, code="wrong_base_url") from cause
        except httpx.HTTPError as cause:
            sentence = f"No answer from {self.base_url}: is the server running, and is base_url right?"
            raise ServerUnreachableError(sentence, code="connection") from cause


class AsyncSessions:
    """Sessions of a client."""

    def __init__(self, client: AsyncTroupe) -> None:
        self._client = client

    def open(self, id: str | None = None, **options: Unpack[SessionOptions]) -> AsyncSession:
        """Opens a session; without an id, the first message creates one."""
        return AsyncSession(self._client, id, options)

    def list(self, **filters: str | None) -> AsyncGenerator[Document, None]:
        """Yields sessions, newest first. `filters` are those of `sessions.list`."""
        return self._client.pages("/v1/sessions", filters)


async def _pieces(content: bytes) -> AsyncGenerator[bytes, None]:
    for at in range(0, len(content), _PIECE):
        yield content[at : at + _PIECE]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _following(path: str, page: Mapping[str, object], rows: list[Document]) -> dict[str, object] | None:
    """The place of the next page, in the way of this list; None after the last page."""
    if "next_cursor" in page:
        return None if page["next_cursor"] is None else {"cursor": page["next_cursor"]}
    pagination = page.get("pagination")
    if isinstance(pagination, dict):
        if not pagination.get("has_more"):
            return None
        # new rows would shift the numbers of pages, and a log has gaps
        if rows and path.endswith("/sessions"):
            return {"starting_after": rows[-1]["id"]}
        if rows and path.endswith("/events"):
            return {"after": rows[-1]["sequence"]}
        return {"page": pagination["page"] + 1}
    return {"after": page["last_id"]} if page.get("has_more") and page.get("last_id") else None
