import { describe, expect, it } from 'vitest'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { Heartbeat, PeerPace } from '#transport/peers/heartbeat.ts'
import { peerLimits } from '#transport/peers/peer-limits.ts'

const { beatMs, silenceMs, maxSilenceMs } = peerLimits

/** A heartbeat of a connection with a pending response. */
const beating = () => {
  const clock = new VirtualClock()
  const pace = new PeerPace(clock)
  const seen = { pings: 0, silent: false, isAwaited: true }
  const heartbeat = new Heartbeat({
    ...{ clock, pace },
    isAwaited: () => seen.isAwaited,
    ping: () => seen.pings++,
    silent: () => {
      seen.silent = true
    },
  })
  heartbeat.sent()
  return { clock, pace, seen, heartbeat }
}

describe('a peer with a pending response', () => {
  it('is silent if it does not answer a ping, within a second', async () => {
    const { clock, seen } = beating()
    await clock.advance(beatMs)
    expect(seen).toMatchObject({ pings: 1, silent: false })
    await clock.advance(silenceMs)
    expect(seen).toMatchObject({ pings: 1, silent: true })
    expect(beatMs + silenceMs).toBeLessThan(1000)
  })

  it('is never silent while it answers pings, and is sent one ping at a time', async () => {
    const { clock, seen, heartbeat } = beating()
    for (let beats = 0; beats < 100; beats++) {
      await clock.advance(beatMs)
      heartbeat.heard()
    }
    expect(seen.silent).toBe(false)
    expect(seen.pings).toBeLessThanOrEqual(100)
  })

  it('gets more time if it was slow recently, but not forever', async () => {
    const { clock, pace, seen, heartbeat } = beating()
    await clock.advance(beatMs)
    await clock.advance(silenceMs - beatMs)
    heartbeat.heard()
    expect(pace.patienceMs).toBe(4 * (silenceMs - beatMs))
    await clock.advance(2 * beatMs + silenceMs)
    expect(seen.silent).toBe(false)
    await clock.advance(60_000)
    expect(seen.silent).toBe(true)
    expect(pace.patienceMs).toBe(silenceMs)
    pace.note(60_000)
    expect(pace.patienceMs).toBe(maxSilenceMs)
  })

  it('gets the usual time again soon after the longest pause', async () => {
    const { clock, pace, heartbeat } = beating()
    heartbeat.stop()
    pace.note(3_600_000)
    expect(pace.patienceMs).toBe(maxSilenceMs)
    await clock.leap(15_000)
    expect(pace.patienceMs).toBe(silenceMs)
  })

  it('is not silent because this process was paused', async () => {
    const { clock, pace, seen, heartbeat } = beating()
    await clock.advance(beatMs)
    await clock.leap(60_000)
    expect(seen.silent).toBe(false)
    expect(pace.patienceMs).toBe(maxSilenceMs)
    heartbeat.heard()
    await clock.advance(beatMs)
    expect(seen.silent).toBe(false)
  })
})

it('a heartbeat sends no pings while no response is pending', async () => {
  const { clock, seen, heartbeat } = beating()
  seen.isAwaited = false
  await clock.advance(60_000)
  expect(seen).toMatchObject({ pings: 0, silent: false })
  seen.isAwaited = true
  heartbeat.sent()
  await clock.advance(beatMs)
  expect(seen.pings).toBe(1)
  heartbeat.stop()
  await clock.advance(60_000)
  expect(seen).toMatchObject({ pings: 1, silent: false })
})
