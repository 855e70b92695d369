import type { IdempotentEffect } from '#runtime/index.ts'
import type { HandOvers } from './hand-overs.ts'

/**
 * Makes the browser of a job continue after a person has continued it. After a crash no browser waits: the job's other
 * effect runs the job again, and hands over the page again.
 */
export const resumeJob = (handOvers: Pick<HandOvers, 'resume'>): IdempotentEffect => ({
  policy: 'idempotent',
  run: async ({ attempt, note }, { actor }) => {
    handOvers.resume(actor, Number(attempt), typeof note === 'string' ? note : null)
    return { event: { type: 'resumed' } }
  },
})
