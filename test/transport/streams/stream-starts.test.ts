import { describe, expect, it } from 'vitest'
import { StreamStarts } from '#transport/streams/stream-starts.ts'

const spin = (ms: number): void => {
  const end = performance.now() + ms
  while (performance.now() < end);
}

const atOnce = (work: () => void): void => work()

describe('streams that start in one turn of the event loop', () => {
  it('start at once while that takes little time', () => {
    const shares = new StreamStarts()
    const begun: number[] = []
    for (let n = 0; n < 100; n++) shares.start(() => begun.push(n), atOnce)
    expect(begun).toHaveLength(100)
  })

  it('start in separate turns, in order, if the first ones take long', async () => {
    const shares = new StreamStarts()
    const begun: number[] = []
    const turns: number[] = []
    let turn = 0
    const count = (): void => {
      turn += 1
      if (begun.length < 6) setImmediate(count)
    }
    setImmediate(count)
    for (let n = 0; n < 6; n++) {
      const start = (): void => {
        spin(10)
        begun.push(n)
        turns.push(turn)
      }
      shares.start(start, atOnce)
    }
    expect(begun).toEqual([0])
    await expect.poll(() => begun).toEqual([0, 1, 2, 3, 4, 5])
    expect(new Set(turns).size).toBe(6)
  })

  it('pass a later exception to the function that contains it', async () => {
    const shares = new StreamStarts()
    const caught: unknown[] = []
    const contain = (work: () => void): void => {
      try {
        work()
      } catch (error) {
        caught.push(error)
      }
    }
    shares.start(() => spin(10), contain)
    const late = new Error('late')
    shares.start(() => {
      throw late
    }, contain)
    await expect.poll(() => caught).toEqual([late])
  })
})
