import { anyKeyOrDashboard, secretKeyOnly } from '../access.ts'
import { answersEither, answersEvents, answersJson } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { turnUsage } from '../events.ts'
import { cursorPage } from '../lists.ts'
import { runEvents } from '../run-events.ts'
import {
  defaulted,
  id,
  integer,
  json,
  jsonObject,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '../schema.ts'
import { expiresIn } from '../tools.ts'

const one = '/v1/runs/{run_id}'
const reference = string({ minLength: 1, maxLength: 128 })

/** A run's status on the wire (interface "Run"). */
const status = oneOf('queued', 'running', 'requires_action', 'completed', 'failed', 'cancelled', 'expired')

/** A background run of an agent. */
export const run = object(
  {
    id: id('run'),
    agent_id: string(),
    /** Null when the agent's own config runs. */
    agent_version_id: nullable(string()),
    version: nullable(string()),
    status,
    input: jsonObject(),
    output: nullable(jsonObject()),
    installation_id: nullable(string()),
    tenant_id: nullable(string()),
    external_user_id: nullable(string()),
    parent_run_id: nullable(id('run')),
    usage: turnUsage,
    error: nullable(object({ code: string(), message: string() })),
    created_at: timestamp(),
    updated_at: timestamp(),
    started_at: nullable(timestamp()),
    finished_at: nullable(timestamp()),
    expires_at: timestamp(),
  },
  { title: 'Run' },
)

/** What an agent is asked to do: a prompt, and whatever else it is to know. */
const runInput = object({ prompt: string({ minLength: 1 }) }, { title: 'RunTask', open: true })

/** One row of a run's log. */
const runEvent = object(
  {
    id: id('evt'),
    run_id: id('run'),
    sequence: integer(),
    event_type: string(),
    payload: jsonObject(),
    created_at: timestamp(),
  },
  { title: 'RunEvent' },
)

/** Background runs (interface "Agent platform"; interface-additions "runs", "Streams"). */
export const runs = defineOperations('runs', {
  create: {
    summary: 'Run an agent in the background',
    method: 'POST',
    path: '/v1/agents/{agent_id}/runs',
    access: anyKeyOrDashboard,
    body: object({
      installation_id: optional(reference),
      tenant_id: optional(reference),
      external_user_id: optional(string({ minLength: 1, maxLength: 256 })),
      mode: optional(oneOf('background')),
      input: runInput,
      expires_in: optional(expiresIn),
    }),
    answer: answersJson(run, { status: 202 }),
    errors: ['not_found', 'agent_not_runnable', 'model_not_found', 'provider_not_configured'],
  },
  get: { summary: 'Read a run', method: 'GET', path: one, access: anyKeyOrDashboard, answer: answersJson(run) },
  cancel: {
    summary: 'End a run, and what it has delegated',
    method: 'POST',
    path: `${one}/cancel`,
    access: anyKeyOrDashboard,
    answer: answersJson(run),
    errors: ['invalid_transition'],
  },
  delegate: {
    summary: 'Hand work of a run to one of the agents that its version names',
    method: 'POST',
    path: `${one}/delegate`,
    access: secretKeyOnly,
    body: object({ agent_version_id: reference, input: json(), installation_id: optional(reference) }),
    answer: answersJson(run, { status: 201 }),
    errors: [
      'not_found',
      'agent_not_runnable',
      'subagent_not_allowed',
      'delegation_too_deep',
      'too_many_children',
      'invalid_transition',
      'model_not_found',
      'provider_not_configured',
    ],
  },
  events: {
    summary: "Read a run's log, or follow it with Accept: text/event-stream",
    method: 'GET',
    path: `${one}/events`,
    access: anyKeyOrDashboard,
    query: {
      limit: defaulted(integer({ min: 1, max: 100 }), 100),
      cursor: optional(string({ maxLength: 1024 })),
    },
    answer: answersEither(answersJson(cursorPage(runEvent)), answersEvents(runEvents, { resumable: true })),
  },
})
