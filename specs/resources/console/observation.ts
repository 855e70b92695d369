import { dashboardOnly } from '#specs/access.ts'
import { answersJson } from '#specs/dsl/answer.ts'
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

/** An actor of any machine as lists show it. */
const listedActor = object(
  {
    id: string(),
    machine: string(),
    state: string({ description: 'Innermost active state, dotted.' }),
    activity: described(
      activity,
      '`working`: an effect is in progress; `waiting`: for a person, a message or a time; `ended`: in a final state; `parked`: until an operator decides.',
    ),
    label: nullable(string({ description: 'Name for people, such as the tool of an action.' })),
    error: nullable(string({ description: 'Error code, in a list by error.' })),
    tenant_id: nullable(string()),
    external_user_id: nullable(string()),
    agent_id: nullable(string()),
    created_at: timestamp(),
    updated_at: timestamp(),
  },
  { title: 'ListedActor', description: 'An actor as lists show it.' },
)

/** One commit of an actor, as a row of its history. */
const step = object(
  {
    seq: integer({ description: 'Number of the commit.' }),
    at: timestamp(),
    version: string({ description: 'Machine and version, `session@3`.' }),
    cause: string({ description: 'Id of the request, message, effect or reminder that made the step.' }),
    caused_by: oneOf('creation', 'request', 'effect', 'part', 'message', 'reminder', 'operator', 'runtime'),
    event: string({ description: 'Type of the event that the machine got.' }),
    owner: described(
      nullable(
        object({
          node: nullable(string({ description: 'Name of the node; null for steps of earlier releases.' })),
          epoch: integer({ description: 'Raised with every process that runs the actor.' }),
          since: described(nullable(timestamp()), 'When the process took it; null for steps of earlier releases.'),
          after_crash: described(
            nullable(boolean()),
            'Whether the process before ended without giving the actor back; null for the first owner and steps of earlier releases.',
          ),
        }),
      ),
      'The process that runs the actor from this step on: of the first step, and of each by which another process took it over.',
    ),
    from: nullable(
      string({ description: 'Innermost state before; null for the first step and where it did not change.' }),
    ),
    to: nullable(string({ description: 'Innermost state after; null where it did not change.' })),
    context: described(
      nullable(json()),
      "Fields of the machine's context that the step set: all of them for the first step, null when it changed none. Long texts and lists stand as `$length` and `$items`. Secrets are masked.",
    ),
    events: array(object({ sequence: integer(), event_type: string() })),
    effects: described(
      array(object({ id: string(), name: string(), policy: string(), params: json() })),
      'Effects that the step began. Secrets in `params` are masked.',
    ),
    messages: array(object({ id: string(), to: string(), event: string() })),
    reminders: described(array(object({ name: string(), due: timestamp() })), 'Reminders that are set after the step.'),
    in_flight: described(array(object({ id: string(), name: string() })), 'Effects without a result after the step.'),
  },
  { title: 'ActorStep', description: 'One commit of an actor.' },
)

/** What needs a person. */
const need = object(
  {
    kind: described(
      oneOf('approval', 'hand_over', 'stuck', 'slow', 'failed', 'webhook'),
      '`approval`: an action waits for a person; `hand_over`: a browser job waits for a person who uses its page; `stuck`: work goes on no further by itself; `slow`: an effect has been in progress for longer than 99 of 100 others in that state, or for 30 seconds where that is not known; `failed`: what failed in the last 24 hours, one row an error code and machine; `webhook`: deliveries to a webhook fail.',
    ),
    id: string({ description: 'Id of the actor, or of the webhook. Of failures the newest.' }),
    machine: nullable(string()),
    subject: string({ description: 'Tool, error code or name of the webhook; the id of what has no name.' }),
    cause: string({ description: 'Cause in one sentence.' }),
    count: integer({ description: 'Number of failures; 1 otherwise.' }),
    tenant_id: nullable(string()),
    risk_level: nullable(string()),
    arguments: described(json(), 'Arguments of the tool call that waits for an approval, secrets masked.'),
    since: timestamp(),
    expires_at: nullable(timestamp()),
  },
  { title: 'Need', description: 'Something that needs a person.' },
)

