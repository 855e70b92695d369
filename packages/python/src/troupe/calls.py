"""Calls of functions, each of which runs once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from os import PathLike
from pathlib import Path

# output for a call that may have run: its process ended before it could say so
LOST = "The program ended while this function ran. It is not known whether it took effect."

_STARTED, _OUTPUT = "started", "output:"


class Calls:
    """Calls by the ids of their actions: those of this process, and in a folder those of all that share it."""

    def __init__(self, folder: str | PathLike[str] | None) -> None:
        self._folder = None if folder is None else Path(folder)
        self._running: dict[str, asyncio.Future[str]] = {}
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)

    async def once(self, action_id: str, run: Callable[[], Awaitable[str]], *, idempotent: bool) -> str:
        """
        Runs a call, unless it has run, and returns its output. Its start is written down before: a call that started and
        has no output is not run again, unless it is idempotent.
        """
        running = self._running.get(action_id)
        if running is None:
            running = asyncio.ensure_future(self._recorded(action_id, run, idempotent))
            self._running[action_id] = running
        return await asyncio.shield(running)

    def settled(self, action_id: str) -> None:
        """Forgets a call whose output the server has: it calls no function for that action again."""
        self._running.pop(action_id, None)

    async def _recorded(self, action_id: str, run: Callable[[], Awaitable[str]], idempotent: bool) -> str:
        if self._folder is None:
            return await run()
        record = self._folder / action_id
        async with _locked(self._folder / f"{action_id}.lock"):
            before = record.read_text("utf8") if record.exists() else ""
            if before.startswith(_OUTPUT):
                return before[len(_OUTPUT) :]
            if before == _STARTED and not idempotent:
                return LOST
            _write(record, _STARTED)
            output = await run()
            _write(record, _OUTPUT + output)
            return output


def _write(record: Path, text: str) -> None:
    draft = record.with_suffix(".draft")
    with draft.open("w", encoding="utf8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(record)


@asynccontextmanager
async def _locked(path: Path) -> AsyncIterator[None]:
    """Holds a lock that ends with the process."""
    file = os.open(path, os.O_CREAT | os.O_RDWR)
    try:
        while not _try_lock(file):
            await asyncio.sleep(0.02)
        yield
    finally:
        os.close(file)


def _try_lock(file: int) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
