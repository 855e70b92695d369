"""Events of a session, its messages, and the fields of a turn. Made from the declarations by `npm run generate`; not to be edited."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired


class TurnInputText(TypedDict):
    """Text."""
    type: Literal["input_text"]
    text: str


class TurnInputImage(TypedDict):
    """An image, by reference."""
    type: Literal["input_image"]
    image_id: NotRequired[str]
    mime_type: NotRequired[str]
    """Media type of the image."""
    bytes: NotRequired[int]
    """Size of the image."""
    file_id: NotRequired[str]
    """File from which the image was copied."""
    image_url: NotRequired[str]
    """Address of the image, where it was given by one."""
    detail: NotRequired[Literal["auto", "low", "high"]]


class RequiredConnection(TypedDict):
    """A connection that must be established first."""
    connection_id: str
    connector: str
    authorize_url: str | None
    """URL where the owner signs in. Null for a connection that uses an API key."""
    expires_at: str | None
    """Time at which the link expires."""


class RequiredInput(TypedDict):
    """Input that a tool's server requests from a person."""
    server: str
    """Name of the server that requests the input."""
    server_url: str
    """Endpoint of that server."""
    mode: Literal["form", "url"]
    """`form`: values that match `schema`. `url`: the person completes a task at `url`."""
    message: str
    """Message from the server. Not verified."""
    schema: dict[str, object] | None
    """JSON Schema of the values: a flat object. Null for mode `url`."""
    url: str | None
    """Page for the person to open, after checking where the URL leads. Null for mode `form`."""
    secret_fields: list[str]
    """Fields that appear to ask for secrets. The protocol forbids servers to request secrets in a form."""


class TurnUsage(TypedDict):
    """Tokens and cost."""
    input_tokens: int
    """Tokens of the input."""
    output_tokens: int
    """Tokens of the output."""
    total_tokens: int
    """Tokens of input and output."""
    cost_usd: str | None
    """Cost in USD as an exact decimal; null if a price is unknown."""


class TurnCompletedToolCalls(TypedDict):
    tool: str
    """Name of the tool."""
    arguments: object
    """Arguments that the model chose. Secrets are masked, except in `turn.completed`, and for a secret key where the caller runs the tool."""
    action_id: str
    """Id of the action that represents the tool call."""


class UrlCitation(TypedDict):
    """A page that a text cites, as in `[2]`."""
    type: Literal["url_citation"]
    start_index: int
    """Offset of the first character of the citation mark in the text of the turn, in UTF-16 code units."""
    end_index: int
    """Offset after its last character."""
    url: str
    """URL of the page."""
    title: str
    """Title of the page. Untrusted."""


class ChatMemoryBlock(TypedDict):
    """Memories that were read and written."""
    retrieved: list[dict[str, object]]
    written: list[dict[str, object]]
    write_status: Literal["skipped", "pending", "success", "error"]
    write_request_id: str | None


class TurnError(TypedDict):
    """Error that caused a turn to fail."""
    code: str
    """One of the error codes."""
    message: str
    """Message for developers."""


class TurnFailedOutput(TypedDict):
    text: str
    """Text that was generated before the error."""
    error: TurnError
    """Error that caused a turn to fail."""


class SessionMessageText(TypedDict):
    """Text of the user or of the model."""
    type: Literal["text"]
    text: str
    """Text."""


class SessionMessageImage(TypedDict):
    """An image of the user, by reference."""
    type: Literal["image"]
    image_id: NotRequired[str]
    mime_type: NotRequired[str]
    """Media type of the image."""
    bytes: NotRequired[int]
    """Size of the image."""
    file_id: NotRequired[str]
    """File from which the image was copied."""
    image_url: NotRequired[str]
    """Address of the image, where it was given by one."""
    detail: NotRequired[Literal["auto", "low", "high"]]


class SessionMessageReasoning(TypedDict):
    """What the model reasoned before the text or the calls that follow."""
    type: Literal["reasoning"]
    text: str
    """What the model reasoned."""


