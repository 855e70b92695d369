import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { pino } from 'pino'
import { afterAll, describe, expect, it } from 'vitest'
import { kinds } from '#actors/capabilities.ts'
import type { MemoryEmbedder } from '#actors/memory/embedding/embedders.ts'
import { memories } from '#actors/memory/kinds.ts'
import type { MemoryOwner } from '#actors/memory/memory-owner.ts'
import { settingsOf } from '#actors/memory/memory-settings.ts'
import type { NewMemory } from '#actors/memory/memory-writer.ts'
import type { MemoryParts, OpenMemory } from '#actors/memory/open-memory.ts'
import { factsIn } from '#actors/memory/understanding.ts'
import { systemClock } from '#runtime/clock.ts'
import { newId } from '#runtime/ids.ts'
import type { Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { drawnOf } from '#test/setup/at-night.ts'
import { openPatientMongo } from '#test/storage/mongo-patience.ts'
import { MemoryLeases } from '#test/support/memory/leases.ts'
import { plainMemory } from './scripted-memory.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-memory-'))
const url = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/'
const database = `memory_${randomBytes(6).toString('hex')}`

const stores: readonly (readonly [string, () => Storage | Promise<Storage>])[] = [
  ['sqlite', () => openSqliteStorage({ path: join(folder, 'memory.db') })],
  ['mongo', () => openPatientMongo({ url, database })],
]

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  const client = new MongoClient(url)
  await client.db(database).dropDatabase()
  await client.close()
})

const place = { scope: 'user', session: null, namespace: null } as const
const anywhere = { scope: null, session: null, namespace: null } as const

const host: MemoryParts['host'] = Object({ rows: { shown: async () => {} } })

const nodeOn = (storage: Storage, more: Partial<MemoryParts> = {}): OpenMemory =>
  plainMemory({
    // as of a store of several processes
    storage: { ...storage, leases: new MemoryLeases(Date.now) },
    ...{ records: storage.records, host, clock: systemClock, log: pino({ level: 'silent' }) },
    ...more,
  })

const write = async (node: OpenMemory, owner: MemoryOwner, items: readonly Omit<NewMemory, 'place'>[]) =>
  (
    await node.writer.write(
      owner,
      items.map((item) => ({ place, ...item })),
      { source: 'write', seed: null, wait: true },
    )
  ).memories

const search = async (node: OpenMemory, owner: MemoryOwner, text: string, threshold = 0.7) => {
  const query = { text, place: anywhere, limit: 5, threshold, asOf: null, graph: false }
  return (await node.search.search(owner, query)).results
}

/** A vector by the letters of a text; `turned` selects another vector space. */
const embedder = (id: string, turned: number): MemoryEmbedder => ({
  id,
  embed: async (texts) => ({
    vectors: texts.map((text) => {
      const vector = new Float32Array(32)
      for (const letter of text.toLowerCase()) {
        const at = (letter.charCodeAt(0) + turned) % 32
        vector[at] = (vector[at] ?? 0) + 1
      }
      const length = Math.hypot(...vector) || 1
      return vector.map((value) => value / length)
    }),
    ...{ costUsd: 0, model: id, provider: 'test' },
  }),
})

