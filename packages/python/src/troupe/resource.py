"""What the generated calls of a resource consist of (`api.py`)."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import TypedDict
from urllib.parse import quote

from .client import AsyncTroupe, Document
from .sync import Troupe

if sys.version_info >= (3, 11):
    from typing import Unpack
else:
    from typing_extensions import Unpack


class CallOptions(TypedDict, total=False):
    """What a call takes beside the arguments of its operation."""

    idempotency_key: str
    """All attempts of one request carry the same key, so that the server carries it out once."""
    files: Mapping[str, tuple[str, bytes]]
    """Names and contents of files, by the fields of a form."""
    headers: Mapping[str, str]
    """Headers of this request, beside those of the client."""


Fields = Mapping[str, object]


class AsyncResource:
    """Calls of one resource, with `await`."""

    def __init__(self, client: AsyncTroupe) -> None:
        self._client = client

    async def _read(self, method: str, path: str, query: Fields | None = None, **options: Unpack[CallOptions]) -> Document:
        return await self._client.request(method, path, query=query or {}, **options)

    async def _send(self, method: str, path: str, body: Fields, **options: Unpack[CallOptions]) -> Document:
        return await self._client.request(method, path, body=body, **options)

    def _pages(self, path: str, query: Fields | None) -> AsyncGenerator[Document, None]:
        return self._client.pages(path, query)


class Resource:
    """Calls of one resource."""

    def __init__(self, client: Troupe) -> None:
        self._client = client

    def _read(self, method: str, path: str, query: Fields | None = None, **options: Unpack[CallOptions]) -> Document:
        return self._client.request(method, path, query=query or {}, **options)

    def _send(self, method: str, path: str, body: Fields, **options: Unpack[CallOptions]) -> Document:
        return self._client.request(method, path, body=body, **options)

    def _pages(self, path: str, query: Fields | None) -> Iterator[Document]:
        return self._client.pages(path, query)


def part(text: str) -> str:
    """A text as a part of a path."""
    return quote(text, safe="")
