import { isDeepStrictEqual } from 'node:util'
import { expect, vi } from 'vitest'
import { patience } from '../patience.ts'
import type { World } from '../world.ts'
import { declaredEstate } from './estate/parts.ts'
import type { Estate } from './estate.ts'

/** Rows of every table or collection, by its name. */
export type Counts = Readonly<Record<string, number>>

/** Row counts, polled until two in a row are equal: rows follow their commits with a short delay. */
export const settledCounts = async (world: World): Promise<Counts> => {
  let last: Counts = {}
  const read = async () => {
    // reading usage flushes the calls that are still buffered into segments
    await world.api.get('/v1/usage/events?limit=1')
    const counts = await world.counts()
    const before = last
    last = counts
    expect(isDeepStrictEqual(counts, before)).toBe(true)
    // gateway calls are written in batches, and become separate rows a moment later
    expect(counts.call_segments ?? counts.records_call_segments).toBe(0)
  }
  await vi.waitFor(read, { ...patience, interval: 300 })
  return last
}

const atWork = ['queued', 'running', 'crawling', 'discovering', 'pending']

/** Waits until all background work of the estate has ended, so that it writes nothing more. */
export const atRest = async (estate: Estate): Promise<void> => {
  for (const path of declaredEstate.atWork.flatMap((paths) => paths(estate)))
    await vi.waitFor(async () => {
      const { status, body } = await estate.api.get(path)
      expect([status, atWork.includes(body.status)], path).toEqual([200, false])
    }, patience)
}
