import type { AnyMachineSnapshot } from 'xstate'
import type { MachineDefinition } from '#machines/definition.ts'
import { refusalOf } from '#machines/refusal.ts'
import { leafPath } from '#machines/state-value.ts'
import {
  type AuditLine,
  type Emission,
  type Message,
  type Notice,
  type Refusal,
  turnText,
} from '#machines/vocabulary.ts'
import type {
  Commit,
  EffectPolicy,
  EffectRecord,
  InFlight,
  Json,
  JsonObject,
  LogEvent,
  MessageRecord,
  Reminder,
  StoredEvent,
} from '#storage/ports.ts'
import { type ListedAction, paramsOf } from '../schema.ts'
import { auditSink, webhookSink } from '../sinks.ts'
import type { ActorState, TurnText } from './actor-state.ts'
import { contextChange } from './context-change.ts'
import { pureInitial, pureTransition, type Transition } from './pure-transition.ts'

/** Outcome of one event, before anything is written. */
export type Step =
  /** `cause`: what the machine threw at the event. */
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly cause?: unknown }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'next'; readonly draft: Draft }

/** The state after a step, and everything that the step declares. */
export interface Draft extends ActorState {
  /** `Commit.moved`; absent when the step left the state as it was. */
  readonly moved?: NonNullable<Commit['moved']>
  /** `Commit.changed`. */
  readonly changed?: JsonObject
  readonly events: readonly LogEvent[]
  readonly effects: readonly EffectRecord[]
  readonly messages: readonly MessageRecord[]
  /** Ids of effects that the step aborted. */
  readonly aborted: readonly string[]
}

/** Input of a step: the event, the time, and the effect of which the event is a result or part. */
export interface StepInput {
  readonly actor: string
  readonly event: StoredEvent
  /** ms since the epoch. */
  readonly at: number
  /** Id of the effect whose result this event is: the effect is no longer in flight afterwards. */
  readonly done?: string
  /** Id of the effect of whose stream this event is a part: its progress is incremented. */
  readonly part?: string
  /** Name of the reminder whose event this is: it is over afterwards, also if the machine does not accept the event. */
  readonly reminder?: string
}

/** An action that is not in the machine's vocabulary: a mistake in a machine, found before anything is committed. */
export class UnknownAction extends Error {
  override readonly name = 'UnknownAction'
}

/** Computes the first step of an actor. */
export const firstStep = (definition: MachineDefinition, input: JsonObject, where: StepInput): Step => {
  const [snapshot, actions] = pureInitial(definition.machine, input)
  return draftOf(definition, emptyState(snapshot), { snapshot, actions, where })
}

/** Computes the next step. Pure; nothing is committed when it throws. */
export const nextStep = (definition: MachineDefinition, state: ActorState, where: StepInput): Step => {
  const [snapshot, actions] = isOver(state)
    ? untouched(state)
    : pureTransition(definition.machine, state.snapshot, where.event)
  const isOwed = where.done !== undefined || where.reminder !== undefined
  const taken = snapshot !== state.snapshot || actions.length > 0 || isOwed
  if (!taken) return refusedOrIgnored(state, where)
  return draftOf(definition, state, { snapshot, actions, where })
}

/** A machine in a final state accepts nothing; XState's pure transition would still let its root react. */
const isOver = ({ snapshot }: ActorState): boolean => snapshot.status === 'done'

const untouched = ({ snapshot }: ActorState): Transition => [snapshot, []]

const refusedOrIgnored = ({ snapshot }: ActorState, { event }: StepInput): Step => {
  const refusal = refusalOf(snapshot, event)
  return refusal === null ? { kind: 'ignored' } : { kind: 'refused', refusal }
}

/** A step that only marks an at-most-once effect as started, so that it is not run twice after a crash. */
export const startedStep = (state: ActorState, effectId: string): Draft => {
  const flight = state.inFlight[effectId]
  const inFlight = flight ? withEntry(state.inFlight, effectId, { ...flight, started: true }) : state.inFlight
  return { ...state, seq: state.seq + 1, inFlight, events: [], effects: [], messages: [], aborted: [] }
}

const emptyState = (snapshot: AnyMachineSnapshot): ActorState => ({
  seq: 0,
  lastSequence: 0,
  skip: 0,
  snapshot,
  reminders: {},
  inFlight: {},
  text: { from: 0, value: '' },
})

