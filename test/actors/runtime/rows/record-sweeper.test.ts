import { pino } from 'pino'
import { expect, it } from 'vitest'
import { systemClock } from '#runtime/clock.ts'
import { RecordSweeper } from '#runtime/rows/record-sweeper.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const kind = { name: 'things' }
const row = (id: string, expires_at: number | null) => ({
  id,
  project: 'prj_a',
  tenant: null,
  user: null,
  version: 1,
  created_at: 1,
  updated_at: 1,
  expires_at,
  data: {},
})

it('removes expired records and nothing else', async () => {
  let now = 1000
  const { records } = openMemoryStorage({ now: () => now })
  await records.prepare([kind])
  await records.insert(kind, row('a', 2000))
  await records.insert(kind, row('b', null))
  now = 3000
  const sweeper = new RecordSweeper({
    records,
    kinds: [kind],
    clock: { ...systemClock, now: () => now },
    log: pino({ level: 'silent' }),
  })
  await sweeper.round()
  expect(await records.sweep(kind, now)).toBe(0)
  expect(await records.count(kind, projectScope('prj_a'))).toBe(1)
})
