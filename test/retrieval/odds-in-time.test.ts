import { afterEach, describe, expect, it, vi } from 'vitest'
import { EmbedderUnavailable } from '#retrieval/embedder.ts'
import { oddsInTime } from '#retrieval/odds-in-time.ts'

afterEach(() => {
  vi.useRealTimers()
})

const texts = Array.from({ length: 40 }, (_, at) => `text ${at}`)
const numberOf = (text: string): number => Number(text.slice(5))
const judged = { texts, trait: 'lasting', waitMs: 1_000 } as const

describe('judging many texts', () => {
  it('returns the odds of all, in several requests, of which each judges as many as it can', async () => {
    const sizes: number[] = []
    const judge = async (some: readonly string[]) => {
      sizes.push(some.length)
      return some.slice(0, 3).map(numberOf)
    }
    expect(await oddsInTime({ judge }, judged)).toEqual(texts.map(numberOf))
    expect(Math.max(...sizes)).toBe(4)
  })

  it('requests again what a busy model did not judge', async () => {
    let busy = 2
    const judge = async (some: readonly string[]) => (busy-- > 0 ? [] : some.map(numberOf))
    expect(await oddsInTime({ judge }, judged)).toHaveLength(40)
  })

  it('returns none without a model, with one that cannot judge, or with one that fails', async () => {
    const failing = { judge: () => Promise.reject(new EmbedderUnavailable('gone')) }
    for (const embedder of [null, {}, { judge: async () => null }, failing])
      expect(await oddsInTime(embedder, judged)).toEqual([])
  })

  it('returns what was judged when the time is over', async () => {
    vi.useFakeTimers()
    let calls = 0
    const judge = (some: readonly string[]) =>
      calls++ === 0 ? Promise.resolve(some.map(numberOf)) : new Promise<null>(() => {})
    const judging = oddsInTime({ judge }, judged)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await judging).toHaveLength(4)
  })

  it('ends in time with a model that is always busy', async () => {
    expect(await oddsInTime({ judge: async () => [] }, { ...judged, waitMs: 120 })).toEqual([])
  })
})
