import { sessionDefinition } from '#machines/session/session-definition.ts'
import { commitOf } from '#runtime/commit/commit-document.ts'
import { newId } from '#runtime/ids.ts'
import { shardsOf } from '#runtime/recovery/shard.ts'
import { firstStep } from '#runtime/step/step.ts'
import type { Commit } from '#storage/ports.ts'
import { type Identity, identities } from './identities.ts'

/**
 * Returns the first commits of sessions that no client has used since, each with its identity: a sample of those that an installation
 * has had for long. All identities have as many.
 */
export const restingSessions = (count: number, at: number): readonly (readonly [Identity, Commit])[] =>
  Array.from({ length: count }, (_, n) => {
    const identity = identities[n % identities.length]
    if (identity === undefined) throw new Error('no identities')
    return [identity, restingCommit(identity, at)] as const
  })

const restingCommit = ({ scope }: Identity, at: number): Commit => {
  const actor = newId('ses')
  const event = { type: 'create' }
  const step = firstStep(sessionDefinition, { session_id: actor, agent_id: null, metadata: {} }, { actor, event, at })
  if (step.kind !== 'next') throw new Error('a session refuses to start')
  const { project, tenant = null, user = null } = scope
  const facts = { actor, shard: shardsOf({}).of(actor), epoch: 0, at, cause: `rests:${actor}`, event }
  const commit = commitOf(sessionDefinition, step.draft, { ...facts, owner: { project, tenant, user, createdAt: at } })
  // what it requested was done long ago
  return { ...commit, effects: [], messages: [], open: false }
}
