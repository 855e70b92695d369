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
  it('run one at a time, each one pause after the end of the previous one', async () => {
    const { clock, rounds, begun, end } = open(1000)
    rounds.start()
    await clock.advance(5000)
    expect(begun).toEqual([1000])
    end()
    await clock.advance(5000)
    expect(begun).toEqual([1000, 6000])
  })

  it('start after the given first pause, and compute each later pause', async () => {
    let pauseMs = 500
    const { clock, rounds, begun, end } = open(() => pauseMs)
    rounds.start(10)
    await clock.advance(10)
    pauseMs = 2000
    end()
    await clock.advance(2000)
    expect(begun).toEqual([10, 2010])
  })

  it('stop after the round in progress, and do not start again', async () => {
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

  it('do not run if they are stopped during a pause', async () => {
    const { clock, rounds, begun } = open(1000)
    rounds.start()
    await rounds.stop()
    await clock.advance(5000)
    expect(begun).toEqual([])
  })
})
