import type { Effect } from '../runtime/effects.ts'
import type { Conversations } from '../sessions/conversations.ts'
import { type EraseParts, eraseActor } from './erase-actor.ts'

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

/** What removing a session needs. */
export interface EraseSessionParts extends EraseParts {
  readonly conversations: Conversations
}

/** Removes a deleted session's log and its checkpoint once every action that waited for it is told. */
export const eraseSession = (parts: EraseSessionParts): Effect =>
  eraseActor(parts, ({ actor, owner }) => parts.conversations.forget(actor, owner))
