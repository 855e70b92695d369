import { dashboardOnly } from '../access.ts'
import { answersEvents, isJsonResponse, logPageBytes } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { numberedPage, pageQuery, startingAfter } from '../dsl/lists.ts'
import {
  array,
  boolean,
  defaulted,
  described,
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
import { followedEvents } from '../events/session-messages.ts'
import { session, sessionStatus } from './sessions.ts'

const project = '/api/projects/{project_id}'
const one = `${project}/actors/{actor_id}` as const

/** An actor in a relation to another one. */
const relatedActor = object(
  {
    id: string(),
    machine: string(),
    state: string({ description: 'Innermost active state, as a dotted path.' }),
    label: nullable(string({ description: 'Display name, such as the tool of an action.' })),
  },
  { title: 'RelatedActor', description: 'An actor that is related to another one.' },
)

/** An actor of any machine, with its state and its open work, for operators. */
const actor = object(
  {
    id: string(),
    machine: string(),
    version: integer({ description: 'Version of the machine.' }),
    state: described(json(), 'Current state of the machine; null while the actor is parked.'),
    active: described(array(string()), 'Dotted paths of the active states, outermost first: `active`, `active.idle`.'),
    seq: integer({ description: 'Number of the latest commit.' }),
    last_sequence: integer({ description: 'Sequence number of the latest event in the log.' }),
    busy: described(boolean(), 'Whether a step is being computed.'),
    node: nullable(string({ description: 'Name of the node that runs the actor; null if no node does.' })),
    parked: nullable(string({ description: 'Reason for which the actor is parked; null while it runs.' })),
    in_flight: array(
      object({
        id: string(),
        name: string(),
        policy: oneOf('idempotent', 'at_most_once', 'stream'),
        started: boolean(),
        about: described(nullable(string()), 'Model that the effect calls, or tool with its URL.'),
        since: nullable(timestamp()),
        deadline: described(nullable(timestamp()), 'Time at which a tool call times out.'),
      }),
    ),
    reminders: array(object({ name: string(), due: timestamp() })),
    related: described(array(relatedActor), 'Open actions of a session, or the session of an action.'),
    created_at: timestamp(),
    updated_at: timestamp(),
  },
  { title: 'Actor', description: 'An actor with its state and its pending work.' },
)

/** One row of an actor's log. */
const actorEvent = object(
  {
    sequence: integer(),
    event_type: string(),
    turn_number: nullable(integer()),
    payload: jsonObject(),
    created_at: timestamp(),
  },
  { title: 'ActorEvent', description: "An event of an actor's log." },
)

/** Sessions of a project, for the console. */
export const projectSessions = defineOperations('project_sessions', {
  list: {
    summary: 'List the sessions of a project',
    description: 'Newest first. Returns the sessions of all tenants and users of the project.',
    method: 'GET',
    path: `${project}/sessions`,
    access: dashboardOnly('member'),
    query: { status: optional(sessionStatus), starting_after: startingAfter, ...pageQuery },
    answer: isJsonResponse(numberedPage(session)),
  },
})

/** Actors of a project, of any machine, for the console. */
export const projectActors = defineOperations('project_actors', {
  get: {
    summary: 'Retrieve an actor',
    description: 'The current state of the actor, its effects in flight and its reminders.',
    method: 'GET',
    path: one,
    access: dashboardOnly('member'),
    answer: isJsonResponse(actor),
  },
  events: {
    summary: "List the events of an actor's log",
    description: 'In log order, starting after the sequence number `after`.',
    method: 'GET',
    path: `${one}/events`,
    access: dashboardOnly('member'),
    query: {
      after: defaulted(integer({ min: 0 }), 0),
      limit: defaulted(integer({ min: 1, max: 200 }), 100),
    },
    answer: isJsonResponse(object({ data: array(actorEvent), last_sequence: integer() }), { maxBytes: logPageBytes }),
  },
  stream: {
    summary: "Stream an actor's log",
    description: 'Sends the events after `Last-Event-ID`, then new events as they are committed.',
    method: 'GET',
    path: `${one}/stream`,
    access: dashboardOnly('member'),
    answer: answersEvents(followedEvents, { title: 'SessionStreamEvent', resumable: true }),
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly projectSessions: typeof projectSessions
    readonly projectActors: typeof projectActors
  }
}
