import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '#storage/ports.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { forever, openProbe, type Run } from '../probe.ts'

const id = 'prb_1'
const effectId = `${id}:2:0`
const idempotent: StoredEvent = { type: 'work', policy: 'idempotent' }

describe('an effect that kills the process after a part of its result', () => {
  /** Starts processes one after the other; each is ended after its run of the effect has said so many parts. */
  const killed = async (partsOf: (run: number) => number) => {
    const inner = openMemoryStorage()
    const clock = new VirtualClock(Date.now())
    for (let run = 1; run <= 12; run++) {
      const faulty = new FaultyStorage(inner)
      const work: Run = async (params, context) => {
        const said = { type: 'heard', delta: 'x' }
        for (let part = 0; part < partsOf(run); part++) await context.part(said, said)
        faulty.crash()
        return forever(params, context)
      }
      const starting = openProbe({ storage: faulty.storage, clock, work })
      if (run === 1) {
        const probe = await starting
        await probe.create(id)
        await probe.deliver(id, idempotent)
      }
      await clock.advance(60_000)
    }
    return (await inner.commits.head(id))?.snapshot?.parked
  }

  it('parks its actor if each run ends at the same part', async () => {
    expect(await killed(() => 1)).toMatchObject({ kind: 'parked_actor', effect: effectId })
  })

  it('parks nothing if each run reaches another part', async () => {
    expect(await killed((run) => run)).toBeUndefined()
  })
})
