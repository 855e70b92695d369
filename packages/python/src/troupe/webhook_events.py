"""Events that the server sends to webhooks. Made from the declarations by `npm run generate`; not to be edited."""

from __future__ import annotations

import sys
from typing import Literal, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired


class SentEvent(TypedDict):
    timestamp: str


class RunEventData(TypedDict):
    run_id: str
    agent_id: str
    installation_id: str | None
    parent_run_id: str | None
    status: Literal["queued", "running", "requires_action", "completed", "failed", "cancelled", "expired"]
    tenant_id: str | None


class RunQueuedEvent(SentEvent):
    """A run was created and waits in the queue."""
    type: Literal["run.queued"]
    data: RunEventData


class RunStartedEvent(SentEvent):
    """A run left the queue."""
    type: Literal["run.started"]
    data: RunEventData


class RunRequiresActionEventData(RunEventData):
    action_ids: list[str]


class RunRequiresActionEvent(SentEvent):
    """A run waits for approvals, or for outputs of tools that you run."""
    type: Literal["run.requires_action"]
    data: RunRequiresActionEventData


class RunCompletedEventData(RunEventData):
    output: dict[str, object] | None
    usage: dict[str, object]


class RunCompletedEvent(SentEvent):
    """A run is complete."""
    type: Literal["run.completed"]
    data: RunCompletedEventData


class RunFailedEventDataError(TypedDict):
    code: str
    message: str


class RunFailedEventData(RunEventData):
    error: RunFailedEventDataError | None
    usage: dict[str, object]


class RunFailedEvent(SentEvent):
    """A run ended with an error."""
    type: Literal["run.failed"]
    data: RunFailedEventData


class RunCancelledEventData(RunEventData):
    usage: dict[str, object]


class RunCancelledEvent(SentEvent):
    """A run was cancelled."""
    type: Literal["run.cancelled"]
    data: RunCancelledEventData


class RunExpiredEventData(RunEventData):
    usage: dict[str, object]


class RunExpiredEvent(SentEvent):
    """A run reached its `expires_at`."""
    type: Literal["run.expired"]
    data: RunExpiredEventData


class ActionEventData(TypedDict):
    action_id: str
    tool: str
    risk_level: Literal["low", "medium", "high", "critical"]
    status: Literal["pending_approval", "awaiting_connection", "awaiting_input", "approved", "executing", "executed", "failed", "rejected", "expired"]
    run_id: str | None
    session_id: str | None
    tenant_id: str | None


class ActionCreatedEvent(SentEvent):
    """A tool call waits for an approval."""
    type: Literal["action.created"]
    data: ActionEventData


class ActionInputRequiredEvent(SentEvent):
    """The server of a tool requests input of a person."""
    type: Literal["action.input_required"]
    data: ActionEventData


class ActionApprovedEventData(ActionEventData):
    resolved_by: str | None


class ActionApprovedEvent(SentEvent):
    """A person approved a tool call."""
    type: Literal["action.approved"]
    data: ActionApprovedEventData


class ActionRejectedEventData(ActionEventData):
    resolved_by: str | None


class ActionRejectedEvent(SentEvent):
    """A person rejected a tool call, or its session or run ended."""
    type: Literal["action.rejected"]
    data: ActionRejectedEventData


class ActionExecutedEvent(SentEvent):
    """An approved tool call was executed."""
    type: Literal["action.executed"]
    data: ActionEventData


class ActionFailedEventDataError(TypedDict):
    code: str
    message: str


class ActionFailedEventData(ActionEventData):
    error: ActionFailedEventDataError | None


class ActionFailedEvent(SentEvent):
    """An approved tool call failed."""
    type: Literal["action.failed"]
    data: ActionFailedEventData


class ActionExpiredEvent(SentEvent):
    """A tool call expired without a decision."""
    type: Literal["action.expired"]
    data: ActionEventData


class AgentVersionEventData(TypedDict):
    version_id: str
    agent_id: str
    version: str
    status: Literal["draft", "in_review", "published", "deprecated", "retired"]
    tenant_id: str | None


class AgentVersionCreatedEvent(SentEvent):
    """A draft of an agent version was created."""
    type: Literal["agent_version.created"]
    data: AgentVersionEventData


class AgentVersionSubmittedEvent(SentEvent):
    """An agent version was submitted for review."""
    type: Literal["agent_version.submitted"]
    data: AgentVersionEventData


class AgentVersionPublishedEvent(SentEvent):
    """An agent version was published."""
    type: Literal["agent_version.published"]
    data: AgentVersionEventData


class AgentVersionRejectedEventData(AgentVersionEventData):
    reason: str | None


class AgentVersionRejectedEvent(SentEvent):
    """A review rejected an agent version; it is a draft again."""
    type: Literal["agent_version.rejected"]
    data: AgentVersionRejectedEventData


