import type { ActorStep as Answer } from './answers.d.ts'
import type { Move } from './chart-animation.ts'
import { eventText, type Layout, wayOf } from './chart-model.ts'

type Owner = NonNullable<Answer['owner']>

/** `owner`: the process that runs the actor from this step on; absent in bundles of earlier releases */
export type Step = Omit<Answer, 'caused_by' | 'owner'> & { readonly caused_by: string; readonly owner?: Owner | null }

/** course of an effect; times in ms since the epoch */
export interface EffectSpan {
  readonly id: string
  readonly name: string
  readonly policy: string
  readonly params: unknown
  readonly startedAt: number
  firstPartAt: number | null
  /** null while it is in progress */
  endedAt: number | null
  /** event of its result; `ended` when a step ended it */
  outcome: string | null
  attempts: number
}

type Sent = Readonly<{ at: string; from: string; to: string; event: string; seq: number }>

/** The loaded commits of one actor, in order. */
export class StepBook {
  steps: Step[] = []

  /** Number of the newest commit. */
  get last() {
    return this.steps.at(-1)?.seq ?? 0
  }

  /** Adds commits that follow the loaded ones. @returns those that were not loaded yet */
  add(more: readonly Step[]): readonly Step[] {
    const fresh = more.filter(({ seq }) => seq > this.last)
    this.steps.push(...fresh)
    return fresh
  }

  /** The innermost state after a commit; null when the loaded commits do not show it. */
  stateAt(index: number) {
    const before = this.steps.slice(0, index + 1).findLast(({ to }) => to !== null)
    if (before !== undefined) return before.to
    return this.steps.slice(index + 1).find(({ to }) => to !== null)?.from ?? null
  }

  /**
   * The active states after each commit that changed them, up to this one; the first entry is the state before the
   * first of them.
   */
  statesTo(index: number) {
    const moves = this.steps.slice(0, index + 1).filter(({ to }) => to !== null)
    const first = moves[0]?.from ?? null
    return [...(first === null ? [] : [first]), ...moves.flatMap(({ to }) => (to === null ? [] : [to]))].map(activeAt)
  }

  /** The context after a commit, as far as the loaded commits show, and the fields that this commit changed. */
  contextAt(index: number) {
    const changes = this.steps.slice(0, index + 1).map(({ context }) => context ?? {})
    return { context: Object.assign({}, ...changes), changed: Object.keys(changes.at(-1) ?? {}) }
  }

  /** Sequence of the newest log event as of a commit. */
  sequenceAt(index: number) {
    return (
      this.steps
        .slice(0, index + 1)
        .findLast(({ events }) => events.length > 0)
        ?.events.at(-1)?.sequence ?? 0
    )
  }
}

/**
 * Dotted paths of every active state, outer ones first, from the innermost one.
 *
 * @param leaf several regions are joined by a space
 */
export const activeAt = (leaf: string) =>
  leaf.split(' ').flatMap((path) => {
    const parts = path.split('.')
    return parts.map((_, index) => parts.slice(0, index + 1).join('.'))
  })

/** @param cause `<effect>#done`, `<effect>#3` … */
const effectOf = (cause: string) => cause.split('#')[0] ?? ''

/** The outcome of each effect that the commits started. */
export const effectSpans = (steps: readonly Step[]): readonly EffectSpan[] => {
  const spans: Map<string, EffectSpan> = new Map()
  for (const { at, cause, caused_by, event, effects, in_flight } of steps) {
    const ms = Date.parse(at)
    const of = spans.get(effectOf(cause))
    if (of !== undefined && caused_by === 'part') of.firstPartAt ??= ms
    if (of !== undefined && event === '$threw') of.attempts++
    if (of !== undefined && caused_by === 'effect') {
      of.endedAt = ms
      of.outcome = event
    }
    for (const span of spans.values()) {
      if (span.endedAt !== null || in_flight.some(({ id }) => id === span.id)) continue
      span.endedAt = ms
      span.outcome = 'ended'
    }
    for (const { id, name, policy, params } of effects)
      spans.set(id, {
        ...{ id, name, policy, params, startedAt: ms, firstPartAt: null, endedAt: null, outcome: null, attempts: 1 },
      })
  }
  return [...spans.values()]
}

