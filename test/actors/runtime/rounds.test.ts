import { describe, expect, it } from 'vitest'
import { Rounds } from '#runtime/rounds.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'

const open = (everyMs: number | (() => number)) => {
  const clock = new VirtualClock()
  const begun: number[] = []
  const ends: (() => void)[] = []
  const startedAt = clock.now()
  const rounds = new Rounds({
    clock,
    everyMs,
    round: () => {
      begun.push(clock.now() - startedAt)
      return new Promise<void>((resolve) => ends.push(resolve))
    },
  })
  return { clock, rounds, begun, end: () => ends.shift()?.() }
}

describe('rounds of upkeep', () => {
  it('come one after the other, each with its pause after the end of the one before', async () => {
    const { clock, rounds, begun, end } = open(1000)
    rounds.start()
    await clock.advance(5000)
    expect(begun).toEqual([1000])
    end()
    await clock.advance(5000)
    expect(begun).toEqual([1000, 6000])
  })

  it('begin after a pause of their own, and each sets the next one', async () => {
    let pauseMs = 500
    const { clock, rounds, begun, end } = open(() => pauseMs)
    rounds.start(10)
    await clock.advance(10)
    pauseMs = 2000
    end()
    await clock.advance(2000)
    expect(begun).toEqual([10, 2010])
  })

  it('end with the one that is under way', async () => {
    const { clock, rounds, begun, end } = open(1000)
    rounds.start()
    await clock.advance(1000)
    let over = false
    const stopped = rounds.stop().then(() => {
      over = true
    })
    await calm()
    expect({ over, stopped: rounds.stopped }).toEqual({ over: false, stopped: true })
    end()
    await stopped
    rounds.start()
    await clock.advance(10_000)
    expect(begun).toEqual([1000])
  })

  it('do not begin when they are stopped in a pause', async () => {
    const { clock, rounds, begun } = open(1000)
    rounds.start()
    await rounds.stop()
    await clock.advance(5000)
    expect(begun).toEqual([])
  })
})
