import { isDeepStrictEqual } from 'node:util'
import { expect, vi } from 'vitest'
import { patience } from '../patience.ts'
import type { World } from '../world.ts'
import { declaredEstate } from './estate/parts.ts'
import type { Estate } from './estate.ts'

/** Rows of every table or collection, by its name. */
export type Counts = Readonly<Record<string, number>>

/** Rows follow their commits within a moment: counted until two counts are alike. */
export const settledCounts = async (world: World): Promise<Counts> => {
  let last: Counts = {}
  const look = async () => {
    // a reader of usage gets what was still being gathered: from here on it is in segments
    await world.api.get('/v1/usage/events?limit=1')
    const counts = await world.counts()
    const before = last
    last = counts
    expect(isDeepStrictEqual(counts, before)).toBe(true)
    // calls of the gateway are written together, and become rows of their own a moment later
    expect(counts.call_segments ?? counts.records_call_segments).toBe(0)
  }
  await vi.waitFor(look, { ...patience, interval: 300 })
  return last
}

const atWork = ['queued', 'running', 'crawling', 'discovering', 'pending']

/** What goes on by itself has come to its end: from here on nothing more is written for it. */
export const atRest = async (estate: Estate): Promise<void> => {
  for (const path of declaredEstate.atWork.flatMap((paths) => paths(estate)))
    await vi.waitFor(async () => {
      const { status, body } = await estate.api.get(path)
      expect([status, atWork.includes(body.status)], path).toEqual([200, false])
    }, patience)
}
