import { array, type Infer, jsonObject, nullable, object, oneOf, type Schema, string, timestamp } from './schema.ts'

const reference = () => nullable(string())

/** Events name their tenant by our id; null for what belongs to the whole project. */
const tenant = { tenant_id: reference() }

const errorOf = nullable(object({ code: string(), message: string() }))

/** Of a run: what decides what to do next; the whole run is a GET away. */
const runFields = {
  run_id: string(),
  agent_id: string(),
  installation_id: reference(),
  parent_run_id: reference(),
  status: oneOf('queued', 'running', 'requires_action', 'completed', 'failed', 'cancelled', 'expired'),
  ...tenant,
}

const run = (more = {}) => object({ ...runFields, ...more }, { open: true })

/** Of an action: its arguments stay out, since they may hold what only an approver is to see. */
const action = (more = {}) =>
  object(
    {
      action_id: string(),
      tool: string(),
      risk_level: oneOf('low', 'medium', 'high', 'critical'),
      status: oneOf('pending_approval', 'approved', 'executing', 'executed', 'failed', 'rejected', 'expired'),
      run_id: reference(),
      session_id: reference(),
      ...tenant,
      ...more,
    },
    { open: true },
  )

const agentVersion = (more = {}) =>
  object(
    {
      version_id: string(),
      agent_id: string(),
      version: string(),
      status: oneOf('draft', 'in_review', 'published', 'deprecated', 'retired'),
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

const usage = jsonObject()

const events = {
  'run.queued': { says: 'A run was created and waits for its turn.', data: run() },
  'run.started': { says: 'A run left the queue.', data: run() },
  'run.requires_action': {
    says: 'A run waits: for approvals, or for outputs of tools that the caller runs.',
    data: run({ action_ids: array(string()) }),
  },
  'run.completed': { says: 'A run is done.', data: run({ output: nullable(jsonObject()), usage }) },
  'run.failed': { says: 'A run ended with an error.', data: run({ error: errorOf, usage }) },
  'run.cancelled': { says: 'A run was cancelled.', data: run({ usage }) },
  'run.expired': { says: 'A run was not done in its time.', data: run({ usage }) },
  'action.created': { says: 'A tool call waits for a person.', data: action() },
  'action.approved': { says: 'A person approved a tool call.', data: action({ resolved_by: reference() }) },
  'action.rejected': {
    says: 'A person rejected a tool call, or what it belonged to ended.',
    data: action({ resolved_by: reference() }),
  },
  'action.executed': { says: 'An approved tool call was carried out.', data: action() },
  'action.failed': { says: 'An approved tool call went wrong.', data: action({ error: errorOf }) },
  'action.expired': { says: 'Nobody decided about a tool call in its time.', data: action() },
  'agent_version.created': { says: 'A version of an agent was drafted.', data: agentVersion() },
  'agent_version.submitted': { says: 'A version waits for its review.', data: agentVersion() },
  'agent_version.published': { says: 'A version can be installed.', data: agentVersion() },
  'agent_version.rejected': {
    says: 'A review sent a version back to its draft.',
    data: agentVersion({ reason: reference() }),
  },
  'agent_version.deprecated': { says: 'A version takes no new installations.', data: agentVersion() },
  'agent_version.retired': { says: 'A version runs nowhere any more.', data: agentVersion() },
  'installation.created': { says: 'An agent was installed for a tenant.', data: installation() },
  'installation.updated': { says: 'Overlays, policy or rate plan of an installation changed.', data: installation() },
  'installation.upgraded': {
    says: 'An installation went to another version.',
    data: installation({ previous_version: reference() }),
  },
  'installation.rolled_back': {
    says: 'An installation went back to the version before.',
    data: installation({ previous_version: reference() }),
  },
  'installation.disabled': { says: 'An installation runs nothing any more.', data: installation() },
  'tenant.created': { says: 'A tenant was created.', data: tenantEvent() },
  'tenant.updated': { says: 'A tenant was changed.', data: tenantEvent() },
  'tenant.suspended': { says: 'A tenant is refused everywhere from now on.', data: tenantEvent() },
  'tenant.resumed': { says: 'A suspended tenant is served again.', data: tenantEvent() },
  'tenant.deleting': { says: 'The deletion of a tenant has begun.', data: tenantEvent() },
  'tenant.deleted': {
    says: 'Nothing of a tenant is left.',
    data: object({ external_id: string(), ...tenant }, { open: true }),
  },
  'webhook.test': {
    says: 'Somebody tries whether the endpoint takes what it is sent.',
    data: object({ webhook_id: string(), message: string(), ...tenant }),
  },
} as const satisfies Record<string, WebhookEventSpec>

interface WebhookEventSpec {
  /** For people. */
  readonly says: string
  /** What `data` of the payload is. Fields may be added; those declared stay. */
  readonly data: Schema<unknown>
}

/** Name of an event that webhooks can be told of. */
export type WebhookEventType = keyof typeof events

/** Every event that webhooks can be told of (interface "Webhooks"; interface-additions "webhooks"). */
export const webhookEvents: Readonly<Record<WebhookEventType, WebhookEventSpec>> = events

/** `data` of one event's payload. */
export type WebhookData<E extends WebhookEventType> = Infer<(typeof events)[E]['data']>

/** Names of all events, as the declarations are ordered. */
export const webhookEventTypes: readonly WebhookEventType[] = Object.keys(events).filter(isWebhookEventType)

/** Whether a text names an event. */
export function isWebhookEventType(text: string): text is WebhookEventType {
  return Object.hasOwn(events, text)
}

/** The body of a delivery; `timestamp` is when it happened. */
export const webhookPayload = object(
  { type: string(), timestamp: timestamp(), data: jsonObject() },
  { title: 'WebhookPayload' },
)
