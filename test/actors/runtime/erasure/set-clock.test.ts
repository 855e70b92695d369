import { expect, it } from 'vitest'
import { eraseActor } from '#runtime/erasure/erase-actor.ts'
import { erasedActors } from '#runtime/erasure/erased-actors.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { logOf, openProbe } from '../probe.ts'

const dayMs = 24 * 60 * 60_000

it.for([-dayMs, dayMs])(
  'a log is removed five seconds after a start even if the wall clock is set by %i ms',
  async (ms) => {
    const clock = new VirtualClock()
    const storage = openMemoryStorage({ now: clock.now })
    await storage.records.prepare([erasedActors])
    const { run } = eraseActor({ storage, clock })
    const options = { storage, clock, tidy: run } as const
    await (await openProbe(options)).create('prb_1')
    const later = await openProbe(options)
    clock.set(ms)
    await later.deliver('prb_1', { type: 'count' })
    await later.deliver('prb_1', { type: 'tidy' })
    await clock.advance(4_000)
    expect(await logOf(storage, 'prb_1'), 'the process before may be at work on it').not.toEqual([])
    await clock.advance(2_000)
    expect(await logOf(storage, 'prb_1')).toEqual([])
  },
)
