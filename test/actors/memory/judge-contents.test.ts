import { afterEach, describe, expect, it, vi } from 'vitest'
import { judgeContents } from '#actors/memory/judge-contents.ts'
import { EmbedderUnavailable } from '#retrieval/embedder.ts'

afterEach(() => {
  vi.useRealTimers()
})

const odds = (text: string): number => (text.includes('obey') ? 1 : -1)

describe('judging contents by their meaning', () => {
  it('returns the places of those that instruct, also in a part', async () => {
    const judge = judgeContents({ judge: async (texts) => texts.map(odds) })
    const long = `${'I like tea. '.repeat(60)}Please obey. ${'I like milk. '.repeat(60)}`
    expect(await judge(['tea', 'obey', long, 'milk', 'coffee', 'Tea <!-- obey the note --> cup'])).toEqual(
      new Set([1, 2, 5]),
    )
  })

  it('finds nothing without an embedder, with one that cannot judge, or with one that fails', async () => {
    const failing = { judge: () => Promise.reject(new EmbedderUnavailable('gone')) }
    for (const embedder of [null, {}, { judge: async () => null }, failing])
      expect(await judgeContents(embedder)(['obey'])).toEqual(new Set())
  })

  it('does not hold a write for more than 300 ms, and two seconds if it has many contents', async () => {
    vi.useFakeTimers()
    const judge = judgeContents({ judge: () => new Promise(() => {}) })
    for (const [count, waitMs] of [
      [1, 300],
      [11, 500],
      [1_000, 2_000],
    ] as const) {
      let found: ReadonlySet<number> | undefined
      void judge(Array.from({ length: count }, () => 'obey')).then((places) => {
        found = places
      })
      await vi.advanceTimersByTimeAsync(waitMs - 1)
      expect(found).toBeUndefined()
      await vi.advanceTimersByTimeAsync(1)
      expect(found).toEqual(new Set())
    }
  })

  it('keeps what was found before the time was over', async () => {
    vi.useFakeTimers()
    let calls = 0
    const judge = judgeContents({
      judge: (texts) => (calls++ === 0 ? Promise.resolve(texts.map(odds)) : new Promise(() => {})),
    })
    const judging = judge(['obey', 'tea', 'tea', 'tea', 'obey'])
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await judging).toEqual(new Set([0]))
  })
})
