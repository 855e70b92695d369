import { expect, it } from 'vitest'
import { MemoryChanges } from '#actors/memory/indexes/memory-changes.ts'
import { memoryChanges, type PendingWrite } from '#actors/memory/kinds.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const owner = { project: 'prj_1', tenant: null, user: 'ada' }
const write = (token: string): PendingWrite => ({ token, at_ms: 0, rows: [], ends: [] })

it('a process that waited and died keeps its turn for a second, also when its clock was an hour ahead', async () => {
  for (const aheadMs of [0, 3_600_000]) {
    const clock = new VirtualClock()
    const { records } = openMemoryStorage({ now: clock.now })
    await records.prepare([memoryChanges])
    const dying = new MemoryChanges(records, () => clock.now() + aheadMs)
    const staying = new MemoryChanges(records, clock.now)
    const seen = await staying.note(owner, ['mem_1'])
    expect(await dying.claim(owner, seen - 1, write('a'))).toBe(false)
    await clock.advance(1_000)
    expect(await staying.claim(owner, seen, write('b'))).toBe(true)
  }
})
