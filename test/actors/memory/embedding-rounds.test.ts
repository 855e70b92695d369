import { pino } from 'pino'
import { expect, it } from 'vitest'
import { kinds } from '#actors/capabilities.ts'
import type { MemoryEmbedder } from '#actors/memory/embedding/embedders.ts'
import { memories } from '#actors/memory/kinds.ts'
import type { MemoryParts } from '#actors/memory/open-memory.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { plainMemory } from './scripted-memory.ts'

const host: MemoryParts['host'] = Object({ rows: { shown: async () => {} } })
const place = { scope: 'user', session: null, namespace: null } as const

it('gives the memories of a project their vectors while the embedder of another project hangs', async () => {
  const clock = new VirtualClock()
  const storage = { ...openMemoryStorage({ now: clock.now }), leases: null }
  await storage.records.prepare(kinds)
  let embedderOf: MemoryParts['embedderOf'] = async () => null
  const log = pino({ level: 'silent' })
  const parts = { storage, records: storage.records, host, clock, log }
  const memory = plainMemory({ ...parts, embedderOf: (project) => embedderOf(project) })
  for (const project of ['prj_1', 'prj_2'])
    await memory.writer.write({ project, tenant: null, user: 'ada' }, [{ place, content: 'Ada keeps bees' }], {
      ...{ source: 'write', seed: null },
    })
  await clock.advance(60_000)
  const embedder = (isHanging: boolean): MemoryEmbedder => ({
    id: 'late',
    embed: async (texts) =>
      isHanging
        ? new Promise(() => {})
        : { vectors: texts.map(() => new Float32Array([1, 0])), costUsd: 0, model: null, provider: null },
  })
  embedderOf = async (project) => embedder(project === 'prj_1')
  void memory.rounds.round()
  const embedded = async (project: string) =>
    (await storage.records.list(memories, projectScope(project), { limit: 10 })).map(({ data }) => data.embedder)
  await expect.poll(() => embedded('prj_2')).toEqual(['late'])
  expect(await embedded('prj_1')).toEqual([null])
})
