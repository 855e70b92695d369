import { describe, expect, it, vi } from 'vitest'
import { pause } from '#runtime/clock.ts'
import { logOf, type Run, typesOf } from '../probe.ts'
import { ProbeCluster } from './probe-cluster.ts'

// time is virtual, but slow on a busy machine
vi.setConfig({ testTimeout: 60_000 })

const ids = Array.from({ length: 6 }, (_, index) => `prb_${index}`)

/** Logs of actors on three nodes that lose their store for a while, in the middle of a stream and a call. */
const throughOutage = async (awayMs: number) => {
  const speak: Run = async (_params, { part, signal }) => {
    for (let n = 0; n < 20; n++) {
      await part({ type: 'heard', delta: `${n} ` }, { type: 'heard' })
      await pause(cluster.clock, 100, signal)
    }
    return { event: { type: 'spoken' } }
  }
  const work: Run = async (_params, { signal }) => {
    await pause(cluster.clock, 2000, signal)
    return { event: { type: 'worked', output: 'done' } }
  }
  const cluster = new ProbeCluster({ speak, work })
  const nodes = await cluster.startAll(3)
  for (const id of ids) {
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    await owner.deliver(id, { type: 'speak' })
    await owner.deliver(id, { type: 'work', policy: 'at_most_once' })
  }
  await cluster.clock.advance(500)
  for (const { process } of nodes) process.storeAway = true
  await cluster.clock.advance(awayMs)
  for (const { process } of nodes) process.storeAway = false
  await cluster.clock.advance(20_000)
  return Promise.all(ids.map((id) => logOf(cluster.storage, id)))
}

describe.each([3500, 5000, 10_000])('a store that all nodes lose for %i ms', (awayMs) => {
  it('interrupts no stream and leaves no call without its result', async () => {
    for (const log of await throughOutage(awayMs)) {
      const said = typesOf(log).filter((type) => type !== 'worked')
      expect(said).toEqual(['speech.started', ...Array.from({ length: 20 }, () => 'speech.delta'), 'speech.ended'])
      expect(log.find(({ event_type }) => event_type === 'worked')?.payload).toEqual({ output: 'done' })
    }
  })
})
