import { pino } from 'pino'
import { expect, it } from 'vitest'
import { kinds } from '#actors/capabilities.ts'
import type { MemoryOwner } from '#actors/memory/memory-owner.ts'
import type { MemoryParts } from '#actors/memory/open-memory.ts'
import { pause, systemClock } from '#runtime/index.ts'
import type { RecordStore } from '#storage/ports.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { plainMemory } from '../scripted-memory.ts'

const ada: MemoryOwner = { project: 'prj_1', tenant: null, user: 'ada' }
const place = { scope: 'user', session: null, namespace: null } as const
const host: MemoryParts['host'] = Object({ rows: { shown: async () => {} } })

/** Records whose store answers after some time, as one on another machine. */
const distant = (records: RecordStore, latencyMs: number): RecordStore =>
  new Proxy(records, {
    get: (target, name: keyof RecordStore) => {
      const method: unknown = target[name]
      if (typeof method !== 'function') return method
      return async (...given: unknown[]) => {
        await pause(systemClock, latencyMs)
        return Reflect.apply(method, target, given)
      }
    },
  })

it('two nodes with uneven numbers of waiting writes of one memory take turns, so that none is refused', async () => {
  const storage = openMemoryStorage({ now: Date.now })
  await storage.records.prepare(kinds)
  const log = pino({ level: 'silent' })
  const node = () => plainMemory({ storage, records: distant(storage.records, 2), host, clock: systemClock, log })
  const [busy, quiet] = [node(), node()]
  const write = (memory: typeof busy, content: string) =>
    memory.writer.write(ada, [{ content, place }], { source: 'write', seed: null })
  const many = Array.from({ length: 200 }, (_, at) => write(busy, `Note ${at} is about something.`))
  let waiting = many.length
  for (const each of many) void each.then(() => waiting--)
  const few = Array.from({ length: 5 }, (_, at) => write(quiet, `Remark ${at} is about another thing.`))
  expect((await Promise.all(few)).map(({ memories }) => memories.length)).toEqual([1, 1, 1, 1, 1])
  expect(waiting).toBeGreaterThan(100)
  expect((await Promise.all(many)).every(({ memories }) => memories.length === 1)).toBe(true)
}, 60_000)
