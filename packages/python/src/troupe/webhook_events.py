"""Events that the server sends to webhooks. Made from the declarations by `npm run generate`; not to be edited."""

from __future__ import annotations

import sys
from typing import Literal, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired


class RunQueuedEventData(TypedDict):
    run_id: str
    agent_id: str
    installation_id: str | None
    parent_run_id: str | None
    status: Literal["queued", "running", "requires_action", "completed", "failed", "cancelled", "expired"]
    tenant_id: str | None


class RunQueuedEvent(TypedDict):
    """A run was created and waits in the queue."""
    type: Literal["run.queued"]
    timestamp: str
    data: RunQueuedEventData


class RunStartedEventData(TypedDict):
    run_id: str
    agent_id: str
    installation_id: str | None
    parent_run_id: str | None
    status: Literal["queued", "running", "requires_action", "completed", "failed", "cancelled", "expired"]
    tenant_id: str | None


class RunStartedEvent(TypedDict):
    """A run left the queue."""
    type: Literal["run.started"]
    timestamp: str
    data: RunStartedEventData


class RunRequiresActionEventData(TypedDict):
    run_id: str
    agent_id: str
    installation_id: str | None
    parent_run_id: str | None
    status: Literal["queued", "running", "requires_action", "completed", "failed", "cancelled", "expired"]
    tenant_id: str | None
    action_ids: list[str]


class RunRequiresActionEvent(TypedDict):
    """A run waits for approvals, or for outputs of tools that you run."""
    type: Literal["run.requires_action"]
    timestamp: str
    data: RunRequiresActionEventData


class RunCompletedEventData(TypedDict):
    run_id: str
    agent_id: str
    installation_id: str | None
    parent_run_id: str | None
    status: Literal["queued", "running", "requires_action", "completed", "failed", "cancelled", "expired"]
    tenant_id: str | None
    output: dict[str, object] | None
    usage: dict[str, object]


class RunCompletedEvent(TypedDict):
    """A run is complete."""
    type: Literal["run.completed"]
    timestamp: str
    data: RunCompletedEventData


class RunFailedEventDataError(TypedDict):
    code: str
    message: str


class RunFailedEventData(TypedDict):
    run_id: str
    agent_id: str
    installation_id: str | None
    parent_run_id: str | None
    status: Literal["queued", "running", "requires_action", "completed", "failed", "cancelled", "expired"]
    tenant_id: str | None
    error: RunFailedEventDataError | None
    usage: dict[str, object]


class RunFailedEvent(TypedDict):
    """A run ended with an error."""
    type: Literal["run.failed"]
    timestamp: str
    data: RunFailedEventData


class RunCancelledEventData(TypedDict):
    run_id: str
    agent_id: str
    installation_id: str | None
    parent_run_id: str | None
    status: Literal["queued", "running", "requires_action", "completed", "failed", "cancelled", "expired"]
    tenant_id: str | None
    usage: dict[str, object]


class RunCancelledEvent(TypedDict):
    """A run was cancelled."""
    type: Literal["run.cancelled"]
    timestamp: str
    data: RunCancelledEventData


class RunExpiredEventData(TypedDict):
    run_id: str
    agent_id: str
    installation_id: str | None
    parent_run_id: str | None
    status: Literal["queued", "running", "requires_action", "completed", "failed", "cancelled", "expired"]
    tenant_id: str | None
    usage: dict[str, object]


class RunExpiredEvent(TypedDict):
    """A run reached its `expires_at`."""
    type: Literal["run.expired"]
    timestamp: str
    data: RunExpiredEventData


class ActionCreatedEventData(TypedDict):
    action_id: str
    tool: str
    risk_level: Literal["low", "medium", "high", "critical"]
    status: Literal["pending_approval", "awaiting_connection", "awaiting_input", "approved", "executing", "executed", "failed", "rejected", "expired"]
    run_id: str | None
    session_id: str | None
    tenant_id: str | None


class ActionCreatedEvent(TypedDict):
    """A tool call waits for an approval."""
    type: Literal["action.created"]
    timestamp: str
    data: ActionCreatedEventData


