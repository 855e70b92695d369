import { keyOrClient, keyOrClientWith, secretKeyOnly } from '../access.ts'
import { answersEvents, answersJson } from '../answer.ts'
import { defineOperation, defineOperations } from '../declare.ts'
import { sessionEvents } from '../events.ts'
import { numberedPage, pageQuery, startingAfter } from '../lists.ts'
import {
  boolean,
  constant,
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
} from '../schema.ts'
import { metadata, toolResults, tools } from '../tools.ts'

const path = '/v1/sessions'
const one = '/v1/sessions/{session_id}'
/** A session's status on the wire. */
export const sessionStatus = oneOf('active', 'paused', 'completed')
const turnAccess = keyOrClientWith('sessions:turn')
const actionId = string({ minLength: 1, maxLength: 128 })

const sessionFields = {
  id: id('ses'),
  status: sessionStatus,
  turn_count: integer(),
  created_at: timestamp(),
  updated_at: timestamp(),
  agent_id: nullable(string()),
  metadata: jsonObject(),
}

/** A session as its creation answers it. */
const newSession = object(sessionFields, { title: 'CreatedSession' })

/** A session as GET and list answer it; `total_cost` is in USD. */
export const session = object({ ...sessionFields, total_cost: number() }, { title: 'Session' })

/** One row of a session's log. */
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
  { title: 'SessionEvent' },
)

const turnFields = {
  /** May be left out when `tool_results` are given. */
  input: optional(string()),
  tools: optional(tools),
  instructions: optional(string()),
  model: optional(string({ minLength: 1, maxLength: 256 })),
  pause_on_tool_calls: optional(boolean()),
  tool_results: optional(toolResults),
}

const turnRequest = object(turnFields, { title: 'TurnRequest' })

const approval = { action_id: actionId, tool_results: optional(toolResults) }

/** Durable conversations (interface "Sessions API"). */
export const sessions = defineOperations('sessions', {
  create: {
    summary: 'Start a session',
    method: 'POST',
    path,
    access: keyOrClient,
    body: object({ agent_id: optional(string({ minLength: 1, maxLength: 128 })), metadata }),
    answer: answersJson(newSession, { status: 201 }),
    errors: ['not_found', 'agent_not_runnable'],
  },
  list: {
    summary: 'List sessions, newest first',
    method: 'GET',
    path,
    access: keyOrClient,
    query: { status: optional(sessionStatus), starting_after: startingAfter, ...pageQuery },
    answer: answersJson(numberedPage(session)),
  },
  get: {
    summary: 'Read a session',
    method: 'GET',
    path: one,
    access: keyOrClient,
    answer: answersJson(session),
  },
  delete: {
    summary: 'Delete a session with its log; what waits for approval is rejected',
    method: 'DELETE',
    path: one,
    access: secretKeyOnly,
    answer: answersJson(object({ id: id('ses'), deleted: constant(true) })),
  },
  turns: {
    summary: 'Run a turn and stream its events',
    method: 'POST',
    path: `${one}/turns`,
    access: turnAccess,
    body: turnRequest,
    answer: answersEvents(sessionEvents),
    errors: [
      'turn_in_progress',
      'approval_pending',
      'session_expired',
      'agent_not_runnable',
      'model_not_found',
      'provider_not_configured',
      'actor_parked',
    ],
  },
  stream: {
    summary: 'Follow a session: its log after Last-Event-ID, then live',
    method: 'GET',
    path: `${one}/stream`,
    access: turnAccess,
    answer: answersEvents(sessionEvents, { resumable: true }),
  },
  approve: {
    summary: 'Approve a tool call and stream the resumed turn',
    method: 'POST',
    path: `${one}/approve`,
    access: secretKeyOnly,
    body: object(approval),
    answer: answersEvents(sessionEvents),
    errors: ['action_already_resolved', 'tool_result_required'],
  },
  reject: {
    summary: 'Reject a tool call; the turn ends',
    method: 'POST',
    path: `${one}/reject`,
    access: secretKeyOnly,
    body: object({ action_id: actionId }),
    answer: answersJson(
      object({ id: id('ses'), action_id: id('act'), resolution: oneOf('rejected'), status: sessionStatus }),
    ),
    errors: ['action_already_resolved'],
  },
  cancel: {
    summary: 'End the running or paused turn',
    method: 'POST',
    path: `${one}/cancel`,
    access: turnAccess,
    answer: answersJson(session),
    errors: ['no_turn_in_progress'],
  },
  events: {
    summary: "Read a session's log",
    method: 'GET',
    path: `${one}/events`,
    access: secretKeyOnly,
    query: { turn_number: optional(integer({ min: 1 })), ...pageQuery },
    answer: answersJson(numberedPage(sessionEvent)),
  },
})

/** Frames of a client on a session's WebSocket, by their `type`. */
export const sessionFrames = {
  turn: object({ type: constant('turn'), ...turnFields }),
  approve: object({ type: constant('approve'), ...approval }),
  reject: object({ type: constant('reject'), action_id: actionId }),
  resume: object({ type: constant('resume'), after: integer({ min: 0 }) }),
  cancel: object({ type: constant('cancel') }),
}

/** The session over one WebSocket. */
export const sessionSocket = defineOperation('sessions.socket', {
  summary: 'WebSocket: frames turn, approve, reject, resume and cancel in, the events of the session out',
  method: 'GET',
  path: `${one}/ws`,
  access: turnAccess,
  answer: answersEvents(sessionEvents, { resumable: true }),
  frames: sessionFrames,
})