const draftOf = (
  definition: MachineDefinition,
  state: ActorState,
  {
    snapshot,
    actions,
    where,
  }: { readonly snapshot: AnyMachineSnapshot; readonly actions: readonly ListedAction[]; readonly where: StepInput },
): Step => {
  const gathered = gather(definition, state, { actions, where })
  const log = journal(definition, state, gathered.emissions)
  noteText(gathered, definition, log.text)
  return {
    kind: 'next',
    draft: {
      seq: state.seq + 1,
      lastSequence: log.events.at(-1)?.sequence ?? state.lastSequence,
      skip: log.events.length > 0 ? 0 : state.skip,
      snapshot,
      reminders: gathered.reminders,
      inFlight: gathered.inFlight,
      text: log.text,
      events: log.events,
      effects: gathered.effects,
      messages: gathered.messages,
      aborted: gathered.aborted,
      ...movedBy(state, snapshot),
      ...changedBy(state, snapshot),
    },
  }
}

/** Effects that stream text note how long the text is without theirs: begun again, they leave that much. */
const noteText = (
  { effects, inFlight }: Gathered,
  { text: fold }: MachineDefinition,
  { value: { length } }: TurnText,
): void => {
  if (fold === undefined || length === 0) return
  for (const { id, policy } of effects) {
    const flight = inFlight[id]
    if (policy === 'stream' && flight !== undefined) inFlight[id] = { ...flight, text: length }
  }
}

const movedBy = (before: ActorState, snapshot: AnyMachineSnapshot): Pick<Draft, 'moved'> => {
  if (before.seq > 0 && before.snapshot.value === snapshot.value) return {}
  const [from, to] = [before.seq === 0 ? null : leafPath(before.snapshot.value), leafPath(snapshot.value)]
  return from === to ? {} : { moved: [from, to] }
}

const changedBy = (before: ActorState, snapshot: AnyMachineSnapshot): Pick<Draft, 'changed'> => {
  if (before.seq > 0 && before.snapshot.context === snapshot.context) return {}
  const changed = contextChange(before.seq === 0 ? null : before.snapshot.context, snapshot.context)
  return changed === undefined ? {} : { changed }
}

interface Gathered {
  readonly emissions: Emission[]
  readonly effects: EffectRecord[]
  readonly messages: MessageRecord[]
  readonly aborted: string[]
  reminders: Record<string, Reminder>
  /** Number of delayed events without an id. */
  unnamed: number
  inFlight: Record<string, InFlight>
}

const gather = (
  definition: MachineDefinition,
  state: ActorState,
  { actions, where }: { readonly actions: readonly ListedAction[]; readonly where: StepInput },
): Gathered => {
  const gathered: Gathered = {
    emissions: [],
    effects: [],
    messages: [],
    aborted: [],
    reminders: where.reminder === undefined ? state.reminders : without(state.reminders, [where.reminder]),
    unnamed: 0,
    inFlight: afterCause(state.inFlight, where),
  }
  const place = {
    definition,
    actor: where.actor,
    prefix: `${where.actor}:${state.seq + 1}`,
    seq: state.seq + 1,
    at: where.at,
  }
  for (const action of actions) take(gathered, action, place)
  return gathered
}

const afterCause = (inFlight: Readonly<Record<string, InFlight>>, where: StepInput): Record<string, InFlight> => {
  if (where.done !== undefined) return without(inFlight, [where.done])
  const flight = where.part === undefined ? undefined : inFlight[where.part]
  if (where.part === undefined || flight === undefined) return inFlight
  return withEntry(inFlight, where.part, progressed(flight))
}

/**
 * An effect after a part of its result, which its runs before had not reached: they ended their process for another
 * reason, so their failures are forgotten. A part that a later run repeats makes no commit.
 */
const progressed = ({ alone: _alone, failures: _failures, ...flight }: InFlight): InFlight => ({
  ...flight,
  progress: (flight.progress ?? 0) + 1,
})

/**
 * Creates an empty map for ids that never recur. V8 makes a hidden class for each property name of an ordinary object,
 * whereas an object without a prototype is a hash table from the start (specs/decisions/0228-hot-paths.md).
 */
const tableOf = <T>(): Record<string, T> => Object.create(null)

const withEntry = <T>(entries: Readonly<Record<string, T>>, name: string, entry: T): Record<string, T> => {
  const more = without(entries, [])
  more[name] = entry
  return more
}

