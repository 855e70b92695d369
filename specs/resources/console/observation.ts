import { dashboardOnly } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { cursorPage, cursorQuery } from '#specs/dsl/lists.ts'
import {
  array,
  boolean,
  defaulted,
  described,
  integer,
  json,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  timeOrDay,
  timestamp,
} from '#specs/dsl/schema.ts'

const project = '/api/projects/{project_id}'
const access = dashboardOnly('member')

const activity = oneOf('working', 'waiting', 'ended', 'parked')

/** An actor of any machine, in lists. */
const listedActor = object(
  {
    id: string(),
    machine: string(),
    state: string({ description: 'Innermost active state, as a dotted path.' }),
    activity: described(
      activity,
      '`working`: an effect is in progress; `waiting`: it waits for a person, a message or a timer; `ended`: it is in a final state; `parked`: it failed and waits for an operator.',
    ),
    label: nullable(string({ description: 'Display name, such as the tool of an action.' })),
    error: nullable(string({ description: 'Error code. Present in a list that is filtered by error or tool.' })),
    failures: integer({
      description:
        'Failures of the actor and of its tools in the last 24 hours, counted among the newest 1,000 of the project.',
    }),
    tenant_id: nullable(string()),
    external_user_id: nullable(string()),
    agent_id: nullable(string()),
    created_at: timestamp(),
    updated_at: timestamp(),
  },
  { title: 'ListedActor', description: 'An actor in a list.' },
)

/** A commit of an actor, as a row of its history. */
const step = object(
  {
    seq: integer({ description: 'Number of the commit.' }),
    at: timestamp(),
    version: string({ description: 'Machine and version, `session@3`.' }),
    cause: string({ description: 'Id of the request, message, effect or reminder that caused the step.' }),
    caused_by: oneOf('creation', 'request', 'effect', 'part', 'message', 'reminder', 'operator', 'runtime'),
    event: string({ description: 'Type of the event that the machine received.' }),
    owner: described(
      nullable(
        object({
          node: nullable(string({ description: 'Name of the node; null for steps of earlier releases.' })),
          epoch: integer({ description: 'Increases each time that another process takes over the actor.' }),
          since: described(
            nullable(timestamp()),
            'Time at which the process took over the actor; null for steps of earlier releases.',
          ),
          after_crash: described(
            nullable(boolean()),
            'Whether the previous process ended without releasing the actor; null for the first owner and for steps of earlier releases.',
          ),
        }),
      ),
      'Process that runs the actor from this step on. Present on the first step and on each step with which another process took over.',
    ),
    from: nullable(
      string({
        description: 'Innermost state before the step; null for the first step and if the state did not change.',
      }),
    ),
    to: nullable(string({ description: 'Innermost state after the step; null if it did not change.' })),
    context: described(
      nullable(json()),
      "Fields of the machine's context that the step set: all fields for the first step, null if it changed none. Long texts and lists are replaced by `$length` and `$items`. Secrets are masked.",
    ),
    events: array(object({ sequence: integer(), event_type: string() })),
    effects: described(
      array(object({ id: string(), name: string(), policy: string(), params: json() })),
      'Effects that the step started. Secrets in `params` are masked.',
    ),
    messages: array(object({ id: string(), to: string(), event: string() })),
    reminders: described(array(object({ name: string(), due: timestamp() })), 'Reminders that are set after the step.'),
    in_flight: described(array(object({ id: string(), name: string() })), 'Effects without a result after the step.'),
  },
  { title: 'ActorStep', description: 'One commit of an actor.' },
)

/** An item that needs attention by a person. */
const need = object(
  {
    kind: described(
      oneOf('approval', 'hand_over', 'stuck', 'slow', 'failed', 'refused', 'node', 'webhook'),
      '`approval`: an action is pending approval; `hand_over`: a browser job waits for a person to use its page; `stuck`: work cannot continue without a decision by an operator; `slow`: an effect has been in progress for longer than 99 % of the others in that state, or for 30 seconds if that is unknown; `failed`: failures of the last 24 hours, one row per tool, and per error code and machine; `refused`: requests to the gateway that were refused in the last 24 hours, such as by a budget, one row per tenant and error; `node`: a process that took over actors after another one had crashed; `webhook`: deliveries to a webhook are failing.',
    ),
    id: string({
      description:
        'Id of the actor or webhook, or name of the node. For failures, that of the latest one; for refusals, its request.',
    }),
    machine: nullable(string()),
    tool: nullable(string({ description: 'Tool that failed.' })),
    error: nullable(string({ description: 'Error code of failures and refusals.' })),
    subject: string({
      description: 'Name of the tool, error code, or name of the tenant or webhook; the id if there is no name.',
    }),
    cause: string({ description: 'Cause in one sentence.' }),
    count: integer({ description: 'Number of failures; 1 otherwise.' }),
    tenant_id: nullable(string()),
    risk_level: nullable(string()),
    arguments: described(json(), 'Arguments of the tool call that is pending approval. Secrets are masked.'),
    since: timestamp(),
    expires_at: nullable(timestamp()),
  },
  { title: 'Need', description: 'Something that requires attention.' },
)