class ActionInputRequiredEventData(TypedDict):
    action_id: str
    tool: str
    risk_level: Literal["low", "medium", "high", "critical"]
    status: Literal["pending_approval", "awaiting_connection", "awaiting_input", "approved", "executing", "executed", "failed", "rejected", "expired"]
    run_id: str | None
    session_id: str | None
    tenant_id: str | None


class ActionInputRequiredEvent(TypedDict):
    """The server of a tool requests input of a person."""
    type: Literal["action.input_required"]
    timestamp: str
    data: ActionInputRequiredEventData


class ActionApprovedEventData(TypedDict):
    action_id: str
    tool: str
    risk_level: Literal["low", "medium", "high", "critical"]
    status: Literal["pending_approval", "awaiting_connection", "awaiting_input", "approved", "executing", "executed", "failed", "rejected", "expired"]
    run_id: str | None
    session_id: str | None
    tenant_id: str | None
    resolved_by: str | None


class ActionApprovedEvent(TypedDict):
    """A person approved a tool call."""
    type: Literal["action.approved"]
    timestamp: str
    data: ActionApprovedEventData


class ActionRejectedEventData(TypedDict):
    action_id: str
    tool: str
    risk_level: Literal["low", "medium", "high", "critical"]
    status: Literal["pending_approval", "awaiting_connection", "awaiting_input", "approved", "executing", "executed", "failed", "rejected", "expired"]
    run_id: str | None
    session_id: str | None
    tenant_id: str | None
    resolved_by: str | None


class ActionRejectedEvent(TypedDict):
    """A person rejected a tool call, or its session or run ended."""
    type: Literal["action.rejected"]
    timestamp: str
    data: ActionRejectedEventData


class ActionExecutedEventData(TypedDict):
    action_id: str
    tool: str
    risk_level: Literal["low", "medium", "high", "critical"]
    status: Literal["pending_approval", "awaiting_connection", "awaiting_input", "approved", "executing", "executed", "failed", "rejected", "expired"]
    run_id: str | None
    session_id: str | None
    tenant_id: str | None


class ActionExecutedEvent(TypedDict):
    """An approved tool call was executed."""
    type: Literal["action.executed"]
    timestamp: str
    data: ActionExecutedEventData


class ActionFailedEventDataError(TypedDict):
    code: str
    message: str


class ActionFailedEventData(TypedDict):
    action_id: str
    tool: str
    risk_level: Literal["low", "medium", "high", "critical"]
    status: Literal["pending_approval", "awaiting_connection", "awaiting_input", "approved", "executing", "executed", "failed", "rejected", "expired"]
    run_id: str | None
    session_id: str | None
    tenant_id: str | None
    error: ActionFailedEventDataError | None


class ActionFailedEvent(TypedDict):
    """An approved tool call failed."""
    type: Literal["action.failed"]
    timestamp: str
    data: ActionFailedEventData


class ActionExpiredEventData(TypedDict):
    action_id: str
    tool: str
    risk_level: Literal["low", "medium", "high", "critical"]
    status: Literal["pending_approval", "awaiting_connection", "awaiting_input", "approved", "executing", "executed", "failed", "rejected", "expired"]
    run_id: str | None
    session_id: str | None
    tenant_id: str | None


class ActionExpiredEvent(TypedDict):
    """A tool call expired without a decision."""
    type: Literal["action.expired"]
    timestamp: str
    data: ActionExpiredEventData


class AgentVersionCreatedEventData(TypedDict):
    version_id: str
    agent_id: str
    version: str
    status: Literal["draft", "in_review", "published", "deprecated", "retired"]
    tenant_id: str | None


class AgentVersionCreatedEvent(TypedDict):
    """A draft of an agent version was created."""
    type: Literal["agent_version.created"]
    timestamp: str
    data: AgentVersionCreatedEventData


class AgentVersionSubmittedEventData(TypedDict):
    version_id: str
    agent_id: str
    version: str
    status: Literal["draft", "in_review", "published", "deprecated", "retired"]
    tenant_id: str | None


class AgentVersionSubmittedEvent(TypedDict):
    """An agent version was submitted for review."""
    type: Literal["agent_version.submitted"]
    timestamp: str
    data: AgentVersionSubmittedEventData


class AgentVersionPublishedEventData(TypedDict):
    version_id: str
    agent_id: str
    version: str
    status: Literal["draft", "in_review", "published", "deprecated", "retired"]
    tenant_id: str | None