class SessionMessageTool(TypedDict):
    """A tool call of the model."""
    type: Literal["tool"]
    action_id: str
    """Id of the action that represents the tool call."""
    tool: str
    """Name of the tool."""
    arguments: object
    """Arguments of the call. Secrets are masked, except for a credential that may run the tool itself."""
    run_by: NotRequired[Literal["caller"]]
    """`caller` if the caller runs the tool: a `function` tool."""
    declared_by: NotRequired[Literal["page"]]
    """`page` if a browser's credential declared the tool in this turn: client tokens with `sessions:tools` may run it."""
    status: Literal["running", "pending", "awaiting_output", "completed", "rejected", "cancelled"]
    """`pending`: waits for a decision, as in `pending_actions`. `awaiting_output`: the turn ended, and the next one brings the output in `tool_results`. `cancelled`: the turn ended before."""
    output: NotRequired[str]
    """Output of the tool."""
    reason: NotRequired[str]
    """Reason for the rejection."""


class SessionMessageCitation(TypedDict):
    """A page that the text of the message cites."""
    type: Literal["citation"]
    start_index: int
    """Offset of the first character of the citation mark in the text of the turn, in UTF-16 code units."""
    end_index: int
    """Offset after its last character."""
    url: str
    """URL of the page."""
    title: str
    """Title of the page. Untrusted."""


class SessionMessage(TypedDict):
    """What the user or the model said in a turn."""
    id: str
    """Made of the turn number and the role: `msg_3_user`, `msg_3_assistant`."""
    role: Literal["user", "assistant"]
    turn_number: int
    """Number of the turn in its session, from 1."""
    status: Literal["completed", "in_progress", "paused", "failed"]
    """`paused`: waits for `pending_actions`. Messages of users are `completed`."""
    parts: list[SessionMessageText | SessionMessageImage | SessionMessageReasoning | SessionMessageTool | SessionMessageCitation]
    """Parts in the order in which they began."""
    usage: NotRequired[TurnUsage]
    """Tokens and cost."""
    error: NotRequired[TurnError]
    """Error that caused a turn to fail."""
    retry_of: NotRequired[int]
    """Failed turn whose input this one repeats. Its input is not repeated as a message."""


class PendingAction(TypedDict):
    """A tool call that the turn waits for."""
    action_id: str
    """Id of the action that represents the tool call."""
    turn_number: int
    """Number of the turn in its session, from 1."""
    reason: Literal["approval_required", "connection_required", "input_required"]
    tool: str
    """Name of the tool."""
    arguments: object
    """Arguments of the call. Secrets are masked, except for a credential that may run the tool itself."""
    run_by: NotRequired[Literal["caller"]]
    """`caller` if the caller runs the tool: a `function` tool."""
    declared_by: NotRequired[Literal["page"]]
    """`page` if a browser's credential declared the tool in this turn: client tokens with `sessions:tools` may run it."""
    approver: NotRequired[Literal["end_user"]]
    """`end_user` if client tokens with `sessions:approve` may decide about the call; otherwise only the operator may."""
    connection: NotRequired[RequiredConnection]
    """A connection that must be established first."""
    input: NotRequired[RequiredInput]
    """Input that a tool's server requests from a person."""


class FunctionToolFunction(TypedDict):
    name: str
    """Name by which the model calls the tool."""
    description: NotRequired[str]
    """Tells the model when to call the tool."""
    parameters: NotRequired[dict[str, object]]
    """JSON Schema of the arguments."""
    strict: NotRequired[bool]
    """Whether arguments must match `parameters` exactly, where the provider supports it."""


class FunctionTool(TypedDict):
    """Tool that the caller runs. The caller sends its output in `tool_results`."""
    type: Literal["function"]
    function: FunctionToolFunction
    needsApproval: NotRequired[bool]
    """Whether calls require approval."""
    approver: NotRequired[Literal["operator", "end_user"]]
    """Who may approve or reject calls: `operator` (default), with a secret key or in the dashboard; or also the `end_user`, with a client token that has `sessions:approve`. Ignored where a browser's credential declares the tool."""
    risk_level: NotRequired[Literal["low", "medium", "high", "critical"]]
    """Risk of a tool call, shown to approvers."""
    expires_in: NotRequired[int]
    """Seconds until the action expires; at most 604,800 (7 days)."""


