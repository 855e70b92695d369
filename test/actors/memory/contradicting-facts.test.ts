import { pino } from 'pino'
import { expect, it } from 'vitest'
import { kinds } from '#actors/capabilities.ts'
import { givenFacts } from '#actors/memory/memory-use-cases.ts'
import type { MemoryParts } from '#actors/memory/open-memory.ts'
import { cpuMs } from '#test/support/cpu-ms.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { plainMemory } from './scripted-memory.ts'

const host: MemoryParts['host'] = Object({ rows: { shown: async () => {} } })
const place = { scope: 'user', session: null, namespace: null } as const
const owner = { project: 'prj_1', tenant: null, user: 'ada' }

it('compares hundreds of contradicting facts of each memory of a batch within seconds', async () => {
  const clock = new VirtualClock()
  const storage = { ...openMemoryStorage({ now: clock.now }), leases: null }
  await storage.records.prepare(kinds)
  const memory = plainMemory({ storage, records: storage.records, host, clock, log: pino({ level: 'silent' }) })
  const factsOf = (n: number) =>
    Array.from({ length: 200 }, (_, f) => ({
      subject: 'Ada',
      relation: 'lives_in',
      object: `Town ${n}-${f}`,
      single: true,
    }))
  const items = Array.from({ length: 30 }, (_, n) => ({
    ...{ place, content: `Towns of trip ${n}.` },
    facts: givenFacts(factsOf(n), { text: 'Towns', at: clock.now() }),
  }))
  const before = cpuMs()
  const { memories } = await memory.writer.write(owner, items, { source: 'write', seed: null })
  expect(memories).toHaveLength(30)
  expect(cpuMs() - before).toBeLessThan(4_000)
})
