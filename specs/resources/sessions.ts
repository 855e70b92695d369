import { conversationMemory } from '#specs/memory-field.ts'
import {
  type Access,
  anyKeyOrDashboard,
  keyClientOrDashboard,
  keyOrClient,
  keyOrTokenWith,
  secretKeyOnly,
} from '../access.ts'
import { answersBytes, answersEvents, isJsonResponse, logPageBytes } from '../dsl/answer.ts'
import { defineOperation, defineOperations } from '../dsl/declare.ts'
import { numberedPage, ownerFilters, pageQuery, startingAfter } from '../dsl/lists.ts'
import {
  array,
  boolean,
  constant,
  defaulted,
  described,
  id,
  integer,
  jsonObject,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  timestamp,
  union,
} from '../dsl/schema.ts'
import type { ErrorCode } from '../errors/errors.ts'
import { followedEvents, sessionMessages } from '../events/session-messages.ts'
import { type FieldRule, serverSide } from '../field-access.ts'
import { reason } from '../reason.ts'
import { statuses } from '../statuses.ts'
import { stuck } from '../stuck-field.ts'
import { freeFields, metadata, serverRunTools, toolResults, turnTools } from '../tools.ts'
import { responsePart } from './gateway/shapes/response-shapes.ts'
import { maxImages } from './gateway/vision.ts'

const path = '/v1/sessions'
const one = '/v1/sessions/{session_id}'
/** Status of a session in responses. */
export const sessionStatus = oneOf(...statuses.session)
const turnAccess: Access = { ...keyClientOrDashboard, permissions: ['sessions:turn'] }
const decideAccess = keyOrTokenWith('sessions:approve', 'sessions:tools')
const reference = string({ minLength: 1, maxLength: 128 })
const actionId = string({ minLength: 1, maxLength: 128 })

const sessionFields = {
  id: id('ses'),
  status: described(
    sessionStatus,
    '`paused`: a tool call is pending approval. `completed`: its last turn ended with a rejection, and another turn makes it active again; or it has expired after 7 days without activity, and refuses turns.',
  ),
  turn_count: integer({ description: 'Number of turns.' }),
  created_at: described(timestamp(), 'Time at which the resource was created.'),
  updated_at: described(timestamp(), 'Time at which the resource was last updated.'),
  agent_id: nullable(string({ description: 'Agent of the session.' })),
  tenant_id: nullable(string({ description: 'Tenant of the session.' })),
  external_user_id: nullable(string({ description: 'Your own id of the end user whose session it is.' })),
  installation_id: nullable(string({ description: 'Installation that the session runs in.' })),
  metadata: described(jsonObject(), 'Your own fields.'),
  forked_from: described(
    nullable(object({ session_id: id('ses'), turn_number: integer() }, { title: 'ForkedFrom' })),
    'Session and turn from which this session was forked.',
  ),
}

/** A new session, which has no cost yet. */
const newSession = object(sessionFields, { title: 'CreatedSession', description: 'A new session.' })

/** A session. */
export const session = object(
  { ...sessionFields, total_cost: number({ description: 'Cost of all turns in USD.' }), stuck },
  { title: 'Session', description: 'A durable conversation with a model or an agent.' },
)

/** An event of a session's log. */
const sessionEvent = object(
  {
    id: id('evt'),
    session_id: id('ses'),
    turn_number: nullable(integer()),
    sequence: integer(),
    event_type: string(),
    payload: jsonObject(),
    created_at: timestamp(),
  },
  { title: 'SessionEvent', description: "An event of a session's log." },
)

/** Memory in bytes for producing a page of messages. */
const messagePageBytes = 4 * 1024 * 1024

