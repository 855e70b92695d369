import { projectScope } from '#storage/index.ts'
import type { MemoryService } from '../capability/memory-service.ts'
import type { IdempotentEffect, Owner } from '../runtime/index.ts'
import { type EraseParts, type EraserHost, eraseActor, eraseListed } from '../runtime/internal.ts'
import type { Conversations } from './conversations.ts'
import { actionRows } from './kinds.ts'
import { forgetThread } from './protocols/thread-sessions.ts'

/** Effect that writes the checkpoint of a conversation (specs/decisions/0001-sessions.md). */
export const writeCheckpoint = (conversations: Conversations): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, { actor, owner, signal }) => {
    await conversations.checkpoint(actor, owner)
    // the session was deleted meanwhile: no checkpoint may remain
    if (signal.aborted) await conversations.forget(actor, owner)
    return { event: { type: 'checkpoint_written' } }
  },
})

/** Effect that removes an expired session's memories of scope `session`. */
export const endMemory = (memory: () => MemoryService): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, { actor, owner }) => {
    await endSession(memory, actor, owner)
    return { event: { type: 'memory_ended' } }
  },
})

const endSession = async (
  memory: () => MemoryService,
  actor: string,
  { project, tenant, user }: Owner,
): Promise<void> => {
  if (user !== null) await memory().endSession({ project, tenant, user }, actor)
}

/** Dependencies of `eraseSession`. */
export interface EraseSessionParts extends EraseParts {
  readonly conversations: Conversations
  readonly host: EraserHost
  readonly memory: () => MemoryService
}

/**
 * Effect that removes the log of a deleted session, its checkpoint, its thread, its memories, and all its actions, resolved or not.
 */
export const eraseSession = (parts: EraseSessionParts): IdempotentEffect => {
  return eraseActor(parts, async ({ actor, owner }) => {
    await eraseListed(parts, { rows: actionRows, scope: projectScope(owner.project), where: { session_id: actor } })
    await parts.conversations.forget(actor, owner)
    await forgetThread(parts.storage.records, owner.project, actor)
    await endSession(parts.memory, actor, owner)
  })
}