class AgentVersionPublishedEvent(TypedDict):
    """An agent version was published."""
    type: Literal["agent_version.published"]
    timestamp: str
    data: AgentVersionPublishedEventData


class AgentVersionRejectedEventData(TypedDict):
    version_id: str
    agent_id: str
    version: str
    status: Literal["draft", "in_review", "published", "deprecated", "retired"]
    tenant_id: str | None
    reason: str | None


class AgentVersionRejectedEvent(TypedDict):
    """A review rejected an agent version; it is a draft again."""
    type: Literal["agent_version.rejected"]
    timestamp: str
    data: AgentVersionRejectedEventData


class AgentVersionDeprecatedEventData(TypedDict):
    version_id: str
    agent_id: str
    version: str
    status: Literal["draft", "in_review", "published", "deprecated", "retired"]
    tenant_id: str | None


class AgentVersionDeprecatedEvent(TypedDict):
    """An agent version was deprecated."""
    type: Literal["agent_version.deprecated"]
    timestamp: str
    data: AgentVersionDeprecatedEventData


class AgentVersionRetiredEventData(TypedDict):
    version_id: str
    agent_id: str
    version: str
    status: Literal["draft", "in_review", "published", "deprecated", "retired"]
    tenant_id: str | None


class AgentVersionRetiredEvent(TypedDict):
    """An agent version was retired."""
    type: Literal["agent_version.retired"]
    timestamp: str
    data: AgentVersionRetiredEventData


class InstallationCreatedEventData(TypedDict):
    installation_id: str
    agent_id: str
    version: str | None
    status: Literal["active", "disabled"]
    tenant_id: str | None


class InstallationCreatedEvent(TypedDict):
    """An agent was installed for a tenant."""
    type: Literal["installation.created"]
    timestamp: str
    data: InstallationCreatedEventData


class InstallationUpdatedEventData(TypedDict):
    installation_id: str
    agent_id: str
    version: str | None
    status: Literal["active", "disabled"]
    tenant_id: str | None


class InstallationUpdatedEvent(TypedDict):
    """Overlays, approval policy or rate plan of an installation changed."""
    type: Literal["installation.updated"]
    timestamp: str
    data: InstallationUpdatedEventData


class InstallationUpgradedEventData(TypedDict):
    installation_id: str
    agent_id: str
    version: str | None
    status: Literal["active", "disabled"]
    tenant_id: str | None
    previous_version: str | None


class InstallationUpgradedEvent(TypedDict):
    """An installation was upgraded to another version."""
    type: Literal["installation.upgraded"]
    timestamp: str
    data: InstallationUpgradedEventData


class InstallationRolledBackEventData(TypedDict):
    installation_id: str
    agent_id: str
    version: str | None
    status: Literal["active", "disabled"]
    tenant_id: str | None
    previous_version: str | None


class InstallationRolledBackEvent(TypedDict):
    """An installation was rolled back to its previous version."""
    type: Literal["installation.rolled_back"]
    timestamp: str
    data: InstallationRolledBackEventData


class InstallationDisabledEventData(TypedDict):
    installation_id: str
    agent_id: str
    version: str | None
    status: Literal["active", "disabled"]
    tenant_id: str | None


class InstallationDisabledEvent(TypedDict):
    """An installation was disabled."""
    type: Literal["installation.disabled"]
    timestamp: str
    data: InstallationDisabledEventData


class TenantCreatedEventData(TypedDict):
    tenant_id: str | None
    external_id: str
    status: Literal["active", "suspended", "deleting", "deleted"]


class TenantCreatedEvent(TypedDict):
    """A tenant was created."""
    type: Literal["tenant.created"]
    timestamp: str
    data: TenantCreatedEventData


class TenantUpdatedEventData(TypedDict):
    tenant_id: str | None
    external_id: str
    status: Literal["active", "suspended", "deleting", "deleted"]


class TenantUpdatedEvent(TypedDict):
    """A tenant was updated."""
    type: Literal["tenant.updated"]
    timestamp: str
    data: TenantUpdatedEventData


class TenantSuspendedEventData(TypedDict):
    tenant_id: str | None
    external_id: str
    status: Literal["active", "suspended", "deleting", "deleted"]