/** Fields of a turn that say how it runs, whatever it begins with. */
export const turnOptions = {
  tools: described(optional(turnTools), 'Tools that the model may call in this turn.'),
  instructions: optional(string({ description: 'System message of this turn.' })),
  model: optional(
    string({ minLength: 1, maxLength: 256, description: 'Model of this turn, as a model id or `provider/model`.' }),
  ),
  pause_on_tool_calls: described(
    optional(boolean()),
    "Whether tool calls require approval. When any tool has `needsApproval`, only calls of those tools do. Default: the setting of the agent's config, else true if any tool has `needsApproval`.",
  ),
  memory: described(
    optional(nullable(conversationMemory)),
    "Memory of the session's end user. Default: the setting of the agent's config.",
  ),
}

/** Rules about who may set `turnOptions`. */
export const turnFieldRules: readonly FieldRule[] = [
  { field: 'tools', itemTypes: serverRunTools, by: serverSide },
  { field: 'tools', itemTypes: ['web_search_preview'], by: serverSide, unlessLeave: 'turn_overrides' },
  { field: 'model', by: serverSide, unlessLeave: 'turn_overrides' },
  { field: 'instructions', by: serverSide, unlessLeave: 'turn_overrides' },
]

const turnFields = {
  input: described(
    optional(union([string(), array(responsePart, { minItems: 1, maxItems: maxImages })])),
    'Message of the user: a text, or parts with `input_text` and `input_image`. An image is a data URL or an https address in `image_url`, or a file of `files.create` in `file_id`; JPEG, PNG, WEBP and GIF up to 20 MB, together 24 MB; without its images a request has at most 1 MB. Parts of chat completions are accepted too. Optional with `tool_results` and `retry_of`.',
    'TurnInput',
  ),
  retry_of: optional(
    integer({
      min: 1,
      description:
        'Number of the latest turn, which failed: makes its failed model call again, in a new turn. The input and the tool calls of the failed turn stay as they are, and nothing is executed twice. Excludes `input` and `tool_results`.',
    }),
  ),
  ...turnOptions,
  tool_results: optional(toolResults),
}

/** Errors with which a turn may be refused. */
export const turnErrors: readonly ErrorCode[] = [
  'turn_in_progress',
  'approval_pending',
  'session_expired',
  'invalid_transition',
  'agent_not_runnable',
  'model_not_found',
  'provider_not_configured',
  'provider_not_active',
  'actor_parked',
  'bad_request',
  'unsupported_format',
  'image_too_large',
]

/** Body of a turn. */
export const turnRequest = object(turnFields, {
  title: 'TurnRequest',
  description: 'A message from the user, or outputs of tools.',
})

const approval = {
  action_id: actionId,
  tool_results: optional(toolResults),
  arguments: described(optional(jsonObject()), 'Edited arguments of the tool call, as in `actions.approve`.'),
  content: described(optional(jsonObject()), 'Values for a form that a server requested, as in `actions.approve`.'),
}

const resource = { name: 'sessions', ofTenants: 'user' } as const