class HttpTool(TypedDict):
    """Tool that the server runs by sending a signed request to `url`."""
    type: Literal["http"]
    name: str
    """Name by which the model calls the tool."""
    description: NotRequired[str]
    """Tells the model when to call the tool."""
    parameters: NotRequired[dict[str, object]]
    """JSON Schema of the arguments."""
    url: str
    """URL that the arguments are sent to."""
    method: NotRequired[Literal["POST", "PUT", "PATCH"]]
    """HTTP method. Default: `POST`."""
    timeout_ms: NotRequired[int]
    """Timeout of the call in milliseconds."""
    headers: NotRequired[dict[str, str]]
    """Headers of the request. Values are write-only: responses contain `[masked]`, and sending `[masked]` back keeps the stored value."""
    risk_level: NotRequired[Literal["low", "medium", "high", "critical"]]
    """Risk of a tool call, shown to approvers."""
    effect: NotRequired[Literal["idempotent", "at_most_once"]]
    """Whether a call may be retried after a failure. Default: `at_most_once`."""
    needsApproval: NotRequired[bool]
    """Whether calls require approval."""
    approver: NotRequired[Literal["operator", "end_user"]]
    """Who may approve or reject calls: `operator` (default), with a secret key or in the dashboard; or also the `end_user`, with a client token that has `sessions:approve`. Ignored where a browser's credential declares the tool."""
    expires_in: NotRequired[int]
    """Seconds until the action expires; at most 604,800 (7 days)."""


class WebSearchTool(TypedDict):
    """Web search that the server runs."""
    type: Literal["web_search_preview"]
    search_context_size: NotRequired[Literal["low", "medium", "high"]]
    """Amount of context that a search returns."""
    needsApproval: NotRequired[bool]
    """Whether calls require approval."""
    approver: NotRequired[Literal["operator", "end_user"]]
    """Who may approve or reject calls: `operator` (default), with a secret key or in the dashboard; or also the `end_user`, with a client token that has `sessions:approve`. Ignored where a browser's credential declares the tool."""


class McpToolDeclarationRequireApproval(TypedDict):
    tools: list[str]


class McpToolDeclarationRequireApproval2(TypedDict):
    tools: dict[str, Literal["always", "never"]]


class McpToolDeclarationRequireApprovalAlways(TypedDict):
    tool_names: list[str]


class McpToolDeclarationRequireApprovalNever(TypedDict):
    tool_names: list[str]


class McpToolDeclarationRequireApproval3(TypedDict):
    always: NotRequired[McpToolDeclarationRequireApprovalAlways]
    never: NotRequired[McpToolDeclarationRequireApprovalNever]


class McpToolDeclaration(TypedDict):
    """Tools of a remote server that speaks the Model Context Protocol (MCP)."""
    type: Literal["mcp"]
    server_id: NotRequired[str]
    """Id of a registered server. Its active tools are offered."""
    server_label: NotRequired[str]
    """Label of the server at `server_url`. It prefixes the names of its tools."""
    server_url: NotRequired[str]
    """URL of a server that is not registered. All its tools are offered without a review."""
    headers: NotRequired[dict[str, str]]
    """Headers to send with each request to `server_url`. Write-only."""
    authorization: NotRequired[str]
    """Access token for `server_url`. Write-only."""
    allowed_tools: NotRequired[list[str]]
    """Names of the tools to offer, as the server names them. Default: all."""
    require_approval: NotRequired[Literal["always", "never"] | McpToolDeclarationRequireApproval | McpToolDeclarationRequireApproval2 | McpToolDeclarationRequireApproval3]
    """Which calls require approval. Default: all. `{'tools': ['send']}` lists the tools whose calls require it; `{'tools': {'read': 'never'}}` sets it per tool."""


