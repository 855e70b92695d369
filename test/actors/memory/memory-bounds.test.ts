import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { MemoryEmbedder } from '#actors/memory/embedding/embedders.ts'
import { EmbeddingQueue, maxWaitingJobs } from '#actors/memory/embedding/embedding-queue.ts'
import { MemoryChanges } from '#actors/memory/indexes/memory-changes.ts'
import { UserMemoryIndexes } from '#actors/memory/indexes/user-memory-indexes.ts'
import { type MemoryData, memories, memoryChanges } from '#actors/memory/kinds.ts'
import { Table } from '#records/table.ts'
import { IndexBound } from '#retrieval/index-cache.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const ownerOf = (user: string) => ({ project: 'prj_1', tenant: null, user })

const memoryOf = (user: string, liked: string) => {
  const plain = {
    scope: 'user',
    session_id: null,
    namespace: null,
    importance: 0.5,
    pinned: false,
    metadata: {},
  } as const
  const made = { source: 'write', speaker: null, receipt: null, redacted: [], facts: [], observed_at_ms: 1 }
  const open = { valid_from_ms: null, valid_to_ms: null, superseded_by: null, embedder: null, vector: null }
  const data: MemoryData = {
    ...{ owner: `/${user}`, content: `${user} likes ${liked}`, used_at_ms: null, versions: [] },
    ...{ ...plain, ...made, ...open },
  }
  return { id: `mem_${user}${liked === 'tea' ? '' : liked}`, project: 'prj_1', tenant: null, user, data }
}

describe('what memory holds in a process', () => {
  it('contains the most recently used indexes, within its limit of bytes', async () => {
    const clock = new VirtualClock()
    const { records } = openMemoryStorage({ now: clock.now })
    await records.prepare([memories])
    const table = new Table(records, memories, clock.now)
    for (const user of ['ada', 'bob', 'eve']) await table.insert(memoryOf(user, 'tea'))
    const embedderOf = async () => null
    const projects = { note: async () => {} }
    const parts = { records, now: clock.now, embedderOf, projects, unembedded: () => {} }
    const indexes = new UserMemoryIndexes({
      recover: async () => {},
      ...parts,
      bound: new IndexBound(12_000),
    })
    for (const user of ['ada', 'bob', 'ada', 'eve']) {
      await clock.advance(1_000)
      expect((await indexes.open(ownerOf(user))).size).toBe(1)
    }
    expect(['ada', 'bob', 'eve'].map((user) => indexes.known(ownerOf(user)) !== undefined)).toEqual([true, false, true])
    expect((await indexes.open(ownerOf('bob'))).size).toBe(1)
  })

  it('is compared with the store every ten minutes, and only what was not announced is analysed', async () => {
    const clock = new VirtualClock()
    const { records } = openMemoryStorage({ now: clock.now })
    await records.prepare([memories, memoryChanges])
    const table = new Table(records, memories, clock.now)
    for (const liked of ['tea', 'rain', 'snow']) await table.insert(memoryOf('ada', liked))
    const indexes = new UserMemoryIndexes({
      ...{ records, now: clock.now, embedderOf: async () => null, projects: { note: async () => {} } },
      ...{ recover: async () => {}, unembedded: () => {}, changes: new MemoryChanges(records, clock.now) },
    })
    const index = await indexes.open(ownerOf('ada'))
    const { revision } = index
    await clock.advance(601_000)
    expect(await indexes.open(ownerOf('ada'))).toBe(index)
    expect(index.revision).toBe(revision)
    await table.insert(memoryOf('ada', 'jazz'))
    await table.remove(projectScope('prj_1'), 'mem_adarain')
    await table.change(projectScope('prj_1'), 'mem_ada', { edit: ({ data }) => ({ ...data, pinned: true }) })
    await clock.advance(601_000)
    const ids = Array.from((await indexes.open(ownerOf('ada'))).entries(), ({ id }) => id)
    expect(ids.toSorted()).toEqual(['mem_ada', 'mem_adajazz', 'mem_adasnow'])
    expect(index.get('mem_ada')?.pinned).toBe(true)
    // one is new, one removed, and one replaced
    expect(index.revision).toBe(revision + 4)
  })

  it('has a limited number of memories that wait for vectors', async () => {
    const clock = new VirtualClock()
    const { records } = openMemoryStorage({ now: clock.now })
    const waits = new Promise<null>(() => {})
    const log = pino({ level: 'silent' })
    const queue = new EmbeddingQueue({ records, clock, log, embedderOf: () => waits, embedded: async () => {} })
    for (let n = 0; n < maxWaitingJobs; n++) void queue.add(ownerOf('ada'), [`mem_${n}`])
    expect(await queue.add(ownerOf('ada'), ['mem_beyond'])).toEqual({ costUsd: 0, model: null, provider: null })
    queue.close()
  })

  it('gets vectors at once, however many memories of another project wait for an embedder that fails or hangs', async () => {
    const clock = new VirtualClock()
    const { records } = openMemoryStorage({ now: clock.now })
    await records.prepare([memories])
    const table = new Table(records, memories, clock.now)
    for (const user of ['ada', 'bob', 'eve']) await table.insert({ ...memoryOf(user, 'tea'), project: `prj_${user}` })
    const hangs = new Promise<null>(() => {})
    const embedder: MemoryEmbedder = {
      id: 'one',
      embed: async () => ({ vectors: [new Float32Array([1])], costUsd: 0, model: 'one', provider: null }),
    }
    const embedderOf = async (project: string) => {
      if (project === 'prj_ada') throw new Error('it fails')
      return project === 'prj_bob' ? hangs : embedder
    }
    const log = pino({ level: 'silent' })
    const queue = new EmbeddingQueue({ records, clock, log, embedderOf, embedded: async () => {} })
    const add = (user: string) => queue.add({ ...ownerOf(user), project: `prj_${user}` }, [`mem_${user}`])
    for (let n = 0; n < 100; n++) void Promise.all([add('ada'), add('bob')])
    let model: string | null = null
    void add('eve').then((embedded) => {
      model = embedded.model
    })
    await clock.advance(0)
    expect(model).toBe('one')
    queue.close()
  })
})
