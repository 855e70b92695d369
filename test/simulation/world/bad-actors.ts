import { sessionDefinition } from '#machines/session/session-definition.ts'
import { commitOf } from '#runtime/commit/commit-document.ts'
import { shardsOf } from '#runtime/recovery/shard.ts'
import { firstStep } from '#runtime/step/step.ts'
import type { Commit, Storage } from '#storage/ports.ts'

/** Ids that no session of a client has. */
const parked = (at: number): string => `ses_parked${at}`
const poisoned = (at: number): string => `ses_poisoned${at}`

/** Whether the actor was planted at the start. */
export const isBad = (actor: string): boolean => /^ses_(parked|poisoned)/.test(actor)

/** An event on which its machine throws. */
const poison = { type: 'turn' } as const

/**
 * Adds actors to the store that harm a process that loads them carelessly: some cannot be restored, some throw at a
 * message or a reminder. Each has open work, a due reminder, and messages to the others.
 */
export const plantBadActors = async (inner: Storage, now: number, count: number): Promise<void> => {
  for (let at = 0; at < count; at++) {
    await inner.commits.append([badCommit(parked(at), now, 'nowhere'), badCommit(poisoned(at), now, null)])
  }
}

const badCommit = (actor: string, at: number, state: string | null): Commit => {
  const create = { type: 'create' }
  const step = firstStep(
    sessionDefinition,
    { session_id: actor, agent_id: null, metadata: {} },
    { actor, event: create, at },
  )
  if (step.kind !== 'next') throw new Error('a session refuses to start')
  const owner = { project: 'prj_bad', tenant: null, user: null, createdAt: at }
  const facts = { actor, shard: shardsOf({}).of(actor), epoch: 0, at, owner, cause: `bad:${actor}`, event: create }
  const commit = commitOf(sessionDefinition, step.draft, facts)
  const peers = [parked(0), poisoned(0)].filter((other) => other !== actor)
  return {
    ...commit,
    messages: peers.map((to, index) => ({ id: `${actor}:1:m${index}`, to, event: poison })),
    snapshot: { ...commit.snapshot, ...(state !== null && { value: state }) },
    reminders: { poison: { due: at - 1, event: poison, n: 1 } },
    open: true,
    due: at - 1,
  }
}
