import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { afterAll, describe, expect, it } from 'vitest'
import { knowledgeIndexes, knowledgeKinds, sourceRows } from '#actors/knowledge/kinds.ts'
import { chunksOf } from '#actors/knowledge/sources/document-store.ts'
import { vectorsOf } from '#actors/knowledge/sources/vector-store.ts'
import { rowOf } from '#records/schema.ts'
import { PassageIndex, vectorOfText } from '#retrieval/index.ts'
import { newId } from '#runtime/ids.ts'
import { type BlobStore, projectScope, type Storage } from '#storage/index.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { drawnOf } from '#test/setup/at-night.ts'
import { openPatientMongo } from '#test/storage/mongo-patience.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { baseOf, embedder, nodeOn, queries } from './made-sources.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-base-segments-'))
const url = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/'
const database = `base_segments_${randomBytes(6).toString('hex')}`

const stores: readonly (readonly [string, () => Storage | Promise<Storage>])[] = [
  ['memory', () => openMemoryStorage()],
  ['sqlite', () => openSqliteStorage({ path: join(folder, 'segments.db') })],
  ['mongo', () => openPatientMongo({ url, database })],
]

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  const client = new MongoClient(url)
  await client.db(database).dropDatabase()
  await client.close()
})

const counted = (blobs: BlobStore) => {
  const counts = { read: 0, written: 0 }
  const bytes = async (project: string, name: string) => {
    const content = await blobs.bytes(project, name)
    counts.read += content?.length ?? 0
    return content
  }
  const put = (project: string, name: string, content: string | Uint8Array) => {
    counts.written += content.length
    return blobs.put(project, name, content)
  }
  const get: BlobStore['get'] = (...named) => blobs.get(...named)
  const hashes: BlobStore['hashes'] = (...listed) => blobs.hashes(...listed)
  const remove: BlobStore['remove'] = (...removed) => blobs.remove(...removed)
  return { counts, blobs: { get, bytes, put, hashes, remove } }
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)

const stateId = (project: string) => `kix_${project.slice(4)}`

const stateOf = async ({ records }: Storage, project: string) =>
  Object((await records.get(knowledgeIndexes, projectScope(project), stateId(project)))?.data)

/** What all segments of a project contain. */
const stored = async (storage: Storage, project: string): Promise<string> => {
  const contents: string[] = []
  for (const name of await storage.blobs.hashes(project, null, 10_000))
    if (name.includes('wsg_'))
      contents.push(Buffer.from((await storage.blobs.bytes(project, name)) ?? []).toString('latin1'))
  return contents.join('\n')
}

/** What an index in the process finds to which each chunk is added, without segments: the definition of a search. */
const expected = async (node: ReturnType<typeof nodeOn>, project: string) => {
  const index = new PassageIndex('document')
  for (const record of await node.records.list(sourceRows, projectScope(project), { limit: 500, ascending: true })) {
    const row = rowOf(sourceRows, record)
    const owner = { project, tenant: null, source: row.id }
    const { document, vectors } = row.data
    if (document === null || vectors === null) continue
    const text = await node.sources.text(owner, document.text)
    const known = await vectorsOf(node.sources, owner, vectors)
    let order = 0
    for await (const some of chunksOf(node.sources, owner, document))
      for (const { id, start, end, page } of some) {
        const vector = vectorOfText(known.get(id) ?? '')
        index.add({ id, text: text.slice(start, end), group: row.id, order: order++, page, at: 1, vector })
      }
    index.nameGroup(row.id, document.title ?? '')
  }
  const all = []
  for (const query of queries) {
    const [vector = null] = await embedder.embed([query])
    const topic = index.topicOf(query)
    const [meant = null] = topic === null ? [] : await embedder.embed([topic])
    const question = {
      text: query,
      vector,
      topic: meant,
      embedder: embedder.id,
      limit: 20,
      now: Date.now(),
      explain: true,
    }
    all.push((await index.search(question)).hits)
  }
  return all
}