/** Sessions, which are durable conversations. */
export const sessions = defineOperations(resource, {
  create: {
    summary: 'Create a session',
    description:
      'With `agent_id`, turns use the model, instructions and tools of the agent; with `installation_id`, those of the version that the tenant has installed.',
    method: 'POST',
    path,
    access: keyClientOrDashboard,
    fields: [
      { field: 'tenant_id', by: serverSide },
      { field: 'external_user_id', by: serverSide },
      { field: 'installation_id', by: serverSide },
    ],
    body: object({
      agent_id: optional(reference),
      tenant_id: described(optional(reference), 'Tenant that the session is for. Default: `X-Tenant-Id`.'),
      external_user_id: described(
        optional(string({ minLength: 1, maxLength: 256 })),
        'Your own id of the end user whose session it is. Default: `X-External-User-Id`.',
      ),
      installation_id: described(
        optional(reference),
        'Installation that the session uses. Its agent and tenant are implied.',
      ),
      metadata,
    }),
    answer: isJsonResponse(newSession, { status: 201 }),
    errors: ['not_found', 'agent_not_runnable'],
  },
  list: {
    summary: 'List sessions',
    description:
      'Newest first. A client token lists the sessions of its user, with `installation_ids` those of its installations.',
    method: 'GET',
    path,
    access: keyOrClient,
    query: {
      status: optional(sessionStatus),
      agent_id: optional(reference),
      installation_id: optional(reference),
      ...ownerFilters,
      starting_after: startingAfter,
      ...pageQuery,
    },
    answer: isJsonResponse(numberedPage(session)),
  },
  get: {
    summary: 'Retrieve a session',
    description: 'Returns the status, the number of turns and the total cost of a session. A deleted session is 404.',
    method: 'GET',
    path: one,
    access: keyClientOrDashboard,
    answer: isJsonResponse(session),
  },
  delete: {
    summary: 'Delete a session',
    description: 'Its event log is deleted too. Actions that are pending approval are rejected.',
    method: 'DELETE',
    path: one,
    access: secretKeyOnly,
    answer: isJsonResponse(object({ id: id('ses'), deleted: constant(true) })),
  },
  turns: {
    summary: 'Create a turn',
    description:
      'Sends the input to the model and streams the events of the turn. The stream ends with `turn.completed`, `turn.failed`, or with `turn.paused` when a tool call is pending approval. If the connection breaks, the turn keeps running: resume reading with `sessions.stream`.',
    method: 'POST',
    path: `${one}/turns`,
    access: turnAccess,
    fields: turnFieldRules,
    body: turnRequest,
    chatBodyBytes: 64 * 1024 * 1024,
    answer: answersEvents(followedEvents, { title: 'SessionStreamEvent' }),
    errors: turnErrors,
  },
  messages: {
    summary: 'List the messages of a session',
    description:
      'Returns the newest turns as messages, oldest first, and the calls that wait for a decision. `sessions.stream` with `after` set to `last_event_id` continues without a gap; with `restarts=true`, `turn.restarted` voids all text of the turn in progress. A page holds about 1 MB of text, and may therefore have fewer turns than `limit`. Long outputs of tools are truncated.',
    method: 'GET',
    path: `${one}/messages`,
    access: turnAccess,
    query: {
      before: described(
        optional(integer({ min: 1 })),
        'Turn number before which the page ends: that of the first message that you have.',
      ),
      limit: described(defaulted(integer({ min: 1, max: 100 }), 50), 'Maximum number of turns on a page.'),
    },
    answer: isJsonResponse(sessionMessages, { maxBytes: messagePageBytes }),
  },
  image: {
    summary: 'Retrieve an image of a session',
    description: 'Returns the bytes of an image in the input of a turn, which messages and events have by reference.',
    method: 'GET',
    path: `${one}/images/{image_id}`,
    access: turnAccess,
    answer: answersBytes('image/png', 'image/jpeg', 'image/webp', 'image/gif'),
    headers: [
      ['cache-control', 'private, max-age=3600'],
      ['content-security-policy', "default-src 'none'; sandbox"],
      ['x-content-type-options', 'nosniff'],
    ],
  },
  stream: {
    summary: 'Stream the events of a session',
    description:
      'Sends the events after `Last-Event-ID`, then new events as they are committed. With `snapshot=true`, a stream without `Last-Event-ID` and `after` begins with `session.snapshot`, the messages of the newest 50 turns, and continues from there.',
    method: 'GET',
    path: `${one}/stream`,
    access: turnAccess,
    query: {
      snapshot: described(optional(boolean()), 'Whether to begin with `session.snapshot` instead of the first event.'),
    },
    answer: answersEvents(followedEvents, { title: 'SessionStreamEvent', resumable: true }),
  },
  approve: {
    summary: 'Approve a tool call',
    description:
      'Resumes the paused turn and streams its events. For a tool that you run yourself, send its output in `tool_results`. A client token decides calls whose `approver` is `end_user`, and sends outputs of `function` tools that its page declared.',
    method: 'POST',
    path: `${one}/approve`,
    access: decideAccess,
    fields: [{ field: 'arguments', by: serverSide }],
    body: object(approval),
    answer: answersEvents(followedEvents, { title: 'SessionStreamEvent' }),
    errors: ['action_already_resolved', 'tool_result_required', 'insufficient_scope'],
  },
  reject: {
    summary: 'Reject a tool call',
    description: "Ends the turn. When the tool's server requested input, the input is declined and the turn continues.",
    method: 'POST',
    path: `${one}/reject`,
    access: decideAccess,
    body: object({ action_id: actionId }),
    answer: isJsonResponse(
      object({ id: id('ses'), action_id: id('act'), resolution: oneOf('rejected'), status: sessionStatus }),
    ),
    errors: ['action_already_resolved', 'insufficient_scope'],
  },
  cancel: {
    summary: 'Cancel a turn',
    description: 'Ends the running or paused turn.',
    method: 'POST',
    path: `${one}/cancel`,
    access: turnAccess,
    body: object({ reason }),
    answer: isJsonResponse(session),
    errors: ['no_turn_in_progress'],
  },
  fork: {
    summary: 'Fork a session',
    description:
      'Creates a session of the same agent, tenant and user with the history of this session up to a given turn. The history is copied into the log of the new session, after `session.forked`. If the history is very long, its earliest turns are copied only as the messages that the model reads, without their events. Pending actions, open tool calls and usage are not copied. The two sessions are independent afterwards.',
    method: 'POST',
    path: `${one}/fork`,
    access: anyKeyOrDashboard,
    body: object({
      turn_number: described(
        optional(integer({ min: 1 })),
        'Last turn to copy; it must have ended. Default: the latest turn that has ended.',
      ),
      metadata: described(optional(freeFields), 'Metadata of the new session. Default: the metadata of this session.'),
      reason,
    }),
    answer: isJsonResponse(newSession, { status: 201 }),
    errors: ['turn_in_progress', 'approval_pending', 'agent_not_runnable'],
  },
  events: {
    summary: 'List the events of a session',
    description:
      'In log order. A page holds at most 4 MB and may therefore contain fewer than `limit` events; `has_more` is then true. To continue, send the sequence number of the last event as `after`.',
    method: 'GET',
    path: `${one}/events`,
    access: secretKeyOnly,
    query: {
      turn_number: optional(integer({ min: 1 })),
      after: described(
        optional(integer({ min: 0 })),
        'Sequence number of the last event that you received. Page numbers are relative to it.',
      ),
      ...pageQuery,
    },
    answer: isJsonResponse(numberedPage(sessionEvent), { maxBytes: logPageBytes }),
  },
})

