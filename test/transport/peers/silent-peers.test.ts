import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { type Clock, systemClock } from '#runtime/clock.ts'
import { PeerGone, PeerSilent } from '#runtime/messages/peers.ts'
import { peerLimits } from '#transport/peers/peer-limits.ts'
import { about, closeAll, closedAfter, done, held, openPeering, openWire, portOf, served } from './peering.ts'

afterEach(closeAll)

const stoppedPeer = fileURLToPath(new URL('./stopped-peer.ts', import.meta.url))

describe('a peer that is silent', () => {
  /** Outcome and duration of a request. */
  const fate = async (request: Promise<unknown>) => {
    const startedAt = performance.now()
    const error = await request.catch((thrown: unknown) => thrown)
    return { error, tookMs: performance.now() - startedAt }
  }
  const soonMs = peerLimits.answerMs - 1500

  it('because no byte gets through is given up quickly, and called again once bytes get through', async () => {
    const { service, came, answer } = held()
    const server = await served(service)
    const wire = await openWire(portOf(server))
    closedAfter(wire.close)
    const peers = openPeering()
    const first = peers.request(wire.address, about('first'))
    await expect.poll(() => came).toEqual(['first'])
    wire.swallow(true)
    const lost = await fate(Promise.all([first, peers.request(wire.address, about('second'))]))
    expect(lost.error).toBeInstanceOf(PeerSilent)
    expect(lost.error).not.toBeInstanceOf(PeerGone)
    expect(lost.tookMs).toBeLessThan(soonMs)
    wire.swallow(false)
    const again = peers.request(wire.address, about('third'))
    await expect.poll(() => came.at(-1)).toBe('third')
    answer('third')
    expect(await again).toEqual(done)
  })

  it('because its process was stopped is given up quickly, and answers when it continues', async () => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', stoppedPeer], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    closedAfter(() => child.kill('SIGKILL'))
    const [printed] = await once(child.stdout, 'data')
    const address = String(printed).trim()
    const peers = openPeering()
    expect(await peers.request(address, about('ses_1'))).toEqual(done)
    child.kill('SIGSTOP')
    const lost = await fate(peers.request(address, about('ses_2')))
    expect(lost.error).toBeInstanceOf(PeerSilent)
    expect(lost.tookMs).toBeLessThan(soonMs)
    child.kill('SIGCONT')
    await expect
      .poll(() => fate(peers.request(address, about('ses_3'))), { timeout: 10_000 })
      .toMatchObject({ error: done })
  })

  it('differs from a slow peer that answers pings', async () => {
    const { service, came, answer } = held()
    const server = await served(service)
    let beats = 0
    const after: Clock['after'] = (ms, work) =>
      systemClock.after(ms, () => {
        if (ms === peerLimits.beatMs) beats++
        work()
      })
    const open = openPeering({ clock: { ...systemClock, after } }).request(server.address, about('slow'))
    await expect.poll(() => came).toEqual(['slow'])
    await expect.poll(() => beats, { timeout: 20_000 }).toBeGreaterThan((2 * peerLimits.silenceMs) / peerLimits.beatMs)
    answer('slow')
    expect(await open).toEqual(done)
  })
})