describe.each(drawnOf(stores, stores.length))('the index of a base in the segments of %s', (_, open) => {
  const opened = async () => {
    const storage = await open()
    await storage.records.prepare(knowledgeKinds)
    return { storage, project: newId('prj') }
  }

  it('finds what an index of all chunks in the process finds, with the same scores, after changes by two processes', async () => {
    const { storage, project } = await opened()
    const [one, other] = [nodeOn(storage, project), nodeOn(storage, project)]
    for (let n = 0; n < 10; n++) await Promise.all([one.save([n]), other.save([n + 20])])
    await Promise.all([one.save([3, 4], 2), other.save([25], 3)])
    await other.remove(28)
    await one.of()
    await other.of()
    const started = nodeOn(storage, project)
    const [found, wanted] = [await started.hits(), await expected(started, project)]
    expect((await started.of()).size).toBe(19)
    for (const [at, hits] of found.entries()) {
      const scores = new Map(wanted[at]?.map(({ id, score }) => [id, score]))
      expect(hits.map(({ chunk_id }) => chunk_id).toSorted()).toEqual([...scores.keys()].toSorted())
      for (const { chunk_id, score } of hits) expect(score).toBeCloseTo(scores.get(chunk_id) ?? -1, 6)
    }
    const filtered = await started.search(queries[0] ?? '', started.base, { fields: { n: 1 } })
    expect(new Set(filtered.data.map(({ metadata }) => metadata.n))).toEqual(new Set([1]))
    await storage.close()
  })

  it('reads and writes for a change what the change has, not the base', async () => {
    const { storage, project } = await opened()
    const [written, read] = [counted(storage.blobs), counted(storage.blobs)]
    const writer = nodeOn(storage, project, { blobs: written.blobs })
    await writer.save(range(0, 150))
    await writer.of()
    const reader = nodeOn(storage, project, { blobs: read.blobs })
    await reader.of()
    const whole = read.counts.read
    written.counts.written = 0
    read.counts.read = 0
    await writer.save([150])
    await writer.of()
    reader.indexes.changed(reader.base)
    expect((await reader.of()).size).toBe(151)
    expect(written.counts.written).toBeLessThan(whole / 10)
    expect(read.counts.read).toBeLessThan(whole / 10)
    await storage.close()
  })

  it('has no word of a removed source once its segments were merged, and another project never reads its bytes', async () => {
    const { storage, project } = await opened()
    const node = nodeOn(storage, project)
    await node.save(range(0, 6))
    await node.write([await node.rowOf(7, { text: 'The zyzzyva of the quokka has a xylophone. '.repeat(30) })])
    await node.of()
    expect(await stored(storage, project)).toMatch(/zyzzyva/)
    expect((await node.search('zyzzyva')).data[0]?.content).toMatch(/quokka/)
    const foreign = nodeOn(storage, newId('prj'))
    expect((await foreign.search('zyzzyva')).data).toEqual([])
    await node.remove(7)
    expect((await node.search('zyzzyva')).data.filter(({ content }) => content.includes('quokka'))).toEqual([])
    await expect.poll(() => stored(storage, project), { timeout: 20_000 }).not.toMatch(/zyzzyva|quokka|xylophone/)
    expect((await nodeOn(storage, project).of()).size).toBe(6)
    await node.indexes.remove({ project, tenant: null, base: baseOf(project) })
    expect(await stored(storage, project)).toBe('')
    await storage.close()
  })

  it('is whole again after a process died between its rows and their segment, a segment was lost, or has another format', async () => {
    const { storage, project } = await opened()
    const node = nodeOn(storage, project)
    await node.save(range(0, 8))
    await node.of()
    const dying = nodeOn(storage, project)
    await dying.save([8], 1, false)
    await dying.save([5], 2, false)
    expect((await nodeOn(storage, project).of()).size).toBe(8)
    const late = { now: () => Date.now() + 61_000 }
    expect((await nodeOn(storage, project, late).of()).size).toBe(9)
    const [lost] = (await storage.blobs.hashes(project, null, 1_000)).filter((name) => name.includes('wsg_'))
    await storage.blobs.remove(project, lost ?? '')
    for (const again of [nodeOn(storage, project), nodeOn(storage, project)]) expect((await again.of()).size).toBe(9)
    const row = await storage.records.get(knowledgeIndexes, projectScope(project), stateId(project))
    if (row === null) throw new Error('the index has no state')
    const { segments } = await stateOf(storage, project)
    const older = segments.map((ref: object) => ({ ...ref, format: 1 }))
    await storage.records.replace(knowledgeIndexes, {
      ...{ ...row, version: row.version + 1 },
      data: { ...row.data, segments: older },
    })
    expect((await nodeOn(storage, project).of()).size).toBe(9)
    expect((await stateOf(storage, project)).segments.map(({ format }: { format: number }) => format)).not.toContain(1)
    await storage.records.remove(knowledgeIndexes, projectScope(project), stateId(project))
    expect((await nodeOn(storage, project).of()).size).toBe(9)
    await storage.close()
  })
})

it('a node keeps the indexes of the bases that are searched most: with room for three fifths, nine of ten searches read nothing', async () => {
  const storage = openMemoryStorage()
  await storage.records.prepare(knowledgeKinds)
  const bases = Array.from({ length: 100 }, (_, n) => `kb_${n}`)
  const project = 'prj_a'
  const writer = nodeOn(storage, project, { isEmbedded: false })
  await writer.write(await Promise.all(bases.map((of) => writer.rowOf(1, { of }))))
  const place = (of: string) => ({ project, tenant: null, base: of })
  for (const of of bases) await writer.indexes.of(place(of))
  const each = writer.indexes.bytes / bases.length
  const { counts, blobs } = counted(storage.blobs)
  const maxBytes = 60 * each
  const node = nodeOn(storage, project, { isEmbedded: false, blobs, maxBytes })
  // the nth base is searched in proportion to n^-1.2
  const weights = bases.map((_, n) => (n + 1) ** -1.2)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let [state, misses] = [1, 0]
  const searches = 4_000
  for (let n = 0; n < searches; n++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    let left = (state / 2 ** 32) * total
    const at = weights.findIndex((weight) => {
      left -= weight
      return left <= 0
    })
    counts.read = 0
    await node.indexes.of(place(bases[at] ?? ''))
    if (counts.read > 0) misses++
    expect(node.indexes.bytes).toBeLessThanOrEqual(maxBytes * 1.01)
  }
  expect(1 - misses / searches).toBeGreaterThan(0.9)
})