/** A state of a machine, with the actors in it. */
const fleetState = object(
  {
    state: string(),
    final: boolean(),
    actors: integer({
      description: 'Actors in the state, counted to 10,000. Above 1,000 the number may be up to 5 seconds old.',
    }),
    actors_are: described(oneOf('exact', 'at_least'), '`at_least` when there are more than were counted.'),
    p50_ms: nullable(
      integer({
        description:
          'Median time in milliseconds since the last step, over the newest 100 actors in the state. For a final state: their median lifetime.',
      }),
    ),
    p95_ms: nullable(integer({ description: '95th percentile of the same time.' })),
  },
  { title: 'FleetState', description: 'A state of a machine, with the actors in it.' },
)

const edge = {
  from: string({ description: 'Innermost state before the step, as a dotted path.' }),
  to: string({ description: 'Innermost state after the step; equal to `from` if the state did not change.' }),
  count: integer(),
}

/** Failed steps along one edge of a state chart. */
const failingEdge = object(edge, {
  title: 'FailingEdge',
  description: 'Steps between two states that failed in the last 24 hours.',
})

/** Steps of the last minute along one edge of a state chart. */
const flow = object(edge, {
  title: 'Flow',
  description: 'Steps between two states in the last minute, of the 50 newest actors that made one.',
})

const sums = {
  calls: integer({ description: 'Model calls.' }),
  errors: integer({ description: 'Requests to the gateway that failed, and failures of actors and tools.' }),
  cost_usd: number({ description: 'Cost in USD; calls without a price count nothing.' }),
  input_tokens: integer(),
  output_tokens: integer(),
  p50_ms: nullable(
    integer({ description: 'Median duration of successful requests to the gateway, in milliseconds, within 5 %.' }),
  ),
  p95_ms: nullable(integer({ description: '95th percentile of the same durations.' })),
}

const totals = object(sums, { title: 'SeriesTotals', description: 'Totals of a period.' })

const seriesGroup = object(
  {
    name: nullable(string({ description: 'Value of the dimension; null for calls without one.' })),
    ...{ calls: integer(), errors: integer(), cost_usd: number(), tokens: integer() },
    costs: described(array(number()), 'Cost in USD in each bucket.'),
    counts: described(array(integer()), 'Calls in each bucket.'),
  },
  { title: 'SeriesGroup', description: 'Calls of one model, tenant, agent or operation.' },
)

const toolHealth = object(
  {
    tool: string(),
    calls: integer(),
    failures: integer(),
    p95_ms: integer({ description: '95th percentile of its durations, in milliseconds.' }),
  },
  { title: 'ToolHealth', description: 'Calls of a tool that the server ran.' },
)

/** What an id names. */
const named = object(
  {
    id: string(),
    machine: nullable(string({ description: 'Machine of an actor; null for a record.' })),
    name: nullable(
      string({ description: 'Name of a record; for a session or a run, the first words of its message or task.' }),
    ),
    state: nullable(string({ description: 'Innermost active state of an actor.' })),
  },
  { title: 'NamedId', description: 'An id with its name.' },
)

/** A resource that matches a searched text. */
const finding = object(
  {
    kind: oneOf('actor', 'tenant', 'user', 'agent', 'knowledge', 'model', 'error', 'tool', 'request'),
    id: string(),
    tenant_id: described(nullable(string()), 'Tenant of a user.'),
    machine: nullable(string()),
    state: nullable(string()),
    label: nullable(string()),
    updated_at: nullable(timestamp()),
  },
  { title: 'Finding', description: 'A search result.' },
)