class ConversationMemoryExtract(TypedDict):
    model: NotRequired[str]
    prompt: NotRequired[str]
    minImportance: NotRequired[float]


class ConversationMemory(TypedDict):
    """Memory to read before each model call, and to write after the last answer."""
    userId: NotRequired[str]
    sessionId: NotRequired[str]
    scope: NotRequired[Literal["session", "user"]]
    retrieve: NotRequired[bool]
    write: NotRequired[bool]
    topK: NotRequired[int]
    threshold: NotRequired[float]
    namespace: NotRequired[str]
    extract: NotRequired[ConversationMemoryExtract]
    mode: NotRequired[Literal["inject", "index"]]
    graph: NotRequired[bool]
    asOf: NotRequired[str]


class TurnOptionsToolResults(TypedDict):
    action_id: str
    """Id of the tool call."""
    output: str
    """Output for the model."""


class TurnOptions(TypedDict):
    """Fields of a turn beside its input."""
    tools: NotRequired[list[FunctionTool | HttpTool | WebSearchTool | McpToolDeclaration]]
    """Tools that the model may call in this turn."""
    instructions: NotRequired[str]
    """System message of this turn."""
    model: NotRequired[str]
    """Model of this turn, as a model id or `provider/model`."""
    pause_on_tool_calls: NotRequired[bool]
    """Whether tool calls require approval. When any tool has `needsApproval`, only calls of those tools do. Default: the setting of the agent's config, else true if any tool has `needsApproval`."""
    memory: NotRequired[bool | ConversationMemory | None]
    """Memory of the session's end user. Default: the setting of the agent's config."""
    tool_results: NotRequired[list[TurnOptionsToolResults]]
    """Outputs of tools that you ran."""


@dataclass(frozen=True, kw_only=True)
class LogEvent:
    id: int
    """Sequence number in the log; 0 for an event that is in no log."""


@dataclass(frozen=True, kw_only=True)
class SessionForked(LogEvent):
    """The session was created by forking another one. The events of the copied history follow."""
    session_id: str
    """Session from which the history was copied."""
    turn_number: int
    """Last turn that was copied."""
    first_turn: int
    """First turn whose events follow. Earlier turns are copied without their events."""
    event: Literal["session.forked"] = "session.forked"


@dataclass(frozen=True, kw_only=True)
class TurnStarted(LogEvent):
    """A turn started."""
    turn_number: int
    """Number of the turn in its session, from 1."""
    model: str
    """Model of the turn."""
    input_text: str
    """The text of the caller's input."""
    input: list[TurnInputText | TurnInputImage] | None = None
    """Parts of the input, where it is more than text."""
    retry_of: int | None = None
    """Failed turn whose input this turn repeats (`sessions.turns`)."""
    event: Literal["turn.started"] = "turn.started"


@dataclass(frozen=True, kw_only=True)
class TurnRestarted(LogEvent):
    """The server stopped while the model was answering, and makes the call again. Sent only with `restarts=true`."""
    from_sequence: int
    """Deltas of text from this sequence number on are void, and those after this event make the text of the turn. Reasoning since the latest tool call is void too."""
    attempt: int
    """Number of the attempt that begins: 2 for the first restart."""
    event: Literal["turn.restarted"] = "turn.restarted"


@dataclass(frozen=True, kw_only=True)
class OutputTextDelta(LogEvent):
    """The model generated more text."""
    delta: str
    """Text to append to the text so far."""
    attempt: int | None = None
    """Number of the attempt, after a restart."""
    event: Literal["output_text.delta"] = "output_text.delta"


@dataclass(frozen=True, kw_only=True)
class ReasoningDelta(LogEvent):
    """The model reasoned. Sent at most once a second, for agents whose config has `show_reasoning` and providers that show it."""
    delta: str
    """Text to append to the reasoning that precedes the text of this model call."""
    attempt: int | None = None
    """Number of the attempt, after a restart."""
    event: Literal["reasoning.delta"] = "reasoning.delta"


