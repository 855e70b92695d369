"""
A client of a Troupe server.

    from troupe import Troupe

    with Troupe(key="csk_…") as troupe:
        session = troupe.sessions.open()
        print(session.send("Hello").text)
"""

from . import webhooks
from .client import AsyncSessions, AsyncTroupe, ClientOptions, Document, RequestOptions
from .credential import ClientToken, TokenSource
from .errors import (
    ApiError, AuthenticationError, BillingError, InvalidRequestError, PermissionDeniedError, ProviderError,
    RateLimitError, ServerUnreachableError, TroupeError, WebhookSignatureError,
)
from .events import (
    ContextCompacted, GuardrailTriggered, OutputTextDelta, PendingAction, ReasoningDelta, SessionEvent, SessionForked, SessionMessage, SessionSnapshot,
    StreamEnded, ToolCallCompleted, ToolCallProgress, ToolCallStarted, TurnCompleted, TurnError, TurnFailed,
    TurnOptions, TurnPaused, TurnRestarted, TurnResumed, TurnStarted, TurnUsage,
)
from .functions import AnyFunction, Function, function
from .images import Image, InputImage, InputText, TurnInput, input_image
from .session import AsyncSession, Decision, Resolution, SessionOptions, Turn
from .sync import Session, Sessions, Troupe
from .text import TurnText
from .webhook_events import WebhookEvent

__all__ = [
    "AnyFunction", "ApiError", "AsyncSession", "AsyncSessions", "AsyncTroupe", "AuthenticationError", "BillingError",
    "ClientOptions", "ClientToken", "ContextCompacted", "Decision", "Document", "Function", "GuardrailTriggered", "Image", "InputImage", "InputText", "InvalidRequestError", "OutputTextDelta",
    "PendingAction", "PermissionDeniedError", "ProviderError", "RateLimitError", "ReasoningDelta", "RequestOptions", "Resolution",
    "ServerUnreachableError", "Session", "SessionEvent", "SessionForked", "SessionMessage", "SessionSnapshot",
    "SessionOptions", "Sessions", "StreamEnded", "TokenSource", "ToolCallCompleted", "ToolCallProgress", "ToolCallStarted", "Troupe",
    "TroupeError", "Turn", "TurnCompleted", "TurnError", "TurnFailed", "TurnInput", "TurnOptions", "TurnPaused", "TurnRestarted",
    "TurnResumed", "TurnStarted", "TurnText", "TurnUsage", "WebhookEvent", "WebhookSignatureError", "function",
    "input_image", "webhooks",
]