class TenantSuspendedEvent(TypedDict):
    """A tenant was suspended."""
    type: Literal["tenant.suspended"]
    timestamp: str
    data: TenantSuspendedEventData


class TenantResumedEventData(TypedDict):
    tenant_id: str | None
    external_id: str
    status: Literal["active", "suspended", "deleting", "deleted"]


class TenantResumedEvent(TypedDict):
    """A suspended tenant was resumed."""
    type: Literal["tenant.resumed"]
    timestamp: str
    data: TenantResumedEventData


class TenantDeletingEventData(TypedDict):
    tenant_id: str | None
    external_id: str
    status: Literal["active", "suspended", "deleting", "deleted"]


class TenantDeletingEvent(TypedDict):
    """Deletion of a tenant began."""
    type: Literal["tenant.deleting"]
    timestamp: str
    data: TenantDeletingEventData


class TenantDeletedEventData(TypedDict):
    external_id: str
    tenant_id: str | None


class TenantDeletedEvent(TypedDict):
    """Deletion of a tenant is complete."""
    type: Literal["tenant.deleted"]
    timestamp: str
    data: TenantDeletedEventData


class MemoryWriteSucceededEventData(TypedDict):
    write_id: str
    source: str
    tenant_id: str | None
    extracted: int
    written: int


class MemoryWriteSucceededEvent(TypedDict):
    """An exchange was remembered."""
    type: Literal["memory.write.succeeded"]
    timestamp: str
    data: MemoryWriteSucceededEventData


class MemoryWriteFailedEventDataError(TypedDict):
    code: str
    message: str


class MemoryWriteFailedEventData(TypedDict):
    write_id: str
    source: str
    tenant_id: str | None
    error: MemoryWriteFailedEventDataError | None


class MemoryWriteFailedEvent(TypedDict):
    """An exchange could not be remembered."""
    type: Literal["memory.write.failed"]
    timestamp: str
    data: MemoryWriteFailedEventData


class KnowledgeSourceSyncedEventData(TypedDict):
    source_id: str
    knowledge_base_id: str
    type: Literal["text", "file", "url"]
    tenant_id: str | None
    checksum: str
    added: int
    removed: int
    unchanged: int


class KnowledgeSourceSyncedEvent(TypedDict):
    """A source was read, and its content had changed."""
    type: Literal["knowledge_source.synced"]
    timestamp: str
    data: KnowledgeSourceSyncedEventData


class KnowledgeSourceFailedEventDataError(TypedDict):
    code: str
    message: str


class KnowledgeSourceFailedEventData(TypedDict):
    source_id: str
    knowledge_base_id: str
    type: Literal["text", "file", "url"]
    tenant_id: str | None
    error: KnowledgeSourceFailedEventDataError | None


class KnowledgeSourceFailedEvent(TypedDict):
    """A source could not be read, and the attempts are over."""
    type: Literal["knowledge_source.failed"]
    timestamp: str
    data: KnowledgeSourceFailedEventData


class ConnectionExpiredEventDataError(TypedDict):
    code: str
    message: str


class ConnectionExpiredEventData(TypedDict):
    connection_id: str
    connector: str
    name: str
    owner_type: Literal["project", "tenant", "end_user"]
    error: ConnectionExpiredEventDataError | None
    tenant_id: str | None


class ConnectionExpiredEvent(TypedDict):
    """A connection does not work any more: its owner has to connect it anew."""
    type: Literal["connection.expired"]
    timestamp: str
    data: ConnectionExpiredEventData


class ConnectionRecoveredEventDataError(TypedDict):
    code: str
    message: str


class ConnectionRecoveredEventData(TypedDict):
    connection_id: str
    connector: str
    name: str
    owner_type: Literal["project", "tenant", "end_user"]
    error: ConnectionRecoveredEventDataError | None
    tenant_id: str | None


class ConnectionRecoveredEvent(TypedDict):
    """A connection that had expired works again."""
    type: Literal["connection.recovered"]
    timestamp: str
    data: ConnectionRecoveredEventData


class McpServerToolsChangedEventData(TypedDict):
    server_id: str
    name: str
    url: str
    tenant_id: str | None
    added: list[str]
    removed: list[str]
    changed: list[str]