/** Periods in which an actor was in a state `queued`; in ms since the epoch. */
export const queueSpans = (steps: readonly Step[]): readonly { startedAt: number; endedAt: number | null }[] => {
  const spans: { startedAt: number; endedAt: number | null }[] = []
  for (const { at, to } of steps) {
    const [span, ms] = [spans.at(-1), Date.parse(at)]
    const waits = span !== undefined && span.endedAt === null
    if (to === null || isQueued(to) === waits) continue
    if (waits) span.endedAt = ms
    else spans.push({ startedAt: ms, endedAt: null })
  }
  return spans
}

const isQueued = (state: string) => state.split(' ').some((region) => region.split('.').at(-1) === 'queued')

/** Messages of an actor to others, and of others to it, in the order of its commits. */
export const messagesOf = (actor: string, steps: readonly Step[]): readonly Sent[] =>
  steps.flatMap(({ seq, at, cause, caused_by, event, messages }) => [
    ...(caused_by === 'message' ? [{ seq, at, from: cause.replace(/:\d+:m\d+$/, ''), to: actor, event }] : []),
    ...messages.map((message) => ({ seq, at, from: actor, to: message.to, event: message.event })),
  ])

/** Actors that this one has started, until it was notified of their end; times in ms since the epoch. */
export const childrenOf = (
  steps: readonly Step[],
): readonly { id: string; startedAt: number; endedAt: number | null; outcome: string | null }[] =>
  steps.flatMap(({ at, messages }, index) =>
    messages
      .filter(({ event }) => event === 'create')
      .map(({ to }) => {
        const end = steps
          .slice(index + 1)
          .find(({ caused_by, cause }) => caused_by === 'message' && cause.startsWith(`${to}:`))
        return {
          ...{ id: to, startedAt: Date.parse(at) },
          ...{ endedAt: end ? Date.parse(end.at) : null, outcome: end?.event ?? null },
        }
      }),
  )

/** The processes that have run an actor, newest first; `until` is null for the current one. */
export const ownersOf = (steps: readonly Step[]): readonly (Owner & { seq: number; until: string | null })[] => {
  const owners = steps.flatMap(({ seq, owner }) => (owner ? [{ ...owner, seq }] : []))
  return owners.map((owner, index) => ({ ...owner, until: owners[index + 1]?.since ?? null })).toReversed()
}

/** Describes how a process took over an actor. */
export const takeoverText = ({ after_crash }: Owner) =>
  after_crash === null ? 'the first' : after_crash ? 'after a crash' : 'handed over'

/** Events that a machine accepts in its active states, with their guards, from its chart; timers are left out. */
export const taken = ({ edges }: Layout, active: readonly string[]) => {
  const from = edges.filter((edge) => edge.from === '@any' || active.includes(edge.from))
  const details = from.flatMap((edge) => edge.details.map((detail) => ({ detail, to: edge.to })))
  const seen = new Map(details.map((each) => [`${each.detail} ${each.to}`, each]))
  return [...seen.values()].filter(({ detail }) => detail !== 'otherwise')
}

/** The event of a step with the guards that decided, as its chart names them: `model_answered [someWait]`. */
export const nameOf = (layout: Layout, { from, to, event }: Step) => {
  if (from === null || to === null) return eventText(event)
  const way = wayOf(layout, { active: activeAt(to), before: activeAt(from), event })
  return way.length === 0 ? eventText(event) : way.map(({ text }) => text).join(' ')
}

/** The changes of state among steps. */
export const movesOf = (steps: readonly Step[]): readonly Move[] =>
  steps.flatMap(({ at, from, to, event }) => {
    if (to === null) return []
    const before = from === null ? [] : activeAt(from)
    return [{ active: activeAt(to), before, event: eventText(event), at: Date.parse(at) }]
  })
