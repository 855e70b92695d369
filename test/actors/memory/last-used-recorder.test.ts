import { describe, expect, it } from 'vitest'
import { memories } from '#actors/memory/kinds.ts'
import { LastUsedRecorder, maxPendingUses } from '#actors/memory/last-used-recorder.ts'
import { Table } from '#records/table.ts'
import { projectScope } from '#storage/scope.ts'
import { recordOf } from '#test/storage/samples.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const opened = async (count: number) => {
  const clock = new VirtualClock()
  const { records } = openMemoryStorage({ now: clock.now })
  await records.prepare([memories])
  const table = new Table(records, memories, clock.now)
  const scope = projectScope('prj_1')
  const data = { owner: '/ada', content: 'x', used_at_ms: null }
  for (let n = 0; n < count; n++) await records.insert(memories, recordOf(`mem_${n}`, { data, tenant: null }))
  const ids = Array.from({ length: count }, (_, n) => `mem_${n}`)
  const rows = async () => [...(await table.getMany(scope, ids)).values()]
  const days = async () => (await rows()).map((row) => row.data.used_at_ms)
  return { clock, records, rows, days, table, scope, used: new LastUsedRecorder(records, clock) }
}

describe('the day on which a memory was last found', () => {
  it('is written once for all memories found within a second, and once a day', async () => {
    const { clock, rows, days, used, table, scope } = await opened(2)
    const day = clock.now()
    used.note(await rows())
    used.note([])
    expect(await days()).toEqual([null, null])
    await clock.advance(1_000)
    expect(await days()).toEqual([day, day])
    used.note(await rows())
    await clock.advance(1_000)
    expect((await table.get(scope, 'mem_0'))?.version).toBe(2)
  })

  it('is not written to a memory that has changed meanwhile', async () => {
    const { clock, rows, used, table, scope } = await opened(1)
    used.note(await rows())
    await table.change(scope, 'mem_0', { edit: ({ data }) => ({ ...data, content: 'y' }) })
    await clock.advance(1_000)
    expect((await table.get(scope, 'mem_0'))?.data).toMatchObject({ content: 'y', used_at_ms: null })
  })

  it('is noted for a limited number of memories, and for none after closing', async () => {
    const { clock, days, rows, used } = await opened(1)
    const [row = null] = await rows()
    if (row === null) throw new Error('there is no memory')
    used.note(Array.from({ length: maxPendingUses }, (_, n) => ({ ...row, id: `mem_other${n}` })))
    used.note([row])
    await clock.advance(1_000)
    expect(await days()).toEqual([null])
    used.note([row])
    used.close()
    await clock.advance(1_000)
    expect(await days()).toEqual([null])
  })
})
