import { describe, expect, it, vi } from 'vitest'
import { PeerSilent } from '#runtime/messages/peers.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { logOf, typesOf } from '../probe.ts'
import { ProbeCluster, type TestNode } from './probe-cluster.ts'

// time is virtual, but slow on a busy machine
vi.setConfig({ testTimeout: 60_000 })

const id = 'prb_1'
/** The time after which a heartbeat notices. */
const foundAfterMs = 750

/** Cuts the way to one node: requests to it fail when the heartbeat notices. */
const silentAt = (cluster: ProbeCluster, silent: TestNode): void => {
  cluster.onRequest = async (_request, address) => {
    if (address !== silent.address) return
    await new Promise<void>((resolve) => cluster.clock.after(foundAfterMs, resolve))
    throw new PeerSilent(foundAfterMs - 150)
  }
}

/** The outcome of a request, and the virtual time it took. */
const fateOf = async (cluster: ProbeCluster, work: Promise<unknown>) => {
  const startedAt = cluster.clock.steady()
  const outcome = work.then(
    (value) => ({ value, tookMs: cluster.clock.steady() - startedAt }),
    (error: unknown) => ({ error, tookMs: cluster.clock.steady() - startedAt }),
  )
  await cluster.during(outcome, 10_000)
  return outcome
}

describe('a request for an actor whose node is silent', () => {
  it('fails within two seconds if only the way to that node is cut, and later requests fail at once', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(3)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    const other = cluster.otherThan(owner)
    silentAt(cluster, owner)
    const first = await fateOf(cluster, other.deliver(id, { type: 'count', n: 1 }))
    expect(first).toMatchObject({ error: expect.any(StoreUnavailable) })
    expect(first.tookMs).toBeLessThan(2000)
    const next = await fateOf(cluster, other.deliver(id, { type: 'count', n: 2 }))
    expect(next).toMatchObject({ error: expect.any(StoreUnavailable) })
    expect(next.tookMs).toBeLessThan(100)
    expect(cluster.ownerOf(id)).toBe(owner)
    // the node is called again, and answers
    cluster.onRequest = () => {}
    await cluster.clock.advance(1500)
    expect(await other.deliver(id, { type: 'count', n: 3 })).toMatchObject({ duplicate: false })
    expect(typesOf(await logOf(cluster.storage, id))).toEqual(['counted'])
  })

  it.each(['', ', without a directory'])('is done by another node if that node has stopped%s', async (without) => {
    const cluster = new ProbeCluster()
    const [...nodes] = await cluster.startAll(3)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    const other = nodes.find((node) => node !== owner) ?? owner
    if (without !== '') {
      cluster.presence.up = false
      await cluster.clock.advance(3000)
    }
    owner.stall()
    silentAt(cluster, owner)
    const done = await fateOf(cluster, other.deliver(id, { type: 'count', n: 1 }))
    expect(done).toMatchObject({ value: { duplicate: false } })
    // a lease expires after four seconds, and a request waits for five
    expect(done.tookMs).toBeLessThan(2500)
    expect(cluster.ownerOf(id)).not.toBe(owner)
    owner.wake()
    cluster.onRequest = () => {}
    await cluster.clock.advance(10_000)
    expect(typesOf(await logOf(cluster.storage, id))).toEqual(['counted'])
  })
})
