import { expect, vi } from 'vitest'
import { isOfSegment } from '#actors/indexing/segment-blobs.ts'
import type { Rows } from '../mongo-data.ts'
import { patience } from '../patience.ts'
import type { World } from '../world.ts'
import { declaredEstate } from './estate/parts.ts'
import type { Estate } from './estate.ts'

/** All background work may have to end before rows are read. */
const untilIdle = { timeout: 180_000, interval: 300 }

/** Rows that processes write about themselves, and no request does: the streams that ended within a second, and work that takes long. */
const ofProcesses = new Set(['ended_streams', 'records_ended_streams', 'stuck_work', 'records_stuck_work'])

/**
 * Rows once no work is left to do, which the store itself shows. Without the blobs of segments of indexes, which become fewer
 * when segments are merged.
 */
export const settledRows = async (world: World): Promise<Rows> => {
  const idle = async () => {
    // reading usage flushes the calls that are still buffered into segments
    await world.api.get('/v1/usage/events?limit=1')
    expect(await world.unfinished()).toEqual({})
  }
  await vi.waitFor(async () => {
    await idle()
    // what a table that was read late passed to one that had been read by then is open for a second
    await idle()
  }, untilIdle)
  const { blobs = new Map<string, null>(), ...others } = await world.rows()
  const lasting = [...blobs].filter(([key]) => !isOfSegment(key.replace(/^[^:]*:/, '').replace(/:\d+$/, '')))
  const tables = Object.entries(others).filter(([table]) => !ofProcesses.has(table))
  return { ...Object.fromEntries(tables), blobs: new Map(lasting) }
}

/** Rows of each table that are not among others. */
export const rowsBeyond = (others: Rows, rows: Rows): Readonly<Record<string, readonly string[]>> => {
  const found = Object.entries(rows).map(
    ([table, each]) => [table, [...each.keys()].filter((key) => others[table]?.has(key) !== true)] as const,
  )
  return Object.fromEntries(found.filter(([, keys]) => keys.length > 0))
}

/** Without rows that have expired, which are removed at any time. */
export const unexpired = (rows: Rows): Rows => {
  const now = Date.now()
  const kept = ([, expires]: readonly [string, number | null]): boolean => expires === null || expires > now
  return Object.fromEntries(Object.entries(rows).map(([table, each]) => [table, new Map([...each].filter(kept))]))
}

const atWork = ['queued', 'running', 'crawling', 'discovering', 'pending']

/** Waits until no resource of the estate will go on by itself: one that waits for its next attempt has nothing to do meanwhile. */
export const atRest = async (estate: Estate): Promise<void> => {
  for (const path of declaredEstate.atWork.flatMap((paths) => paths(estate)))
    await vi.waitFor(async () => {
      const { status, body } = await estate.api.get(path)
      expect([status, atWork.includes(body.status)], path).toEqual([200, false])
    }, patience)
}
