import type { Storage } from '../../storage/ports.ts'
import { type Clock, pause } from '../runtime/clock.ts'
import type { Effect } from '../runtime/effects.ts'
import { markErased } from '../runtime/erased-actors.ts'
import type { Conversations } from '../sessions/conversations.ts'

const notRun = (): never => {
  throw new Error('an idempotent effect is run again, never given up')
}

/** Writes the checkpoint of a conversation (interface "Session": every 50 turns). */
export const writeCheckpoint = (conversations: Conversations): Effect => ({
  run: async (_params, { actor, owner, signal }) => {
    await conversations.checkpoint(actor, owner)
    // deleted meanwhile: nothing may be left behind
    if (signal.aborted) await conversations.forget(actor, owner)
    return { event: { type: 'checkpoint_written' } }
  },
  unknown: notRun,
})

/** A write that was sent before the removal may come in so long after it, in ms; it is removed once more then. */
const lateMs = 30_000

/** Whoever touches what is left removes it (runtime/erased-actors.ts). */
const leaveIt = (): void => {}

/** What removing a session needs. */
export interface EraseParts {
  readonly storage: Pick<Storage, 'commits' | 'records'>
  readonly conversations: Conversations
  readonly clock: Clock
  /** When no earlier process goes on any more, in ms since the epoch (`aloneFrom`). */
  readonly aloneAt: number
}

/**
 * Removes a deleted session's log once every action that waited for it is told, and once no process that was replaced
 * goes on: until then the log is the fence that stops it.
 */
export const eraseSession = ({ storage, conversations, clock, aloneAt }: EraseParts): Effect => ({
  run: async (_params, { actor, owner, delivered, signal }) => {
    await delivered()
    if (clock.now() < aloneAt) await pause(clock, aloneAt - clock.now(), signal)
    await conversations.forget(actor, owner)
    await markErased(storage.records, actor, owner, clock.now())
    await storage.commits.forget(actor)
    clock.after(lateMs, () => void storage.commits.forget(actor).catch(leaveIt))
    return 'gone'
  },
  unknown: notRun,
})
