import { afterEach, describe, expect, it, vi } from 'vitest'
import type { MemoryEmbedder } from '#actors/memory/embedding/embedders.ts'
import { readerOf } from '#actors/memory/embedding/memory-reader.ts'
import { EmbedderUnavailable } from '#retrieval/embedder.ts'

afterEach(() => {
  vi.useRealTimers()
})

type Read = NonNullable<MemoryEmbedder['read']>

const embedder = (read?: Read): MemoryEmbedder => ({
  id: 'local/made',
  embed: async () => ({ vectors: [], costUsd: 0, model: null, provider: null }),
  ...(read !== undefined && { read }),
})

const rowsOf = async (ids: readonly string[]) =>
  new Map(ids.filter((id) => id !== 'gone').map((id) => [id, `text ${id}`]))

describe('reading memories for a search', () => {
  it('returns the odds of the memories that still exist', async () => {
    const read: Read = async (_, texts) => texts.map((text) => text.length)
    expect(await readerOf(embedder(read), 'Which?', rowsOf)?.(['a', 'gone', 'bcd'])).toEqual(
      new Map([
        ['a', 6],
        ['bcd', 8],
      ]),
    )
  })

  it('is not possible with an embedder that cannot, nor for a question of more than 1,000 characters', () => {
    expect(readerOf(embedder(), 'Which?', rowsOf)).toBeUndefined()
    expect(
      readerOf(
        embedder(async () => []),
        'x'.repeat(1_001),
        rowsOf,
      ),
    ).toBeUndefined()
  })

  it('returns nothing when the model ends or fails', async () => {
    const failing: Read = async () => {
      throw new EmbedderUnavailable('it ended')
    }
    expect(await readerOf(embedder(failing), 'Which?', rowsOf)?.(['a'])).toEqual(new Map())
  })

  it('does not wait longer than half a second', async () => {
    vi.useFakeTimers()
    const found = readerOf(
      embedder(() => new Promise(() => undefined)),
      'Which?',
      rowsOf,
    )?.(['a'])
    await vi.advanceTimersByTimeAsync(500)
    expect(await found).toEqual(new Map())
  })
})
