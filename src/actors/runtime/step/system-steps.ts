import type { MachineDefinition } from '#machines/definition.ts'
import type { InFlight, Json, JsonObject, MessageRecord, StoredEvent } from '#storage/ports.ts'
import { isEvent, isObject } from '../schema.ts'
import { auditSink } from '../sinks.ts'
import type { StuckKind } from '../stuck/stuck.ts'
import { type ActorState, maxStarts, type Parked } from './actor-state.ts'
import { type Draft, nextStep, type Step, type StepInput } from './step.ts'

/**
 * Events of the runtime itself, whose types begin with `$`. Callers cannot send them, since use-cases create the events
 * of machines.
 *
 * - `$threw {effect, reason}`: the effect threw. The failure is counted, and parks the actor at `maxStarts`.
 * - `$alone {effect}`, `$survived {effect}`: an effect that may have crashed the process was started separately from the
 *   others; the process has survived it.
 * - `$over`: the reminder that is delivered with it was taken before, and is removed.
 * - `$parked {kind, effect, reason}`: the actor accepts nothing until an operator decides.
 * - `$retry`, `$skip`, `$discard {stuck: {kind, subject}, by}`: an operator's decision.
 */
export type OperatorVerb = 'retry' | 'skip' | 'discard'

/** The event that removes a reminder without its own event. */
export const reminderOver: StoredEvent = { type: '$over' }

const operatorTypes: readonly string[] = ['$retry', '$skip', '$discard']

/** Whether the event is an operator's decision, which a parked actor accepts too. */
export const isOperatorEvent = ({ type }: StoredEvent): boolean => operatorTypes.includes(type)

/** An operator's decision on stuck work. */
export interface Decision {
  readonly verb: OperatorVerb
  readonly kind: StuckKind
  readonly subject: string
}

/** Reads the decision from an event; undefined for every other event. */
export const decisionOf = (event: StoredEvent): Decision | undefined => {
  const { stuck } = event
  if (!isOperatorEvent(event) || !isObject(stuck)) return undefined
  const verb = verbs[event.type]
  const { kind, subject } = stuck
  if (verb === undefined || !isStuckKind(kind) || typeof subject !== 'string') return undefined
  return { verb, kind, subject }
}

const verbs: Readonly<Record<string, OperatorVerb>> = { $retry: 'retry', $skip: 'skip', $discard: 'discard' }

const kindsOfStuck: Readonly<Record<StuckKind, true>> = {
  parked_actor: true,
  poison_message: true,
  poison_result: true,
  refused_row: true,
  failing_reminder: true,
  overdue_effect: true,
  unfinished_commit: true,
}

const isStuckKind = (value: Json | undefined): value is StuckKind => typeof value === 'string' && value in kindsOfStuck

/**
 * Cause of the commit that discards stuck work. Looking it up shows, also after a crash, that the work was given up.
 */
export const discardCause = (kind: StuckKind, subject: string): string => `$discard:${kind}:${subject}`

