import { array, integer, jsonObject, nullable, object, oneOf, type Schema, string, timestamp } from '../dsl/schema.ts'
import { statuses } from '../statuses.ts'

const reference = () => nullable(string())

/** Id of the tenant; null for an event of the whole project. */
const tenant = { tenant_id: reference() }

const errorOf = nullable(object({ code: string(), message: string() }))

/** Fields of a run by which a receiver decides what to do. `runs.get` returns the complete run. */
const runFields = {
  run_id: string(),
  agent_id: string(),
  installation_id: reference(),
  parent_run_id: reference(),
  status: oneOf(...statuses.run),
  ...tenant,
}

const run = (more = {}) => object({ ...runFields, ...more }, { open: true })

/** An action without its arguments, which only approvers may see. */
const action = (more = {}) =>
  object(
    {
      action_id: string(),
      tool: string(),
      risk_level: oneOf('low', 'medium', 'high', 'critical'),
      status: oneOf(...statuses.action),
      run_id: reference(),
      session_id: reference(),
      ...tenant,
      ...more,
    },
    { open: true },
  )

/** A crawl without its pages, which `web_crawls.get` returns. */
const webCrawl = (more = {}) =>
  object(
    { crawl_id: string(), indexed: integer(), skipped: integer(), failed: integer(), ...tenant, ...more },
    { open: true },
  )

/** A browser job that waits for a person to use its page. `browser_jobs.get` returns the complete job. */
const waitingJob = object(
  { job_id: string(), url: string(), message: nullable(string()), timeout_ms: integer(), ...tenant },
  { open: true },
)

const agentVersion = (more = {}) =>
  object(
    {
      version_id: string(),
      agent_id: string(),
      version: string(),
      status: oneOf(...statuses.agent_version),
      ...tenant,
      ...more,
    },
    { open: true },
  )

const installation = (more = {}) =>
  object(
    {
      installation_id: string(),
      agent_id: string(),
      version: nullable(string()),
      status: oneOf('active', 'disabled'),
      ...tenant,
      ...more,
    },
    { open: true },
  )

const tenantEvent = (more = {}) =>
  object(
    {
      ...tenant,
      external_id: string(),
      status: oneOf('active', 'suspended', 'deleting', 'deleted'),
      ...more,
    },
    { open: true },
  )

/** A memory write, without the content of the exchange. */
const memoryWrite = (more = {}) => object({ write_id: string(), source: string(), ...tenant, ...more }, { open: true })

/** A source of a knowledge base, without its content. */
const knowledgeSource = (more = {}) =>
  object(
    {
      source_id: string(),
      knowledge_base_id: string(),
      type: oneOf('text', 'file', 'url'),
      ...tenant,
      ...more,
    },
    { open: true },
  )

/** A connection without its secrets. */
const connection = () =>
  object(
    {
      connection_id: string(),
      connector: string(),
      name: string(),
      owner_type: oneOf('project', 'tenant', 'end_user'),
      error: errorOf,
      ...tenant,
    },
    { open: true },
  )

/** A remote tool server. */
const mcpServer = (more = {}) =>
  object({ server_id: string(), name: string(), url: string(), ...tenant, ...more }, { open: true })

const usage = jsonObject()