/** Frames from clients on a session's WebSocket, by their `type`. */
export const sessionFrames = {
  turn: object({ type: constant('turn'), ...turnFields }),
  approve: object({ type: constant('approve'), ...approval }),
  reject: object({ type: constant('reject'), action_id: actionId }),
  resume: object({ type: constant('resume'), after: integer({ min: 0 }) }),
  cancel: object({ type: constant('cancel') }),
}

/** The WebSocket of a session. */
export const sessionSocket = defineOperation('sessions.socket', {
  summary: 'Open a WebSocket to a session',
  description:
    'Accepts the frames `turn`, `approve`, `reject`, `resume` and `cancel`, and sends the events of the session. A client token may be sent as `?token=`. A dashboard session names its project by `?project_id=`.',
  method: 'GET',
  path: `${one}/ws`,
  access: turnAccess,
  query: {
    project_id: optional(
      string({
        minLength: 1,
        maxLength: 128,
        description: "Project to use with a dashboard session. Default: the member's first project.",
      }),
    ),
  },
  answer: answersEvents(followedEvents, { title: 'SessionStreamEvent', resumable: true }),
  frames: sessionFrames,
  ofTenants: 'user',
})

declare module '../index.ts' {
  interface Resources {
    readonly sessions: typeof sessions
  }
}
