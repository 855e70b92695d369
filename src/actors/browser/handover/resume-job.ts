import type { IdempotentEffect } from '#runtime/effects/effects.ts'
import type { HandOvers } from './hand-overs.ts'

/**
 * Has the browser of a job go on that a person has continued. After a crash there is none: the job is run again by its other
 * effect, and hands over again.
 */
export const resumeJob = (handOvers: Pick<HandOvers, 'resume'>): IdempotentEffect => ({
  policy: 'idempotent',
  run: async ({ attempt, note }, { actor }) => {
    handOvers.resume(actor, Number(attempt), typeof note === 'string' ? note : null)
    return { event: { type: 'resumed' } }
  },
})
