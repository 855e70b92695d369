import { expect } from 'vitest'
import type { Ticket } from '#gateway/call/admission.ts'
import { budgetCounters } from '#gateway/limits/kinds.ts'
import { counterId } from '#gateway/limits/limit-admission.ts'
import { LocalLimits } from '#storage/local-limits.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { openLimited, scope } from './limited.ts'

/** One process with its limits, over a store in memory. */
export const world = async () => {
  const clock = new VirtualClock()
  const { records } = openMemoryStorage({ now: clock.now })
  const limits = new LocalLimits(clock)
  const first = await openLimited(records, clock, { limits })
  const counter = async (limitId: string) => (await records.get(budgetCounters, scope, counterId(limitId)))?.data
  return { clock, records, counter, limits, ...first }
}

/** An error with this code. */
export const code = (value: string) => expect.objectContaining({ code: value })

/** The tickets of the calls that are admitted. */
export const allowed = async (tickets: readonly (Ticket | Promise<Ticket>)[]): Promise<readonly Ticket[]> => {
  const settled = await Promise.allSettled(tickets.map(async (ticket) => ticket))
  return settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
}