const without = <T>(entries: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> => {
  const left = tableOf<T>()
  for (const name in entries) {
    const entry = entries[name]
    if (entry !== undefined && !names.includes(name)) left[name] = entry
  }
  return left
}

interface Place {
  readonly definition: MachineDefinition
  readonly actor: string
  readonly prefix: string
  readonly seq: number
  readonly at: number
}

const take = (gathered: Gathered, action: ListedAction, place: Place): void => {
  switch (action.type) {
    case 'journal':
      gathered.emissions.push(...paramsOf.journal(action).events)
      return
    case 'send':
      for (const message of paramsOf.send(action).messages) takeMessage(gathered, message, place)
      return
    case 'notify':
      takeMessage(gathered, noticeOf(paramsOf.notify(action), place.at), place)
      return
    case 'audit':
      for (const line of paramsOf.audit(action).lines) takeMessage(gathered, auditMessage(line, place), place)
      return
    case 'abort':
      abort(gathered, paramsOf.abort(action).effects)
      return
    case 'xstate.raise':
      takeReminder(gathered, action, place)
      return
    case 'xstate.cancel':
      gathered.reminders = without(gathered.reminders, [paramsOf.cancel(action).sendId])
      return
    default:
      takeEffect(gathered, action, place)
  }
}

/** `at` is the time of the step, not of the webhook's delivery. */
const noticeOf = ({ event_type, data }: Notice, at: number): Message => ({
  to: webhookSink,
  event: { type: 'notify', at, event_type, data },
})

const auditMessage = ({ action, by, resource, changes = [], reason }: AuditLine, { actor, at }: Place): Message => ({
  to: auditSink,
  event: {
    type: 'audit',
    at,
    action,
    by,
    resource: { type: resource, id: actor },
    changes,
    ...(reason !== undefined && { reason }),
  },
})

const takeMessage = (gathered: Gathered, message: Message, place: Place): void => {
  const id = `${place.prefix}:m${gathered.messages.length}`
  gathered.messages.push({ id, to: message.to, event: message.event })
}

/** XState lists `after` as a raise with a delay; a raise without one was already consumed by the transition. */
const takeReminder = (gathered: Gathered, action: ListedAction, place: Place): void => {
  const { delay, event, id = `raise:${place.seq}:${gathered.unnamed++}` } = paramsOf.raise(action)
  if (typeof delay !== 'number') return
  if (!Number.isFinite(delay)) throw new TypeError(`${place.definition.name} delays ${event.type} by ${delay} ms`)
  gathered.reminders = { ...gathered.reminders, [id]: { due: place.at + delay, event, n: place.seq } }
}

const abort = (gathered: Gathered, names: readonly string[]): void => {
  const ended = Object.keys(gathered.inFlight).filter((id) => names.includes(gathered.inFlight[id]?.name ?? ''))
  if (ended.length === 0) return
  gathered.aborted.push(...ended)
  gathered.inFlight = without(gathered.inFlight, ended)
}

const takeEffect = (gathered: Gathered, action: ListedAction, place: Place): void => {
  const params = paramsOf.effect(action)
  const policy = policyOf(place.definition, action.type, params)
  const id = `${place.prefix}:${gathered.effects.length}`
  gathered.effects.push({ id, name: action.type, params, policy })
  gathered.inFlight = withEntry(gathered.inFlight, id, { name: action.type, params, policy })
}

const policyOf = (definition: MachineDefinition, name: string, params: JsonObject): EffectPolicy => {
  const declared = definition.effects[name]
  if (declared === undefined) throw new UnknownAction(`${definition.name} has no effect ${name}`)
  if (declared !== 'from_params') return declared
  return params.policy === 'idempotent' ? 'idempotent' : 'at_most_once'
}

const journal = (
  definition: MachineDefinition,
  state: ActorState,
  emissions: readonly Emission[],
): { events: readonly LogEvent[]; text: TurnText } => {
  let sequence = state.lastSequence + state.skip
  let text = state.text
  const events: LogEvent[] = []
  for (const emission of emissions) {
    sequence += emission.cuts?.length ?? 1
    const event: LogEvent = { sequence, ...emission, payload: filled(emission.payload, text.value) }
    text = folded(definition, text, event)
    events.push(event)
  }
  return { events, text }
}

const folded = (definition: MachineDefinition, text: TurnText, event: LogEvent): TurnText => {
  if (definition.text === undefined) return text
  if (event.event_type === definition.text.startsAt) return { from: event.sequence - 1, value: '' }
  if (event.event_type === definition.text.restartsAt) return { from: text.from, value: '' }
  const added = definition.text.adds(event)
  return added === undefined ? text : { from: text.from, value: text.value + added }
}

/** Replaces `turnText` in a payload, two levels deep, which is as deep as payloads contain it. */
const filled = (payload: JsonObject, text: string): JsonObject => {
  let result: { [key: string]: Json | undefined } | undefined
  for (const key in payload) {
    const value = payload[key]
    const replaced = value === turnText ? text : filledInside(value, text)
    if (replaced === value) continue
    result ??= { ...payload }
    result[key] = replaced
  }
  return result ?? payload
}

const filledInside = (value: Json | undefined, text: string): Json | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  for (const inner of Object.values(value)) {
    if (inner !== turnText) continue
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, each === turnText ? text : each]))
  }
  return value
}