class McpServerToolsChangedEvent(TypedDict):
    """A remote tool server has tools that are new, gone or defined otherwise; what is new or changed waits for a review."""
    type: Literal["mcp_server.tools_changed"]
    timestamp: str
    data: McpServerToolsChangedEventData


class McpServerFailedEventDataError(TypedDict):
    code: str
    message: str


class McpServerFailedEventData(TypedDict):
    server_id: str
    name: str
    url: str
    tenant_id: str | None
    error: McpServerFailedEventDataError | None


class McpServerFailedEvent(TypedDict):
    """A remote tool server does not work any more."""
    type: Literal["mcp_server.failed"]
    timestamp: str
    data: McpServerFailedEventData


class McpServerRecoveredEventData(TypedDict):
    server_id: str
    name: str
    url: str
    tenant_id: str | None


class McpServerRecoveredEvent(TypedDict):
    """A remote tool server that had failed works again."""
    type: Literal["mcp_server.recovered"]
    timestamp: str
    data: McpServerRecoveredEventData


class WebCrawlCompletedEventData(TypedDict):
    crawl_id: str
    indexed: int
    skipped: int
    failed: int
    tenant_id: str | None


class WebCrawlCompletedEvent(TypedDict):
    """A crawl has read all that it may."""
    type: Literal["web.crawl.completed"]
    timestamp: str
    data: WebCrawlCompletedEventData


class WebCrawlFailedEventDataError(TypedDict):
    code: str
    message: str


class WebCrawlFailedEventData(TypedDict):
    crawl_id: str
    indexed: int
    skipped: int
    failed: int
    tenant_id: str | None
    error: WebCrawlFailedEventDataError | None


class WebCrawlFailedEvent(TypedDict):
    """A crawl failed."""
    type: Literal["web.crawl.failed"]
    timestamp: str
    data: WebCrawlFailedEventData


class WebCrawlCancelledEventData(TypedDict):
    crawl_id: str
    indexed: int
    skipped: int
    failed: int
    tenant_id: str | None


class WebCrawlCancelledEvent(TypedDict):
    """A crawl was cancelled."""
    type: Literal["web.crawl.cancelled"]
    timestamp: str
    data: WebCrawlCancelledEventData


class WebBrowseWaitingEventData(TypedDict):
    job_id: str
    url: str
    message: str | None
    timeout_ms: int
    tenant_id: str | None


class WebBrowseWaitingEvent(TypedDict):
    """A browser job waits for a person."""
    type: Literal["web.browse.waiting"]
    timestamp: str
    data: WebBrowseWaitingEventData


class WebhookTestEventData(TypedDict):
    webhook_id: str
    message: str
    tenant_id: str | None


class WebhookTestEvent(TypedDict):
    """A test of the endpoint (`webhooks.test`)."""
    type: Literal["webhook.test"]
    timestamp: str
    data: WebhookTestEventData


WebhookEvent = Union[RunQueuedEvent, RunStartedEvent, RunRequiresActionEvent, RunCompletedEvent, RunFailedEvent, RunCancelledEvent, RunExpiredEvent, ActionCreatedEvent, ActionInputRequiredEvent, ActionApprovedEvent, ActionRejectedEvent, ActionExecutedEvent, ActionFailedEvent, ActionExpiredEvent, AgentVersionCreatedEvent, AgentVersionSubmittedEvent, AgentVersionPublishedEvent, AgentVersionRejectedEvent, AgentVersionDeprecatedEvent, AgentVersionRetiredEvent, InstallationCreatedEvent, InstallationUpdatedEvent, InstallationUpgradedEvent, InstallationRolledBackEvent, InstallationDisabledEvent, TenantCreatedEvent, TenantUpdatedEvent, TenantSuspendedEvent, TenantResumedEvent, TenantDeletingEvent, TenantDeletedEvent, MemoryWriteSucceededEvent, MemoryWriteFailedEvent, KnowledgeSourceSyncedEvent, KnowledgeSourceFailedEvent, ConnectionExpiredEvent, ConnectionRecoveredEvent, McpServerToolsChangedEvent, McpServerFailedEvent, McpServerRecoveredEvent, WebCrawlCompletedEvent, WebCrawlFailedEvent, WebCrawlCancelledEvent, WebBrowseWaitingEvent, WebhookTestEvent]
"""An event that the server sends to webhooks, by its `type`."""