@dataclass(frozen=True, kw_only=True)
class ContextCompacted(LogEvent):
    """The oldest part of the conversation was removed because it did not fit into the model's context window."""
    strategy: Literal["truncate", "summarize"]
    """What replaces the messages that were removed."""
    removed_messages: int
    """Number of messages that were removed."""
    tokens_before: int
    """Estimated tokens of the conversation before the compaction."""
    tokens_after: int
    """Estimated tokens of the conversation after the compaction."""
    summary: str | None
    """Text that the model receives instead."""
    event: Literal["context.compacted"] = "context.compacted"


@dataclass(frozen=True, kw_only=True)
class GuardrailTriggered(LogEvent):
    """A guardrail found something in the texts of a model call that were new. The text itself is not in the event."""
    guardrail: str
    """Name of the guardrail."""
    check: str
    """Type of the check."""
    stage: Literal["input", "tool_output", "output"]
    """Where it was found: in the input, in what a tool returned to the model, or in what the model wrote."""
    outcome: Literal["flagged", "redacted", "blocked", "failed"]
    """`failed`: the check itself failed, and the guardrail lets such calls pass."""
    found: int
    """Number of places, texts or answers."""
    event: Literal["guardrail.triggered"] = "guardrail.triggered"


@dataclass(frozen=True, kw_only=True)
class ToolCallStarted(LogEvent):
    """The model called a tool."""
    tool: str
    """Name of the tool."""
    arguments: object
    """Arguments that the model chose. Secrets are masked, except in `turn.completed`, and for a secret key where the caller runs the tool."""
    action_id: str
    """Id of the action that represents the tool call."""
    run_by: Literal["caller"] | None = None
    """`caller` if the caller runs the tool: a `function` tool."""
    declared_by: Literal["page"] | None = None
    """`page` if a browser's credential declared the tool in this turn: client tokens with `sessions:tools` may run it."""
    event: Literal["tool_call.started"] = "tool_call.started"


@dataclass(frozen=True, kw_only=True)
class ToolCallProgress(LogEvent):
    """Progress of a tool call, as reported by the tool's server. Sent at most once a second."""
    tool: str
    """Name of the tool."""
    action_id: str
    """Id of the action that represents the tool call."""
    progress: float
    """Current progress. It only increases."""
    total: float | None
    """Value of `progress` at completion; null if the server does not report it."""
    message: str | None
    """Message from the server. Not verified."""
    event: Literal["tool_call.progress"] = "tool_call.progress"


@dataclass(frozen=True, kw_only=True)
class ToolCallCompleted(LogEvent):
    """A tool call completed."""
    tool: str
    """Name of the tool."""
    output: str
    """Output of the tool."""
    action_id: str
    """Id of the action that represents the tool call."""
    event: Literal["tool_call.completed"] = "tool_call.completed"


@dataclass(frozen=True, kw_only=True)
class TurnPaused(LogEvent):
    """The turn is waiting for the approval of a tool call, a connection, or input that a server requests."""
    reason: Literal["approval_required", "connection_required", "input_required"]
    tool: str
    """Name of the tool."""
    arguments: object
    """Arguments that the model chose. Secrets are masked, except in `turn.completed`, and for a secret key where the caller runs the tool."""
    action_id: str
    """Id of the action that represents the tool call."""
    run_by: Literal["caller"] | None = None
    """`caller` if the caller runs the tool: a `function` tool."""
    declared_by: Literal["page"] | None = None
    """`page` if a browser's credential declared the tool in this turn: client tokens with `sessions:tools` may run it."""
    approver: Literal["end_user"] | None = None
    """`end_user` if client tokens with `sessions:approve` may decide about the call; otherwise only the operator may."""
    connection: RequiredConnection | None = None
    """A connection that must be established first."""
    input: RequiredInput | None = None
    """Input that a tool's server requests from a person."""
    event: Literal["turn.paused"] = "turn.paused"


