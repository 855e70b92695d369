import { dashboardOnly } from '../access.ts'
import { answersEvents, answersJson } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { sessionEvents } from '../events.ts'
import { numberedPage, pageQuery, startingAfter } from '../lists.ts'
import {
  array,
  boolean,
  defaulted,
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
import { session, sessionStatus } from './sessions.ts'

const project = '/api/projects/{project_id}'
const one = `${project}/actors/{actor_id}` as const

/** Another actor that belongs to the one that is shown. */
const relatedActor = object(
  {
    id: string(),
    machine: string(),
    /** Its innermost active state, dotted. */
    state: string(),
    /** A word for people, such as the tool of an action. */
    label: nullable(string()),
  },
  { title: 'RelatedActor' },
)

/** One actor of any machine as its operators see it: where it stands and what it waits for. */
const actor = object(
  {
    id: string(),
    machine: string(),
    version: integer(),
    /** XState's state value; null while the actor is parked, since then its state is not known. */
    state: json(),
    /** Dotted paths of every active state, outer ones first: `active`, `active.idle`. */
    active: array(string()),
    /** Number of its newest commit. */
    seq: integer(),
    last_sequence: integer(),
    busy: boolean(),
    /** Name of the node that runs it; null while none does. */
    node: nullable(string()),
    /** Why it takes nothing until an operator looks; null when it runs. */
    parked: nullable(string()),
    in_flight: array(
      object({
        id: string(),
        name: string(),
        policy: oneOf('idempotent', 'at_most_once', 'stream'),
        started: boolean(),
      }),
    ),
    reminders: array(object({ name: string(), due: timestamp() })),
    /** Open actions of a session; the session of an action. */
    related: array(relatedActor),
    created_at: timestamp(),
    updated_at: timestamp(),
  },
  { title: 'Actor' },
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
  { title: 'ActorEvent' },
)

/** Sessions of a project, for the console. */
export const projectSessions = defineOperations('project_sessions', {
  list: {
    summary: 'List the sessions of a project, newest first',
    method: 'GET',
    path: `${project}/sessions`,
    access: dashboardOnly('member'),
    query: { status: optional(sessionStatus), starting_after: startingAfter, ...pageQuery },
    answer: answersJson(numberedPage(session)),
  },
})

/** Actors of a project, whatever their machine, for the console. */
export const projectActors = defineOperations('project_actors', {
  get: {
    summary: 'See where an actor stands and what it waits for',
    method: 'GET',
    path: one,
    access: dashboardOnly('member'),
    answer: answersJson(actor),
  },
  events: {
    summary: "Read an actor's log after a sequence number",
    method: 'GET',
    path: `${one}/events`,
    access: dashboardOnly('member'),
    query: {
      after: defaulted(integer({ min: 0 }), 0),
      limit: defaulted(integer({ min: 1, max: 200 }), 100),
    },
    answer: answersJson(object({ data: array(actorEvent), last_sequence: integer() })),
  },
  stream: {
    summary: "Follow an actor's log: what comes after Last-Event-ID, then live",
    method: 'GET',
    path: `${one}/stream`,
    access: dashboardOnly('member'),
    answer: answersEvents(sessionEvents, { resumable: true }),
  },
})