class AgentVersionDeprecatedEvent(SentEvent):
    """An agent version was deprecated."""
    type: Literal["agent_version.deprecated"]
    data: AgentVersionEventData


class AgentVersionRetiredEvent(SentEvent):
    """An agent version was retired."""
    type: Literal["agent_version.retired"]
    data: AgentVersionEventData


class InstallationEventData(TypedDict):
    installation_id: str
    agent_id: str
    version: str | None
    status: Literal["active", "disabled"]
    tenant_id: str | None


class InstallationCreatedEvent(SentEvent):
    """An agent was installed for a tenant."""
    type: Literal["installation.created"]
    data: InstallationEventData


class InstallationUpdatedEvent(SentEvent):
    """Overlays, approval policy or rate plan of an installation changed."""
    type: Literal["installation.updated"]
    data: InstallationEventData


class InstallationUpgradedEventData(InstallationEventData):
    previous_version: str | None


class InstallationUpgradedEvent(SentEvent):
    """An installation was upgraded to another version."""
    type: Literal["installation.upgraded"]
    data: InstallationUpgradedEventData


class InstallationRolledBackEventData(InstallationEventData):
    previous_version: str | None


class InstallationRolledBackEvent(SentEvent):
    """An installation was rolled back to its previous version."""
    type: Literal["installation.rolled_back"]
    data: InstallationRolledBackEventData


class InstallationDisabledEvent(SentEvent):
    """An installation was disabled."""
    type: Literal["installation.disabled"]
    data: InstallationEventData


class TenantEventData(TypedDict):
    tenant_id: str | None
    external_id: str


class TenantCreatedEventData(TenantEventData):
    status: Literal["active", "suspended", "deleting", "deleted"]


class TenantCreatedEvent(SentEvent):
    """A tenant was created."""
    type: Literal["tenant.created"]
    data: TenantCreatedEventData


class TenantUpdatedEventData(TenantEventData):
    status: Literal["active", "suspended", "deleting", "deleted"]


class TenantUpdatedEvent(SentEvent):
    """A tenant was updated."""
    type: Literal["tenant.updated"]
    data: TenantUpdatedEventData


class TenantSuspendedEventData(TenantEventData):
    status: Literal["active", "suspended", "deleting", "deleted"]


class TenantSuspendedEvent(SentEvent):
    """A tenant was suspended."""
    type: Literal["tenant.suspended"]
    data: TenantSuspendedEventData


class TenantResumedEventData(TenantEventData):
    status: Literal["active", "suspended", "deleting", "deleted"]


class TenantResumedEvent(SentEvent):
    """A suspended tenant was resumed."""
    type: Literal["tenant.resumed"]
    data: TenantResumedEventData


class TenantDeletingEventData(TenantEventData):
    status: Literal["active", "suspended", "deleting", "deleted"]


class TenantDeletingEvent(SentEvent):
    """Deletion of a tenant began."""
    type: Literal["tenant.deleting"]
    data: TenantDeletingEventData


class TenantDeletedEvent(SentEvent):
    """Deletion of a tenant is complete."""
    type: Literal["tenant.deleted"]
    data: TenantEventData


class MemoryWriteEventData(TypedDict):
    write_id: str
    source: str
    tenant_id: str | None


class MemoryWriteSucceededEventData(MemoryWriteEventData):
    extracted: int
    written: int


class MemoryWriteSucceededEvent(SentEvent):
    """An exchange was remembered."""
    type: Literal["memory.write.succeeded"]
    data: MemoryWriteSucceededEventData


class MemoryWriteFailedEventDataError(TypedDict):
    code: str
    message: str


class MemoryWriteFailedEventData(MemoryWriteEventData):
    error: MemoryWriteFailedEventDataError | None


class MemoryWriteFailedEvent(SentEvent):
    """An exchange could not be remembered."""
    type: Literal["memory.write.failed"]
    data: MemoryWriteFailedEventData


class KnowledgeSourceEventData(TypedDict):
    source_id: str
    knowledge_base_id: str
    type: Literal["text", "file", "url"]
    tenant_id: str | None


class KnowledgeSourceSyncedEventData(KnowledgeSourceEventData):
    checksum: str
    added: int
    removed: int
    unchanged: int


class KnowledgeSourceSyncedEvent(SentEvent):
    """A source was read, and its content had changed."""
    type: Literal["knowledge_source.synced"]
    data: KnowledgeSourceSyncedEventData


class KnowledgeSourceFailedEventDataError(TypedDict):
    code: str
    message: str


class KnowledgeSourceFailedEventData(KnowledgeSourceEventData):
    error: KnowledgeSourceFailedEventDataError | None


