"""Requests that the server sends to webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import cast

from .errors import WebhookSignatureError
from .webhook_events import WebhookEvent


def unwrap(body: bytes | str, headers: Mapping[str, str], secret: str, *, tolerance: float = 300) -> WebhookEvent:
    """
    Returns the event of a request to a webhook, after its signature and its time have been checked.

    `body`: the request's body exactly as it arrived. `secret`: that of the webhook. `tolerance`: seconds by which the
    request's time may differ from now. Raises a WebhookSignatureError if the request is not the server's, or old.
    """
    given = {name.lower(): text for name, text in headers.items()}
    id, sent_at = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    text = body.encode() if isinstance(body, str) else body
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as cause:
        raise WebhookSignatureError("The secret of the webhook is not base64.", code="invalid_secret") from cause
    signed = hmac.new(key, f"{id}.{sent_at}.".encode() + text, hashlib.sha256).digest()
    right = b"v1," + base64.b64encode(signed)
    # all are compared: which of them is right must not show in the time
    signatures = given.get("webhook-signature", "").split(" ")
    is_right = [hmac.compare_digest(each.encode(), right) for each in signatures]
    if not id or not any(is_right):
        raise WebhookSignatureError("The request is not signed with this webhook's secret.", code="invalid_signature")
    if not sent_at.isascii() or not sent_at.isdigit() or abs(time.time() - int(sent_at)) > tolerance:
        raise WebhookSignatureError("The request is too old, or from the future.", code="invalid_timestamp")
    return cast(WebhookEvent, json.loads(text))