describe.each(drawnOf(stores, stores.length))('memory of several nodes on %s', (_, open) => {
  const prepared = async () => {
    const storage = await open()
    await storage.records.prepare(kinds)
    const owner = { project: newId('prj'), tenant: null, user: 'ada' }
    return { storage, owner }
  }

  it('is found on another node once it is written, and no longer found there once it is deleted', async () => {
    const { storage, owner } = await prepared()
    const [one, other] = [nodeOn(storage), nodeOn(storage)]
    expect(await search(other, owner, 'bees')).toEqual([])
    const [bees] = await write(one, owner, [{ content: 'Ada keeps bees' }])
    expect(await search(other, owner, 'Who keeps bees?')).toMatchObject([{ id: bees?.id }])
    const [cello] = await write(other, owner, [{ content: 'Ada plays the cello' }])
    expect(await search(one, owner, 'Who plays the cello?')).toMatchObject([{ id: cello?.id }])
    await one.forget(owner, [cello?.id ?? ''])
    expect(await search(other, owner, 'cello', 0)).not.toContainEqual(expect.objectContaining({ id: cello?.id }))
    expect(await search(other, owner, 'bees')).toHaveLength(1)
  })

  it('is not returned once its row is deleted, by whatever path', async () => {
    const { storage, owner } = await prepared()
    const node = nodeOn(storage)
    const [bees] = await write(node, owner, [{ content: 'Ada keeps bees' }])
    await storage.records.remove(memories, projectScope(owner.project), bees?.id ?? '')
    expect(await search(node, owner, 'bees')).toEqual([])
  })

  it('does not grow with 1,000 exchanges of the same content', async () => {
    const { storage, owner } = await prepared()
    const node = nodeOn(storage)
    const text = 'I live in Oslo.'
    for (let n = 0; n < 1000; n++) {
      const facts = await factsIn(text, { observedAt: Date.now(), speaker: null })
      await write(node, owner, [{ content: text, facts, byFacts: true }])
    }
    expect(await storage.records.count(memories, projectScope(owner.project))).toBe(1)
  })

  it('has 100 current facts after 100 contradictions, and the history of each', async () => {
    const { storage, owner } = await prepared()
    const node = nodeOn(storage)
    const living = (town: string, observedAt: number) =>
      Array.from({ length: 100 }, (_person, n) => ({
        ...{ content: `Person ${n} lives in ${town}`, observedAt, byFacts: true },
        facts: [
          {
            ...{ subject: `Person ${n}`, relation: 'lives_in', object: town, single: true, ended: false },
            ...{ valid_from_ms: observedAt, valid_to_ms: null, observed_at_ms: observedAt },
            text: `Person ${n} lives in ${town}`,
          },
        ],
      }))
    for (const [town, at] of [
      ['Paris', 1_700_000_000_000],
      ['Oslo', 1_750_000_000_000],
    ] as const)
      for (const half of [living(town, at).slice(0, 50), living(town, at).slice(50)]) await write(node, owner, half)
    const rows = await storage.records.list(memories, projectScope(owner.project), { limit: 300 })
    const current = rows.filter(({ data }) => data.valid_to_ms === null)
    expect(rows).toHaveLength(200)
    expect(current).toHaveLength(100)
    expect(current.every(({ data }) => String(data.content).endsWith('Oslo'))).toBe(true)
    const ended = rows.filter(({ data }) => data.valid_to_ms === 1_750_000_000_000)
    expect(new Set(ended.map(({ data }) => data.superseded_by)).size).toBe(100)
  })

  it.each([1, 2, 10])('fills its quota exactly in 60 simultaneous writes of %i memories each', async (size) => {
    const { storage, owner } = await prepared()
    const limit = 25
    const node = nodeOn(storage, { settings: async () => settingsOf({ stored_limit: limit }) })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) => {
        const items = Array.from({ length: size }, (_item, at) => ({ content: `User ${n} has thing ${at}` }))
        return write(node, { ...owner, user: `user-${n}` }, items)
      }),
    )
    const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    expect(refused).toHaveLength(60 - Math.floor(limit / size))
    for (const error of refused) expect(error).toMatchObject({ code: 'memory_quota_exceeded' })
    const stored = await storage.records.count(memories, projectScope(owner.project))
    expect(stored).toBe(limit - (limit % size))
  })

  it('fills a quota of 2,000 exactly in 40 simultaneous batches beyond the stored memories', async () => {
    const { storage, owner } = await prepared()
    const limit = 2_000
    const node = nodeOn(storage, { settings: async () => settingsOf({ stored_limit: limit }) })
    const batch = (n: number, size: number) =>
      write(
        node,
        { ...owner, user: `user-${n}` },
        Array.from({ length: size }, (_, at) => ({ content: `User ${n} has thing ${at}` })),
      )
    for (let n = 100; n < 124; n++) await batch(n, 50)
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, (_, n) => batch(n, 50)))
    const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    for (const error of refused) expect(error).toMatchObject({ code: 'memory_quota_exceeded' })
    expect(await storage.records.count(memories, projectScope(owner.project))).toBe(limit)
    expect(refused).toHaveLength(24)
    await expect(batch(200, 1)).rejects.toMatchObject({
      code: 'memory_quota_exceeded',
      details: { extra: { used: limit } },
    })
  })

  it('gets vectors after the write, and new ones when the embedder changes', async () => {
    const { storage, owner } = await prepared()
    const first = nodeOn(storage, { embedderOf: async () => embedder('first', 0) })
    const [id] = (await write(first, owner, [{ content: 'Ada keeps bees' }])).map((written) => written.id)
    const embedderIn = async () =>
      (await storage.records.get(memories, projectScope(owner.project), id ?? ''))?.data.embedder
    expect(await embedderIn()).toBe('first')
    expect(await search(first, owner, 'Ada keeps bees')).toMatchObject([{ id, source: 'vector' }])
    const second = nodeOn(storage, { embedderOf: async () => embedder('second', 5) })
    await search(second, owner, 'bees')
    await expect.poll(embedderIn).toBe('second')
  })

  it('gets vectors of a new embedder without a search, page by page, and continues in the next process', async () => {
    const { storage, owner } = await prepared()
    const contents = Array.from({ length: 150 }, (_, n) => `Ada has read volume ${n}`)
    const items = contents.map((content) => ({ content }))
    await write(nodeOn(storage), owner, items)
    // memories of the last moments belong to the queue
    const clock = { ...systemClock, now: () => Date.now() + 60_000 }
    const lookups = [new Map<string, number>(), new Map<string, number>()]
    const nodeWith = (made: Map<string, number> | undefined, max: number) => {
      const { id, embed } = embedder('new', 3)
      const counting: MemoryEmbedder = {
        id,
        embed: async (texts, kind, whose) => {
          if ((made?.size ?? 0) + texts.length > max) return new Promise(() => {})
          for (const text of texts) made?.set(text, (made.get(text) ?? 0) + 1)
          return embed(texts, kind, whose)
        },
      }
      const isOurs = (project: string) => project === owner.project
      return nodeOn(storage, { clock, now: clock.now, isOurs, embedderOf: async () => counting })
    }
    void nodeWith(lookups[0], 70).rounds.round()
    await expect.poll(() => lookups[0]?.size).toBe(64)
    const embeddersNow = async () => {
      const rows = await storage.records.list(memories, projectScope(owner.project), { limit: 300 })
      return rows.map(({ data }) => data.embedder)
    }
    await expect.poll(async () => (await embeddersNow()).filter((each) => each === 'new').length).toBe(64)
    await nodeWith(lookups[1], 1_000).rounds.round()
    expect(new Set(await embeddersNow())).toEqual(new Set(['new']))
    expect([...(lookups[1]?.keys() ?? [])].filter((text) => lookups[0]?.has(text))).toEqual([])
    expect([...(lookups[1]?.values() ?? [])].every((times) => times === 1)).toBe(true)
  })
})