@dataclass(frozen=True, kw_only=True)
class TurnResumed(LogEvent):
    """A person decided about a tool call."""
    action_id: str
    """Id of the action that represents the tool call."""
    resolution: Literal["approved", "rejected", "connected", "answered", "declined", "dismissed"]
    """Decision about the tool call; `connected` if the connection that it waited for is active; `answered`, `declined` or `dismissed` for input that the tool's server requested."""
    reason: str | None = None
    """Reason for the rejection, which is passed to the model."""
    output: str | None = None
    """Output of the tool, if the caller ran it."""
    arguments: object = None
    """Arguments that are sent to the tool, if the approver edited them."""
    event: Literal["turn.resumed"] = "turn.resumed"


@dataclass(frozen=True, kw_only=True)
class TurnCompleted(LogEvent):
    """The turn is complete."""
    turn_number: int
    """Number of the turn in its session, from 1."""
    output: str
    """Complete text of the turn."""
    usage: TurnUsage
    """Tokens and cost."""
    tool_calls: list[TurnCompletedToolCalls] | None = None
    """Tool calls that the caller must run."""
    annotations: list[UrlCitation] | None = None
    """Pages that the output cites; absent if there are none."""
    memory: ChatMemoryBlock | None = None
    """Memories that were read and written."""
    event: Literal["turn.completed"] = "turn.completed"


@dataclass(frozen=True, kw_only=True)
class TurnFailed(LogEvent):
    """The turn ended with an error."""
    turn_number: int
    """Number of the turn in its session, from 1."""
    output: TurnFailedOutput
    error: TurnError
    """Error that caused a turn to fail."""
    usage: TurnUsage
    """Tokens and cost."""
    event: Literal["turn.failed"] = "turn.failed"


@dataclass(frozen=True, kw_only=True)
class StreamEnded(LogEvent):
    """`credential_ended`: the credential of the stream has expired or was revoked; to resume after the last event, reconnect with another credential. `deleted`: the session, run or other resource, or its tenant or project, was deleted; do not reconnect."""
    reason: Literal["credential_ended", "deleted"]
    """Reason for which the server ended the stream."""
    event: Literal["stream.ended"] = "stream.ended"


@dataclass(frozen=True, kw_only=True)
class SessionSnapshot(LogEvent):
    """The messages of the newest turns, as in `sessions.messages`. The first event of a stream with `snapshot=true`; its id is `last_event_id`."""
    data: list[SessionMessage]
    """Messages, oldest first."""
    pending_actions: list[PendingAction]
    """Tool calls that the turn in progress waits for."""
    last_event_id: int
    """Sequence number of the last event of these messages. `sessions.stream` continues with `after`."""
    has_more: bool
    """Whether there are earlier messages."""
    event: Literal["session.snapshot"] = "session.snapshot"


SessionEvent = Union[SessionForked, TurnStarted, TurnRestarted, OutputTextDelta, ReasoningDelta, ContextCompacted, GuardrailTriggered, ToolCallStarted, ToolCallProgress, ToolCallCompleted, TurnPaused, TurnResumed, TurnCompleted, TurnFailed, StreamEnded, SessionSnapshot]
"""An event of a session, which a `match` exhausts."""

EVENTS: dict[str, type[SessionEvent]] = {"session.forked": SessionForked, "turn.started": TurnStarted, "turn.restarted": TurnRestarted, "output_text.delta": OutputTextDelta, "reasoning.delta": ReasoningDelta, "context.compacted": ContextCompacted, "guardrail.triggered": GuardrailTriggered, "tool_call.started": ToolCallStarted, "tool_call.progress": ToolCallProgress, "tool_call.completed": ToolCallCompleted, "turn.paused": TurnPaused, "turn.resumed": TurnResumed, "turn.completed": TurnCompleted, "turn.failed": TurnFailed, "stream.ended": StreamEnded, "session.snapshot": SessionSnapshot}
"""Classes by the names of events."""
