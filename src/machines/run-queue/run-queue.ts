import { assign, setup } from 'xstate'
import { vocabulary } from '../declared.ts'
import { type At, assignsOf, type Message } from '../index.ts'

/** A queue's durable context. It does not list the waiting runs, which are rows (src/actors/runs/lanes.ts). */
export type RunQueueContext = {
  readonly queue_id: string
  /** Runs that hold a slot, by lane; at most as many as may be in progress in the project. */
  readonly holders: Readonly<Record<string, readonly string[]>>
  /** The lane that was served last; serving continues after it, round-robin. */
  readonly cursor: string | null
  /** Lanes that had all their slots in use when runs were last picked. */
  readonly capped: readonly string[]
  /** Whether something changed since the picking in progress began. */
  readonly stale: boolean
  /** When the holders were last checked, in ms since the epoch. */
  readonly checked_at: number
}

/** Input of a new queue. */
type RunQueueInput = { readonly queue_id: string }

/** A run with a slot, and its lane. */
export type Granted = { readonly run_id: string; readonly lane: string }

/** All events of a queue. */
type RunQueueEvent =
  /** A run waits in this lane, and its row is stored. */
  | { readonly type: 'wake'; readonly lane: string }
  | { readonly type: 'slot_returned'; readonly run_id: string; readonly lane: string }
  | {
      readonly type: 'runs_picked'
      readonly granted: readonly Granted[]
      /** Holders that have ended or are gone, but did not return their slot. */
      readonly gone: readonly Granted[]
      readonly cursor: string | null
      readonly capped: readonly string[]
      /** Whether the project has no slot left. */
      readonly full: boolean
      readonly checked_at: number
    }

const without = (holders: RunQueueContext['holders'], gone: readonly Granted[]): RunQueueContext['holders'] => {
  const left = { ...holders }
  for (const { run_id, lane } of gone) {
    const rest = (left[lane] ?? []).filter((each) => each !== run_id)
    if (rest.length > 0) left[lane] = rest
    else delete left[lane]
  }
  return left
}

const withAll = (holders: RunQueueContext['holders'], granted: readonly Granted[]): RunQueueContext['holders'] => {
  const all = { ...holders }
  for (const { run_id, lane } of granted) all[lane] = [...(all[lane] ?? []), run_id]
  return all
}

const heldAfter = (
  { holders }: RunQueueContext,
  { granted, gone }: Extract<RunQueueEvent, { type: 'runs_picked' }>,
): RunQueueContext['holders'] => withAll(without(holders, gone), granted)

const grants = (granted: readonly Granted[]): readonly Message[] =>
  granted.map(({ run_id }) => ({ to: run_id, event: { type: 'slot_granted' } }))

const queueSetup = setup({
  types: {
    context: {} as RunQueueContext,
    input: {} as RunQueueInput,
    events: {} as RunQueueEvent,
  },
  actions: {
    ...vocabulary,
    pickRuns: (_: unknown, _params: { queue_id: string }) => {},
  },
  guards: {
    isHolder: ({ context, event }) =>
      event.type === 'slot_returned' && (context.holders[event.lane]?.includes(event.run_id) ?? false),
    isServable: ({ context, event }) => event.type === 'wake' && !context.capped.includes(event.lane),
    isFresh: ({ context }) => !context.stale,
    isStale: ({ context }) => context.stale,
    hasHolders: ({ context }) => Object.keys(context.holders).length > 0,
    keepsHolders: ({ context, event }) =>
      event.type === 'runs_picked' && Object.keys(heldAfter(context, event)).length > 0,
    leftNothing: ({ event }) => event.type === 'runs_picked' && event.full,
  },
  // maximum time until the slot of a run that is gone is reclaimed
  delays: { upkeep: 60_000 },
})

type On<Type extends RunQueueEvent['type']> = At<RunQueueContext, Extract<RunQueueEvent, { readonly type: Type }>>

const assigns = assignsOf<RunQueueContext, RunQueueEvent>()

const takeBack = assigns(({ context, event }: On<'slot_returned'>) => ({
  holders: without(context.holders, [event]),
  capped: context.capped.filter((lane) => lane !== event.lane),
}))

const keepPicked = [
  assigns(({ context, event }: On<'runs_picked'>) => {
    const { cursor, capped, checked_at } = event
    return { holders: heldAfter(context, event), cursor, capped, checked_at }
  }),
  { type: 'send', params: ({ event }: On<'runs_picked'>) => ({ messages: grants(event.granted) }) },
] as const

const returned = { guard: 'isHolder', target: 'picking', actions: takeBack } as const
const pollAgain = { upkeep: [{ guard: 'hasHolders', target: 'picking' }, { target: 'resting' }] } as const
const servable = { guard: 'isServable', target: 'picking' } as const

/**
 * Grants the slots of one project to its waiting runs, round-robin over its tenants.
 * It stores the holders of slots, but not the waiting runs: a run's row says that it waits before the run wakes the
 * queue, and `pickRuns` reads the lanes after the one that was served last. While the project has no slot left
 * (`full`), a further waiting run costs no commit. A slot is returned by message, or reclaimed by the periodic check if
 * its run is gone. Without holders the queue is `resting` and has no reminder.
 */
export const runQueueMachine = queueSetup.createMachine({
  id: 'run_queue',
  context: ({ input }) => ({ ...input, holders: {}, cursor: null, capped: [], stale: false, checked_at: 0 }),
  initial: 'resting',
  states: {
    resting: { on: { wake: servable } },
    idle: { after: pollAgain, on: { wake: servable, slot_returned: returned } },
    picking: {
      tags: 'busy',
      entry: [
        assign({ stale: false }),
        { type: 'pickRuns', params: ({ context }) => ({ queue_id: context.queue_id }) },
      ],
      on: {
        wake: { guard: 'isFresh', actions: assign({ stale: true }) },
        slot_returned: { guard: 'isHolder', actions: [takeBack, assign({ stale: true })] },
        runs_picked: [
          { guard: 'isStale', target: 'picking', reenter: true, actions: keepPicked },
          { guard: 'leftNothing', target: 'full', actions: keepPicked },
          { guard: 'keepsHolders', target: 'idle', actions: keepPicked },
          { target: 'resting', actions: keepPicked },
        ],
      },
    },
    full: { after: pollAgain, on: { slot_returned: returned } },
  },
})