class KnowledgeSourceFailedEvent(SentEvent):
    """A source could not be read, and the attempts are over."""
    type: Literal["knowledge_source.failed"]
    data: KnowledgeSourceFailedEventData


class ConnectionEventDataError(TypedDict):
    code: str
    message: str


class ConnectionEventData(TypedDict):
    connection_id: str
    connector: str
    name: str
    owner_type: Literal["project", "tenant", "end_user"]
    error: ConnectionEventDataError | None
    tenant_id: str | None


class ConnectionExpiredEvent(SentEvent):
    """A connection does not work any more: its owner has to connect it anew."""
    type: Literal["connection.expired"]
    data: ConnectionEventData


class ConnectionRecoveredEvent(SentEvent):
    """A connection that had expired works again."""
    type: Literal["connection.recovered"]
    data: ConnectionEventData


class McpServerEventData(TypedDict):
    server_id: str
    name: str
    url: str
    tenant_id: str | None


class McpServerToolsChangedEventData(McpServerEventData):
    added: list[str]
    removed: list[str]
    changed: list[str]


class McpServerToolsChangedEvent(SentEvent):
    """A remote tool server has tools that are new, gone or defined otherwise; what is new or changed waits for a review."""
    type: Literal["mcp_server.tools_changed"]
    data: McpServerToolsChangedEventData


class McpServerFailedEventDataError(TypedDict):
    code: str
    message: str


class McpServerFailedEventData(McpServerEventData):
    error: McpServerFailedEventDataError | None


class McpServerFailedEvent(SentEvent):
    """A remote tool server does not work any more."""
    type: Literal["mcp_server.failed"]
    data: McpServerFailedEventData


class McpServerRecoveredEvent(SentEvent):
    """A remote tool server that had failed works again."""
    type: Literal["mcp_server.recovered"]
    data: McpServerEventData


class WebCrawlEventData(TypedDict):
    crawl_id: str
    indexed: int
    skipped: int
    failed: int
    tenant_id: str | None


class WebCrawlCompletedEvent(SentEvent):
    """A crawl has read all that it may."""
    type: Literal["web.crawl.completed"]
    data: WebCrawlEventData


class WebCrawlFailedEventDataError(TypedDict):
    code: str
    message: str


class WebCrawlFailedEventData(WebCrawlEventData):
    error: WebCrawlFailedEventDataError | None


class WebCrawlFailedEvent(SentEvent):
    """A crawl failed."""
    type: Literal["web.crawl.failed"]
    data: WebCrawlFailedEventData


class WebCrawlCancelledEvent(SentEvent):
    """A crawl was cancelled."""
    type: Literal["web.crawl.cancelled"]
    data: WebCrawlEventData


class WebBrowseEventData(TypedDict):
    job_id: str
    url: str
    message: str | None
    timeout_ms: int
    tenant_id: str | None


class WebBrowseWaitingEvent(SentEvent):
    """A browser job waits for a person."""
    type: Literal["web.browse.waiting"]
    data: WebBrowseEventData


class WebhookEventData(TypedDict):
    webhook_id: str
    message: str
    tenant_id: str | None


class WebhookTestEvent(SentEvent):
    """A test of the endpoint (`webhooks.test`)."""
    type: Literal["webhook.test"]
    data: WebhookEventData


WebhookEvent = Union[RunQueuedEvent, RunStartedEvent, RunRequiresActionEvent, RunCompletedEvent, RunFailedEvent, RunCancelledEvent, RunExpiredEvent, ActionCreatedEvent, ActionInputRequiredEvent, ActionApprovedEvent, ActionRejectedEvent, ActionExecutedEvent, ActionFailedEvent, ActionExpiredEvent, AgentVersionCreatedEvent, AgentVersionSubmittedEvent, AgentVersionPublishedEvent, AgentVersionRejectedEvent, AgentVersionDeprecatedEvent, AgentVersionRetiredEvent, InstallationCreatedEvent, InstallationUpdatedEvent, InstallationUpgradedEvent, InstallationRolledBackEvent, InstallationDisabledEvent, TenantCreatedEvent, TenantUpdatedEvent, TenantSuspendedEvent, TenantResumedEvent, TenantDeletingEvent, TenantDeletedEvent, MemoryWriteSucceededEvent, MemoryWriteFailedEvent, KnowledgeSourceSyncedEvent, KnowledgeSourceFailedEvent, ConnectionExpiredEvent, ConnectionRecoveredEvent, McpServerToolsChangedEvent, McpServerFailedEvent, McpServerRecoveredEvent, WebCrawlCompletedEvent, WebCrawlFailedEvent, WebCrawlCancelledEvent, WebBrowseWaitingEvent, WebhookTestEvent]
"""An event that the server sends to webhooks, by its `type`."""
