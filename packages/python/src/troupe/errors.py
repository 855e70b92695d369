"""Errors of calls. The class is the type that the server names; `code` is one of the API's error codes."""

from __future__ import annotations

from collections.abc import Mapping

import httpx


class TroupeError(Exception):
    """An error of a call."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int = 0,
        param: str | None = None,
        request_id: str | None = None,
        retry_after: float = 0,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        """Status of the response; 0 if there was none."""
        self.param = param
        """Field that the error is about."""
        self.request_id = request_id
        """Id of the request, for the operator of the server."""
        self.retry_after = retry_after
        """Seconds after which the server wants to see the request again."""

    def __str__(self) -> str:
        more = {"code": self.code, "param": self.param, "request_id": self.request_id}
        return f"{self.message} ({', '.join(f'{name}: {text}' for name, text in more.items() if text)})"

    @property
    def is_passing(self) -> bool:
        """Whether the same request may succeed later."""
        if self.status == 0:
            return self.code == "connection"
        return self.status >= 500 or self.status == 429 or self.code == "idempotency_in_progress"


class InvalidRequestError(TroupeError):
    """The request cannot be carried out as it is (400, 404, 405, 409, 413, 415, 422)."""


class AuthenticationError(TroupeError):
    """The credential is missing, unknown, expired or revoked (401)."""


class PermissionDeniedError(TroupeError):
    """The credential may not do this (403)."""


class RateLimitError(TroupeError):
    """Too many requests (429): see `retry_after`."""


class BillingError(TroupeError):
    """A budget, a plan or credits do not suffice (402)."""


class ProviderError(TroupeError):
    """A model provider failed (502, 503, 504)."""


class ApiError(TroupeError):
    """The server failed (5xx)."""


class ServerUnreachableError(TroupeError):
    """No response arrived."""


class WebhookSignatureError(TroupeError):
    """A request to a webhook is not signed with its secret, or too old."""


_CLASSES: Mapping[str, type[TroupeError]] = {
    "invalid_request_error": InvalidRequestError,
    "authentication_error": AuthenticationError,
    "permission_error": PermissionDeniedError,
    "rate_limit_error": RateLimitError,
    "billing_error": BillingError,
    "provider_error": ProviderError,
    "api_error": ApiError,
}

# for envelopes without a type
_BY_STATUS = {401: "authentication_error", 402: "billing_error", 403: "permission_error", 429: "rate_limit_error"}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


async def whole(response: httpx.Response) -> bytes:
    """Reads a response to its end."""
    try:
        return await response.aread()
    except httpx.HTTPError as cause:
        raise ServerUnreachableError("The response broke.", code="connection") from cause


def error_in(response: httpx.Response, base_url: str) -> TroupeError:
    """Reads the error of a response; one that is no JSON did not come from this API."""
    status = response.status_code
    after = response.headers.get("retry-after", "0")
    retry_after = float(after) if after.isdigit() else 0
    if "json" not in response.headers.get("content-type", ""):
        if status >= 500:
            return ApiError(f"The server answered {status}.", code="unavailable", status=status, retry_after=retry_after)
        return wrong_base_url(base_url, status)
    body = response.json()
    fields = body if isinstance(body, dict) else {}
    error = fields["error"] if isinstance(fields.get("error"), dict) else {**fields, "code": fields.get("error")}
    kind = _text(error.get("type")) or _BY_STATUS.get(status) or ("invalid_request_error" if status < 500 else "api_error")
    code = _text(error.get("code")) or kind
    return _CLASSES.get(kind, ApiError)(
        _text(error.get("message")) or code,
        code=code,
        status=status,
        param=_text(error.get("param")),
        request_id=_text(error.get("request_id")) or _text(fields.get("request_id")),
        retry_after=retry_after,
    )


def wrong_base_url(base_url: str, status: int) -> TroupeError:
    """An error for an address at which something else answers."""
    sentence = f"No Troupe server answers at {base_url} ({status}): set base_url to the address under which /v1 is served."
    return InvalidRequestError(sentence, code="wrong_base_url", status=404)
