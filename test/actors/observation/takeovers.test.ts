import { expect, it } from 'vitest'
import { recentTakeovers, takeoverCounts, takeoverRows } from '#actors/observation/takeovers.ts'
import { derivedId } from '#runtime/ids.ts'
import type { TakenOver } from '#runtime/log/ledger.ts'
import { projectScope } from '#storage/scope.ts'
import { commitOf } from '#test/storage/samples.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const start = Date.UTC(2026, 0, 1)

const fenceOf = (actor: string, tenant: string | null, at: number, node = 'b') => ({
  ...commitOf(actor, 2),
  ...{ project: 'prj_1', tenant },
  event: { type: '$fenced', at, crashed: true, node },
})

/** Writes every row that a process derives, and returns the ids of them. */
const writer = (records: ReturnType<typeof openMemoryStorage>['records']) => {
  const ids = new Set<string>()
  const note = async (takenOver: TakenOver, fence: Parameters<TakenOver>[0]): Promise<void> => {
    const row = takenOver(fence)
    if (row === null) return
    ids.add(row.record.id)
    await records.project([row])
  }
  return { ids, note }
}

it('writes one row for each tenant whose actors a node takes over, and counts all of them', async () => {
  const { records } = openMemoryStorage({ now: () => start })
  await records.prepare([takeoverRows])
  const { ids, note } = writer(records)
  const takenOver = takeoverCounts()
  for (let n = 0; n < 1200; n++) await note(takenOver, fenceOf(`ses_${n}`, n % 2 === 0 ? null : 'tnt_1', start + n))
  expect(ids.size).toBe(2)
  expect(await recentTakeovers({ records, now: () => start }, projectScope('prj_1'))).toEqual([
    { node: 'b', actors: 1200, fromMs: start, toMs: start + 1199 },
  ])
})

it('separates takeovers by node, and those a minute apart', async () => {
  const { records } = openMemoryStorage({ now: () => start })
  await records.prepare([takeoverRows])
  const { note } = writer(records)
  const [b, c] = [takeoverCounts(), takeoverCounts()]
  for (const at of [0, 50_000, 200_000]) await note(b, fenceOf(`ses_${at}`, null, start + at))
  await note(c, fenceOf('ses_c', null, start + 300_000, 'c'))
  expect(await recentTakeovers({ records, now: () => start }, projectScope('prj_1'))).toEqual([
    { node: 'c', actors: 1, fromMs: start + 300_000, toMs: start + 300_000 },
    { node: 'b', actors: 1, fromMs: start + 200_000, toMs: start + 200_000 },
    { node: 'b', actors: 2, fromMs: start, toMs: start + 50_000 },
  ])
})

it('reads the rows of earlier versions, which have one actor each', async () => {
  const { records } = openMemoryStorage({ now: () => start })
  await records.prepare([takeoverRows])
  const owner = { project: 'prj_1', tenant: null, user: null }
  const times = { version: 1, created_at: start, updated_at: start, expires_at: start + 1000 }
  for (const actor of ['ses_1', 'ses_2']) {
    const id = derivedId('tov', start, actor)
    await records.insert(takeoverRows, { id, ...owner, ...times, data: { actor, node: 'b' } })
  }
  expect(await recentTakeovers({ records, now: () => start }, projectScope('prj_1'))).toEqual([
    { node: 'b', actors: 2, fromMs: start, toMs: start },
  ])
})

it('counts no actor that was handed over', () => {
  const fence = fenceOf('ses_1', null, start)
  const handedOver = { ...fence, event: { ...fence.event, crashed: false } }
  expect(takeoverCounts()(handedOver)).toBeNull()
})