/** One state of a machine with those in it. */
const fleetState = object(
  {
    state: string(),
    final: boolean(),
    actors: integer({ description: 'Actors in the state. Exact up to 1,000; a larger number may be 5 seconds old.' }),
    p50_ms: nullable(
      integer({
        description:
          'Median time since the last step of the newest 100 actors in it; for a final state, of their lives.',
      }),
    ),
    p95_ms: nullable(integer({ description: '95th percentile of the same.' })),
  },
  { title: 'FleetState', description: 'A state of a machine, with the actors in it.' },
)

/** Steps that failed on one edge of a chart. */
const failingEdge = object(
  {
    from: string({ description: 'Innermost state before the step, as a dotted path.' }),
    to: string({ description: 'Innermost state after it; the same where the step went back.' }),
    count: integer(),
  },
  { title: 'FailingEdge', description: 'Steps between two states that failed in the last 24 hours.' },
)

/** Something that a text leads to. */
const finding = object(
  {
    kind: oneOf('actor', 'tenant', 'user', 'agent', 'error', 'request'),
    id: string(),
    tenant_id: described(nullable(string()), 'Tenant of a user.'),
    machine: nullable(string()),
    state: nullable(string()),
    label: nullable(string()),
    updated_at: nullable(timestamp()),
  },
  { title: 'Finding', description: 'Something that was found.' },
)

/** What the actors of a project do, and how they came there: for the console. */
export const observation = defineOperations('observation', {
  actors: {
    summary: 'List the actors of a project',
    description:
      'Newest first, of one machine, or by the error of their failures in the last 7 days. With several filters, a page may be shorter than `limit` although there are more.',
    method: 'GET',
    path: `${project}/actors`,
    access,
    query: {
      ...cursorQuery,
      machine: optional(
        string({
          minLength: 1,
          maxLength: 64,
          description: 'Name of the machine. Default: `session`, or any machine with `error`.',
        }),
      ),
      state: optional(string({ minLength: 1, maxLength: 128 })),
      activity: optional(activity),
      tenant_id: optional(string({ minLength: 1, maxLength: 128 })),
      agent_id: optional(string({ minLength: 1, maxLength: 128 })),
      error: optional(string({ minLength: 1, maxLength: 128, description: 'Code of a failure.' })),
      from: optional(described(timeOrDay(), 'First time of creation, inclusive: a time or a day.')),
      to: optional(described(timeOrDay(), 'Last time of creation, exclusive: a time or a day.')),
    },
    answer: answersJson(cursorPage(listedActor)),
  },
  steps: {
    summary: 'List the commits of an actor',
    description:
      'In the order of the history, after the number `after`. Commits of streams that were merged later are not included.',
    method: 'GET',
    path: `${project}/actors/{actor_id}/steps`,
    access,
    query: { after: defaulted(integer({ min: 0 }), 0), limit: defaulted(integer({ min: 1, max: 200 }), 100) },
    answer: answersJson(object({ data: array(step), last_seq: integer() })),
  },
  attention: {
    summary: 'List what needs a person',
    description:
      'Approvals that expire first, then stuck and slow work, failures of the last 24 hours and failing webhooks.',
    method: 'GET',
    path: `${project}/attention`,
    access,
    answer: answersJson(object({ data: array(need) })),
  },
  fleet: {
    summary: 'Count the actors of a project by machine and state',
    description: 'Every machine that has list rows, with each state in which its actors rest.',
    method: 'GET',
    path: `${project}/fleet`,
    access,
    answer: answersJson(
      object({
        data: array(
          object(
            {
              ...{ machine: string(), version: integer(), failures_24h: integer() },
              failing_edges: array(failingEdge),
              states: array(fleetState),
            },
            { title: 'FleetMachine', description: 'A machine, with its actors by state.' },
          ),
        ),
      }),
    ),
  },
  find: {
    summary: 'Find an actor, a tenant, a user, an agent, a request or an error',
    description:
      "Takes an id or the beginning of one, a tenant's or user's external id, a request id, or an error code. At most 20 answers.",
    method: 'GET',
    path: `${project}/find`,
    access,
    query: { q: string({ minLength: 1, maxLength: 128, description: 'What to find.' }) },
    answer: answersJson(object({ data: array(finding) })),
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly observation: typeof observation
  }
}
