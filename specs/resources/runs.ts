import { anyKeyOrDashboard, publicKeyOrDashboard, secretKeyOnly } from '../access.ts'
import { answersEither, answersEvents, isJsonResponse, logPageBytes } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { cursorPage, cursorQuery, ownerFilters } from '../dsl/lists.ts'
import {
  defaulted,
  described,
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
} from '../dsl/schema.ts'
import { endedStream, turnUsage } from '../events/events.ts'
import { runEvents } from '../events/run-events.ts'
import { serverSide } from '../field-access.ts'
import { conversationMemory } from '../memory-field.ts'
import { reason } from '../reason.ts'
import { statuses } from '../statuses.ts'
import { stuck } from '../stuck-field.ts'
import { expiresIn } from '../tools.ts'

const one = '/v1/runs/{run_id}'
const reference = string({ minLength: 1, maxLength: 128 })

/** Status of a run in responses. */
const status = oneOf(...statuses.run)

const listedFields = {
  id: id('run'),
  agent_id: string(),
  agent_version_id: nullable(
    string({ description: "Id of the agent version; null if the run uses the agent's own config." }),
  ),
  version: nullable(string({ description: "Version of the agent; null if the run uses the agent's own config." })),
  status,
  installation_id: nullable(string()),
  tenant_id: nullable(string()),
  external_user_id: nullable(string()),
  parent_run_id: nullable(id('run')),
  replay_of: described(nullable(id('run')), 'Run that this one repeats.'),
  usage: turnUsage,
  error: nullable(object({ code: string(), message: string() })),
  created_at: timestamp(),
  updated_at: timestamp(),
  finished_at: nullable(timestamp()),
  expires_at: timestamp(),
}

/** A run in a list, without its potentially large fields. */
const listedRun = object(listedFields, { title: 'RunListed', description: 'A background run of an agent, in a list.' })

/** A background run of an agent. */
const run = object(
  {
    ...listedFields,
    stuck,
    input: described(jsonObject(), 'Task of the run.'),
    output: described(
      nullable(jsonObject()),
      'Output of a completed run: `text`, and in `annotations` the web pages that it cites, as in `turn.completed`.',
    ),
    started_at: nullable(timestamp()),
  },
  { title: 'Run', description: 'A background run of an agent.' },
)

/** Input of a run: a prompt, and further fields for the agent. */
const runInput = object(
  { prompt: string({ minLength: 1, description: 'Task in words.' }) },
  { title: 'RunTask', description: 'Task of a run. Additional fields are passed to the agent as well.', open: true },
)

/** An event of a run's log. */
const runEvent = object(
  {
    id: id('evt'),
    run_id: id('run'),
    sequence: integer(),
    event_type: string(),
    payload: jsonObject(),
    created_at: timestamp(),
  },
  { title: 'RunEvent', description: "An event of a run's log." },
)

const resource = { name: 'runs', ofTenants: 'user' } as const

/** Background runs of agents. */
export const runs = defineOperations(resource, {
  create: {
    summary: 'Create a run',
    description:
      'Runs an agent in the background. The run is queued while the project or the tenant has reached its limit of concurrent runs.',
    method: 'POST',
    path: '/v1/agents/{agent_id}/runs',
    access: publicKeyOrDashboard,
    body: object({
      installation_id: optional(reference),
      tenant_id: optional(reference),
      external_user_id: optional(string({ minLength: 1, maxLength: 256 })),
      mode: optional(oneOf('background')),
      input: runInput,
      memory: described(
        optional(nullable(conversationMemory)),
        "Memory of the run's user: read before each model call, written after the last answer. Default: the setting of the agent's config.",
      ),
      expires_in: optional(expiresIn),
    }),
    fields: [
      { field: 'external_user_id', by: serverSide },
      { field: 'memory', by: serverSide },
    ],
    answer: isJsonResponse(run, { status: 202 }),
    errors: ['not_found', 'agent_not_runnable', 'model_not_found', 'provider_not_configured', 'provider_not_active'],
  },
  list: {
    summary: 'List runs',
    description:
      'Newest first, without `input` and `output`. A secret key of an agent lists the runs of its agent. To get the next page, send `next_cursor` of this one as `cursor`.',
    method: 'GET',
    path: '/v1/runs',
    access: anyKeyOrDashboard,
    query: {
      ...cursorQuery,
      status: optional(status),
      agent_id: optional(reference),
      parent_run_id: optional(reference),
      installation_id: optional(reference),
      ...ownerFilters,
    },
    answer: isJsonResponse(cursorPage(listedRun)),
  },
  get: {
    summary: 'Retrieve a run',
    description:
      'Returns the status, output, usage and error of a run. Poll while it is `queued` or `running`, or stream `runs.events`.',
    method: 'GET',
    path: one,
    access: publicKeyOrDashboard,
    answer: isJsonResponse(run),
  },
  cancel: {
    summary: 'Cancel a run',
    description: 'Its child runs are cancelled too.',
    method: 'POST',
    path: `${one}/cancel`,
    access: publicKeyOrDashboard,
    body: object({ reason }),
    answer: isJsonResponse(run),
    errors: ['invalid_transition'],
  },
  replay: {
    summary: 'Replay a run',
    description:
      'Starts a new run of the same agent version, for the same tenant and user and with the same settings, limits and time to live. `input` replaces the task. When the run had no version, the current config of the agent applies. A replay of a child run is an independent run with the approval policy of the child.',
    method: 'POST',
    path: `${one}/replay`,
    access: anyKeyOrDashboard,
    body: object({
      input: described(optional(runInput), 'Task of the new run. Default: the task of the original run.'),
      after_sequence: described(
        optional(integer({ min: 1 })),
        'Sequence of an event of the original run (`runs.events`) from which the new run goes on: its model reads the task, and what the original said and its tools returned until then; these tools do not run again. Refused while a tool call has no output there. Default: the new run begins with its task.',
      ),
      reason,
    }),
    answer: isJsonResponse(run, { status: 202 }),
    errors: ['agent_not_runnable', 'model_not_found', 'provider_not_configured', 'provider_not_active'],
  },
  delegate: {
    summary: 'Delegate to another agent',
    description: "Starts a child run with one of the agents that the run's version lists in `subagents`.",
    method: 'POST',
    path: `${one}/delegate`,
    access: secretKeyOnly,
    body: object({ agent_version_id: reference, input: json(), installation_id: optional(reference) }),
    answer: isJsonResponse(run, { status: 201 }),
    errors: [
      'not_found',
      'agent_not_runnable',
      'subagent_not_allowed',
      'delegation_too_deep',
      'too_many_children',
      'invalid_transition',
      'model_not_found',
      'provider_not_configured',
      'provider_not_active',
    ],
  },
  events: {
    summary: 'List or stream the events of a run',
    description:
      'With `Accept: text/event-stream`, sends the events after `Last-Event-ID`, then new events as they are committed.',
    method: 'GET',
    path: `${one}/events`,
    access: publicKeyOrDashboard,
    query: {
      limit: described(defaulted(integer({ min: 1, max: 100 }), 100), 'Number of events on a page.'),
      cursor: optional(
        string({
          maxLength: 1024,
          description: 'Where the page starts: `next_cursor` of the previous page. Default: the first page.',
        }),
      ),
    },
    answer: answersEither(
      isJsonResponse(cursorPage(runEvent), { maxBytes: logPageBytes }),
      answersEvents({ ...runEvents, ...endedStream }, { title: 'RunStreamEvent', resumable: true }),
    ),
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly runs: typeof runs
  }
}