const events = {
  'run.queued': { says: 'A run was created and waits in the queue.', data: run() },
  'run.started': { says: 'A run left the queue.', data: run() },
  'run.requires_action': {
    says: 'A run waits for approvals, or for outputs of tools that you run.',
    data: run({ action_ids: array(string()) }),
  },
  'run.completed': { says: 'A run is complete.', data: run({ output: nullable(jsonObject()), usage }) },
  'run.failed': { says: 'A run ended with an error.', data: run({ error: errorOf, usage }) },
  'run.cancelled': { says: 'A run was cancelled.', data: run({ usage }) },
  'run.expired': { says: 'A run reached its `expires_at`.', data: run({ usage }) },
  'action.created': { says: 'A tool call waits for an approval.', data: action() },
  'action.input_required': { says: 'The server of a tool requests input of a person.', data: action() },
  'action.approved': { says: 'A person approved a tool call.', data: action({ resolved_by: reference() }) },
  'action.rejected': {
    says: 'A person rejected a tool call, or its session or run ended.',
    data: action({ resolved_by: reference() }),
  },
  'action.executed': { says: 'An approved tool call was executed.', data: action() },
  'action.failed': { says: 'An approved tool call failed.', data: action({ error: errorOf }) },
  'action.expired': { says: 'A tool call expired without a decision.', data: action() },
  'agent_version.created': { says: 'A draft of an agent version was created.', data: agentVersion() },
  'agent_version.submitted': { says: 'An agent version was submitted for review.', data: agentVersion() },
  'agent_version.published': { says: 'An agent version was published.', data: agentVersion() },
  'agent_version.rejected': {
    says: 'A review rejected an agent version; it is a draft again.',
    data: agentVersion({ reason: reference() }),
  },
  'agent_version.deprecated': { says: 'An agent version was deprecated.', data: agentVersion() },
  'agent_version.retired': { says: 'An agent version was retired.', data: agentVersion() },
  'installation.created': { says: 'An agent was installed for a tenant.', data: installation() },
  'installation.updated': {
    says: 'Overlays, approval policy or rate plan of an installation changed.',
    data: installation(),
  },
  'installation.upgraded': {
    says: 'An installation was upgraded to another version.',
    data: installation({ previous_version: reference() }),
  },
  'installation.rolled_back': {
    says: 'An installation was rolled back to its previous version.',
    data: installation({ previous_version: reference() }),
  },
  'installation.disabled': { says: 'An installation was disabled.', data: installation() },
  'tenant.created': { says: 'A tenant was created.', data: tenantEvent() },
  'tenant.updated': { says: 'A tenant was updated.', data: tenantEvent() },
  'tenant.suspended': { says: 'A tenant was suspended.', data: tenantEvent() },
  'tenant.resumed': { says: 'A suspended tenant was resumed.', data: tenantEvent() },
  'tenant.deleting': { says: 'Deletion of a tenant began.', data: tenantEvent() },
  'tenant.deleted': {
    says: 'Deletion of a tenant is complete.',
    data: object({ external_id: string(), ...tenant }, { open: true }),
  },
  'memory.write.succeeded': {
    says: 'An exchange was remembered.',
    data: memoryWrite({ extracted: integer(), written: integer() }),
  },
  'memory.write.failed': { says: 'An exchange could not be remembered.', data: memoryWrite({ error: errorOf }) },
  'knowledge_source.synced': {
    says: 'A source was read, and its content had changed.',
    data: knowledgeSource({ checksum: string(), added: integer(), removed: integer(), unchanged: integer() }),
  },
  'knowledge_source.failed': {
    says: 'A source could not be read, and the attempts are over.',
    data: knowledgeSource({ error: errorOf }),
  },
  'connection.expired': {
    says: 'A connection does not work any more: its owner has to connect it anew.',
    data: connection(),
  },
  'connection.recovered': { says: 'A connection that had expired works again.', data: connection() },
  'mcp_server.tools_changed': {
    says: 'A remote tool server has tools that are new, gone or defined otherwise; what is new or changed waits for a review.',
    data: mcpServer({ added: array(string()), removed: array(string()), changed: array(string()) }),
  },
  'mcp_server.failed': { says: 'A remote tool server does not work any more.', data: mcpServer({ error: errorOf }) },
  'mcp_server.recovered': { says: 'A remote tool server that had failed works again.', data: mcpServer() },
  'web.crawl.completed': { says: 'A crawl has read all that it may.', data: webCrawl() },
  'web.crawl.failed': { says: 'A crawl failed.', data: webCrawl({ error: errorOf }) },
  'web.crawl.cancelled': { says: 'A crawl was cancelled.', data: webCrawl() },
  'web.browse.waiting': { says: 'A browser job waits for a person.', data: waitingJob },
  'webhook.test': {
    says: 'A test of the endpoint (`webhooks.test`).',
    data: object({ webhook_id: string(), message: string(), ...tenant }),
  },
} as const satisfies Record<string, WebhookEventSpec>

interface WebhookEventSpec {
  /** Summary for the API reference. */
  readonly says: string
  /** Schema of the payload's `data`. Fields may be added, but never removed. */
  readonly data: Schema<unknown>
}

/** Name of a webhook event. */
export type WebhookEventType = keyof typeof events

/** All webhook events by name (`webhooks.create`). */
export const webhookEvents: Readonly<Record<WebhookEventType, WebhookEventSpec>> = events

/** Names of all events in the order of their declarations. */
export const webhookEventTypes: readonly WebhookEventType[] = Object.keys(events).filter(isWebhookEventType)

/** Whether a text is the name of an event. */
export function isWebhookEventType(text: string): text is WebhookEventType {
  return Object.hasOwn(events, text)
}

/** Body of a delivery. `timestamp` is the time of the event. */
export const webhookPayload = object(
  { type: string(), timestamp: timestamp(), data: jsonObject() },
  { title: 'WebhookPayload' },
)
