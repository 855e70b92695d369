"""Server-sent events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .events import EVENTS, SessionEvent, SessionSnapshot

_FIELDS: Mapping[str, list[str]] = {
    name: [field for field in each.__dataclass_fields__ if field not in ("id", "event")]
    for name, each in EVENTS.items()
}


class Frames:
    """Reads events from pieces of bytes that may be cut anywhere; only whole frames count."""

    def __init__(self) -> None:
        self._rest = b""

    def push(self, piece: bytes) -> list[SessionEvent]:
        """Returns the events of the frames that this piece completes."""
        *frames, self._rest = (self._rest + piece).split(b"\n\n")
        return [event for event in map(_parsed, frames) if event is not None]


def _parsed(frame: bytes) -> SessionEvent | None:
    """One frame; None for a comment, and for an event that a newer server sends and this release does not know."""
    name, sequence, data = "", 0, ""
    for line in frame.decode().split("\n"):
        if line.startswith("data: "):
            data += line[6:]
        elif line.startswith("event: "):
            name = line[7:]
        elif line.startswith("id: "):
            sequence = int(line[4:])
    event = EVENTS.get(name)
    if event is None or data == "":
        return None
    # a field that an older server does not send is None
    values = json.loads(data)
    return event(id=sequence, **{field: values.get(field) for field in _FIELDS[name]})


def snapshot_of(document: Mapping[str, Any]) -> SessionSnapshot:
    """A page of `sessions.messages`."""
    fields: dict[str, Any] = {field: document.get(field) for field in _FIELDS["session.snapshot"]}
    return SessionSnapshot(id=document["last_event_id"], **fields)