/** Computes the step of a `$` event; undefined for an event of the machine, or for an effect that is not in flight. */
export const systemStep = (definition: MachineDefinition, state: ActorState, where: StepInput): Step | undefined => {
  const { event } = where
  const decision = decisionOf(event)
  if (decision !== undefined) return decided(definition, state, { where, decision })
  const { effect } = event
  if (event.type === reminderOver.type && where.reminder !== undefined)
    return next(without(state, 'reminders', where.reminder))
  const flight = typeof effect === 'string' ? state.inFlight[effect] : undefined
  if (typeof effect !== 'string' || flight === undefined) return undefined
  switch (event.type) {
    case '$threw':
      return next(afterThrow(state, { effect, flight, reason: textOf(event.reason) }))
    case '$alone':
      return next({ ...state, inFlight: { ...state.inFlight, [effect]: { ...flight, alone: true } } })
    case '$survived':
      return next({ ...state, inFlight: { ...state.inFlight, [effect]: calmed(flight) } })
    case '$parked':
      return next({ ...state, parked: { kind: 'poison_result', effect, reason: textOf(event.reason) } })
    default:
      return undefined
  }
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** The effect with its failure count reset. */
const calmed = ({ alone: _alone, failures: _failures, ...flight }: InFlight): InFlight => flight

const afterThrow = (
  state: ActorState,
  { effect, flight, reason }: { readonly effect: string; readonly flight: InFlight; readonly reason: string },
): ActorState => {
  const failures = (flight.failures ?? 0) + 1
  const inFlight = { ...state.inFlight, [effect]: { ...flight, failures } }
  if (failures < maxStarts) return { ...state, inFlight }
  return { ...state, inFlight, parked: { kind: 'parked_actor', effect, reason } }
}

const next = (state: ActorState, messages: readonly MessageRecord[] = []): Step => ({
  kind: 'next',
  draft: { ...state, seq: state.seq + 1, events: [], effects: [], messages, aborted: [] },
})

/** Whether the decision names what the actor is parked for. */
const isAbout = (parked: Parked | undefined, { kind, subject }: Decision): boolean =>
  parked?.kind === kind && parked.effect === subject

const decided = (
  definition: MachineDefinition,
  state: ActorState,
  { where, decision }: { readonly where: StepInput; readonly decision: Decision },
): Step | undefined => {
  const step = decisionStep(definition, state, { where, decision })
  return step?.kind === 'next' ? { kind: 'next', draft: audited(step.draft, where, decision) } : step
}

const decisionStep = (
  definition: MachineDefinition,
  { parked, ...running }: ActorState,
  { where, decision }: { readonly where: StepInput; readonly decision: Decision },
): Step | undefined => {
  const { verb, kind, subject } = decision
  const isParked = isAbout(parked, decision)
  const state: ActorState = isParked || parked === undefined ? running : { ...running, parked }
  const flight = state.inFlight[subject]
  const isEffect = kind === 'overdue_effect' || isParked
  if (isEffect && flight === undefined) return nothingStuck
  if (kind === 'failing_reminder' && state.reminders[subject] === undefined) return nothingStuck
  if (verb === 'retry') return next(flight === undefined ? state : withFlight(state, subject, calmed(flight)))
  if (verb === 'skip' && !isEffect && kind !== 'failing_reminder') return nothingToSkip
  if (verb === 'skip') return skipped(definition, state, { where, decision })
  if (isEffect) return next(without(state, 'inFlight', subject))
  if (kind === 'failing_reminder') return next(without(state, 'reminders', subject))
  return next(state)
}

const nothingStuck: Step = {
  kind: 'refused',
  refusal: { code: 'invalid_transition', message: 'This work is no longer stuck.' },
}

/**
 * Skipping replaces a result or reminder by an event, and here the machine awaits neither; accepting an event would let
 * an operator send one that no rule allows.
 */
const nothingToSkip: Step = {
  kind: 'refused',
  refusal: { code: 'invalid_transition', message: 'Only a result or a reminder can be skipped.' },
}

const withFlight = (state: ActorState, id: string, flight: InFlight): ActorState => ({
  ...state,
  inFlight: { ...state.inFlight, [id]: flight },
})

const without = (state: ActorState, field: 'inFlight' | 'reminders', name: string): ActorState => {
  const { [name]: _gone, ...left } = state[field]
  return { ...state, [field]: left }
}

/** The machine gets the operator's event instead of the result or reminder that it does not accept. */
const skipped = (
  definition: MachineDefinition,
  state: ActorState,
  {
    where: { event, ...where },
    decision: { kind, subject },
  }: { readonly where: StepInput; readonly decision: Decision },
): Step => {
  const given: Json | undefined = event.event
  if (given === undefined || given === null || !isEvent(given) || given.type.startsWith('$')) return noEvent
  const step =
    kind === 'failing_reminder'
      ? nextStep(definition, without(state, 'reminders', subject), { ...where, event: given })
      : nextStep(definition, state, { ...where, event: given, done: subject })
  // the actor may still be parked because of another effect
  if (step.kind !== 'next' || state.parked === undefined) return step
  return { ...step, draft: { ...step.draft, parked: state.parked } }
}

const noEvent: Step = {
  kind: 'refused',
  refusal: {
    code: 'missing_field',
    param: 'event',
    message: 'To skip it, send the event that the machine receives instead.',
  },
}

/** Adds the audit log entry that records who decided. */
const audited = (draft: Draft, { actor, at, event }: StepInput, { verb, kind }: Decision): Draft => {
  const by: JsonObject = isObject(event.by) ? event.by : { kind: 'system', id: null }
  const resource = { type: 'stuck_work', id: actor }
  const line = {
    type: 'audit',
    at,
    action: `stuck_work.${pastOf[verb]}`,
    by,
    resource,
    changes: [kind],
    ...reasonOf(event),
  }
  const message = { id: `${actor}:${draft.seq}:m${draft.messages.length}`, to: auditSink, event: line }
  return { ...draft, messages: [...draft.messages, message] }
}

const reasonOf = ({ reason }: StoredEvent): JsonObject => (typeof reason === 'string' ? { reason } : {})

const pastOf: Readonly<Record<OperatorVerb, string>> = { retry: 'retried', skip: 'skipped', discard: 'discarded' }
