import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../scripts/services/server.ts'
import { sized } from './extent.ts'
import { type MemoryApi, memoryApi } from './memory-api.ts'
import type { Row } from './row.ts'

const key = `csk_${'k'.repeat(40)}`
const words = 'river cello garden winter engine lantern harbour violet copper meadow tunnel saffron'.split(' ')

const contentOf = (n: number): string =>
  `Note ${n}: the ${words[n % 12]} near the ${words[(n * 7) % 12]} was seen by ${words[(n * 5) % 12]} club member ${n}`

/**
 * Measures batch writes of memories over HTTP, searches in a large scope, and the first search after a restart. SQLite,
 * one process, lexical search only.
 */
export const benchMemory = async ({ seconds }: { readonly seconds: number }): Promise<readonly Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'))
  let server = await startServer({ DATA_DIR: folder, BOOTSTRAP_SECRET_KEY: key })
  try {
    const size = sized(10_000, 200)
    const post = memoryApi(server.url, key)
    for (let n = 0; n < size; n += 50) await post('write/batch', batchOf('large', n))
    const writes = await writesOf(post, seconds)
    const times = await searchTimes(post, sized(1_000, 20))
    await server.kill9()
    server = await server.restart()
    const began = performance.now()
    await memoryApi(server.url, key)('search', { userId: 'large', query: 'Who saw the lantern near the harbour?' })
    const first = performance.now() - began
    const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0
    return [
      {
        measure: 'durable writes in batches of 50, 8 at a time',
        ours: writes,
        unit: '/s',
        bound: { of: 'ours', atLeast: 2_000 },
      },
      { measure: `search among ${size}, median`, ours: at(0.5), unit: 'ms' },
      { measure: `search among ${size}, p99`, ours: at(0.99), unit: 'ms', bound: { of: 'ours', atMost: 15 } },
      {
        measure: `first search among ${size} after a restart`,
        ours: first,
        unit: 'ms',
        bound: { of: 'ours', atMost: 300 },
      },
    ]
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const batchOf = (userId: string, first: number) => ({
  userId,
  memories: Array.from({ length: 50 }, (_, n) => ({ content: contentOf(first + n) })),
})

const writesOf = async (post: MemoryApi, seconds: number): Promise<number> => {
  const began = performance.now()
  const until = began + seconds * 1000
  let written = 0
  const writer = async (_: unknown, who: number): Promise<void> => {
    for (let n = 0; performance.now() < until; n += 50) {
      await post('write/batch', batchOf(`writer ${who}`, n))
      written += 50
    }
  }
  await Promise.all(Array.from({ length: 8 }, writer))
  return (written * 1000) / (performance.now() - began)
}

const searchTimes = async (post: MemoryApi, count: number): Promise<readonly number[]> => {
  const times: number[] = []
  for (let n = 0; n < count; n++) {
    const began = performance.now()
    await post('search', { userId: 'large', query: `What was seen near the ${words[n % 12]} by member ${n}?` })
    times.push(performance.now() - began)
  }
  return times.toSorted((a, b) => a - b)
}
