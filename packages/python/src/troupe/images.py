"""Images in messages of a session."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, TypedDict

from .errors import InvalidRequestError


class InputText(TypedDict):
    """A text in a message."""

    type: Literal["input_text"]
    text: str


class InputImage(TypedDict, total=False):
    """An image in a message, as `input_image` makes it."""

    type: Literal["input_image"]
    image_url: str
    """A data URL, or an https address."""
    file_id: str
    """Id of a file of `files.create`, in place of an address."""
    detail: Literal["auto", "low", "high"]


TurnInput = str | Sequence[InputText | InputImage]
"""What a message is made of: a text, or texts and images."""


@dataclass(frozen=True)
class Image:
    """An image of a session."""

    content: bytes
    mime_type: str


# how images of the formats that every model reads begin
_FORMATS = (
    (rb"\x89PNG\r\n", "png"),
    (rb"\xff\xd8\xff", "jpeg"),
    (rb"GIF8", "gif"),
    (rb"RIFF[\s\S]{4}WEBP", "webp"),
)


def input_image(
    source: bytes | PathLike[str] | str, *, detail: Literal["auto", "low", "high"] | None = None
) -> InputImage:
    """
    Makes the part of a message that shows an image: of its bytes, the path of its file (a `Path`), its address (https or a data URL), or the id of a file of `files.create`.

    Raises `unsupported_format` for bytes that are no PNG, JPEG, WEBP or GIF, and for a text that is neither an address nor an id.
    """
    part: InputImage = {"type": "input_image"}
    if detail is not None:
        part["detail"] = detail
    if isinstance(source, str):
        if re.match(r"https:|data:image/", source, re.IGNORECASE):
            part["image_url"] = source
        elif re.fullmatch(r"file_\w+", source):
            part["file_id"] = source
        else:
            sentence = f"{source[:40]} is neither an https address, a data URL of an image, nor the id of a file: pass a Path for a file of this program."
            raise InvalidRequestError(sentence, code="unsupported_format")
        return part
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    format = next((name for start, name in _FORMATS if re.match(start, content)), None)
    if format is None:
        name = "This" if isinstance(source, bytes) else Path(source).name
        sentence = f"{name} is no image that turns take: PNG, JPEG, WEBP or GIF."
        raise InvalidRequestError(sentence, code="unsupported_format")
    part["image_url"] = f"data:image/{format};base64,{b64encode(content).decode()}"
    return part