/** State and history of a project's actors, for the console. */
export const observation = defineOperations('observation', {
  actors: {
    summary: 'List the actors of a project',
    description:
      'Newest first. Filter by machine, or by the error code or the tool of failures in the last 7 days. With several filters, a page may contain fewer than `limit` actors although there are more.',
    method: 'GET',
    path: `${project}/actors`,
    access,
    query: {
      ...cursorQuery,
      machine: optional(
        string({
          minLength: 1,
          maxLength: 64,
          description: 'Name of the machine. Default: `session`, or any machine with `error` or `tool`.',
        }),
      ),
      state: optional(string({ minLength: 1, maxLength: 128 })),
      activity: optional(activity),
      tenant_id: optional(string({ minLength: 1, maxLength: 128 })),
      agent_id: optional(string({ minLength: 1, maxLength: 128 })),
      error: optional(string({ minLength: 1, maxLength: 128, description: 'Error code of a failure.' })),
      tool: optional(string({ minLength: 1, maxLength: 128, description: 'Name of a tool that failed.' })),
      from: optional(described(timeOrDay(), 'Earliest creation time, inclusive: a time or a date.')),
      to: optional(described(timeOrDay(), 'Latest creation time, exclusive: a time or a date.')),
    },
    answer: isJsonResponse(cursorPage(listedActor)),
  },
  steps: {
    summary: 'List the commits of an actor',
    description:
      'In commit order, starting after the number `after`. Commits of streams that were merged later are not included.',
    method: 'GET',
    path: `${project}/actors/{actor_id}/steps`,
    access,
    query: { after: defaulted(integer({ min: 0 }), 0), limit: defaulted(integer({ min: 1, max: 200 }), 100) },
    answer: isJsonResponse(object({ data: array(step), last_seq: integer() })),
  },
  attention: {
    summary: 'List what needs attention',
    description:
      'Returns pending approvals, those that expire soonest first, then stuck and slow work, failures of the last 24 hours, and failing webhooks. Of long lists, the 50 oldest approvals and the 50 newest pieces of stuck work are returned.',
    method: 'GET',
    path: `${project}/attention`,
    access,
    answer: isJsonResponse(object({ data: array(need) })),
  },
  fleet: {
    summary: 'Count the actors of a project by machine and state',
    description: 'Returns every machine that has list rows, with the number of its actors in each state.',
    method: 'GET',
    path: `${project}/fleet`,
    access,
    answer: isJsonResponse(
      object({
        data: array(
          object(
            {
              ...{ machine: string(), version: integer(), failures_24h: integer() },
              failing_edges: array(failingEdge),
              flows: array(flow),
              states: array(fleetState),
            },
            { title: 'FleetMachine', description: 'A machine, with its actors by state.' },
          ),
        ),
      }),
    ),
  },
  series: {
    summary: 'Summarize calls over time',
    description:
      'Returns model calls, errors, cost, tokens and durations by buckets of time, the totals of the period before, the eight groups with the highest cost, and the health of tools from at most 5,000 of the newest calls. A read of a long range adds at most 10,000 rows; `complete` is false until further reads have added the rest.',
    method: 'GET',
    path: `${project}/series`,
    access,
    query: {
      range: defaulted(oneOf('hour', 'day', 'week', 'month'), 'day'),
      by: defaulted(oneOf('model', 'tenant', 'agent', 'operation'), 'model'),
    },
    answer: isJsonResponse(
      object({
        ...{ from: timestamp(), to: timestamp(), bucket_ms: integer(), complete: boolean() },
        data: array(object({ at: timestamp(), ...sums }, { title: 'SeriesBucket' })),
        totals,
        totals_before: totals,
        groups: array(seriesGroup),
        tools: array(toolHealth),
      }),
    ),
  },
  names: {
    summary: 'Name what ids stand for',
    description:
      'Takes ids of actors and of agents, tenants, webhooks, knowledge bases, prompts, skills, guardrails and provider connections. Admins and owners also get the names of keys and members. Unknown ids are left out.',
    method: 'GET',
    path: `${project}/names`,
    access,
    query: {
      ids: string({
        pattern: '^[a-z]+_[0-9a-z]{26}(,[a-z]+_[0-9a-z]{26}){0,99}$',
        maxLength: 4_000,
        description: 'At most 100 ids, separated by commas.',
      }),
    },
    answer: isJsonResponse(object({ data: array(named) })),
  },
  find: {
    summary: 'Find an actor, a resource, a request or an error',
    description:
      'Takes an id or a prefix of one, a part of the name of an agent, a tenant or a knowledge base, a part of what a session or a run is about, the external id of a tenant or user, a model, a request id, an error code, or the name of a tool that failed. Names are searched among the newest 200 of each kind. Returns at most 20 results.',
    method: 'GET',
    path: `${project}/find`,
    access,
    query: { q: string({ minLength: 1, maxLength: 128, description: 'Text to search for.' }) },
    answer: isJsonResponse(object({ data: array(finding) })),
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly observation: typeof observation
  }
}
