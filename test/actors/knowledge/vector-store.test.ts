import { expect, it } from 'vitest'
import { storeDocument, chunksOf as storedChunksOf } from '#actors/knowledge/sources/document-store.ts'
import { SourceBlobs } from '#actors/knowledge/sources/source-blobs.ts'
import { embedDocument, lacksVectors, leadVectors, vectorsOf } from '#actors/knowledge/sources/vector-store.ts'
import type { Embedder } from '#retrieval/embedder.ts'
import { leadsOf } from '#retrieval/leads.ts'
import { textOfVector } from '#retrieval/vector-bytes.ts'
import { systemClock } from '#runtime/clock.ts'
import { isId, timeOfId } from '#runtime/index.ts'
import { chunksOf } from '#src/parsing/documents/chunk.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import type { BlobVectors } from '#storage/search/vector-port.ts'
import { openServices } from '#test/support/open-services.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const owner = { project: 'prj_a', tenant: null, source: 'ksr_01m7yttzjhsxjpptb3mj7638ba' }
const signal = new AbortController().signal

/** Counts what it embeds, and fails after `max` texts. */
const counting = (id: string, max = Number.POSITIVE_INFINITY) => {
  const embedded: string[] = []
  const embedder: Embedder = {
    id,
    dimensions: 2,
    embed: async (texts) => {
      if (embedded.length + texts.length > max) throw new Error('it does not answer')
      embedded.push(...texts)
      return texts.map(() => new Float32Array([0.6, 0.8]))
    },
  }
  return { embedder, embedded }
}

const store = async (parts: number) => {
  const { storage, clock } = await openServices()
  const blobs = new SourceBlobs(storage.blobs, clock.now)
  const documentOf = (text: string) =>
    storeDocument(blobs, owner, { title: null, text, page_count: null, chunks: [...chunksOf(text)] })
  const sections = Array.from({ length: parts }, (_, n) => `# Part ${n}\n\nWords of part ${n}.`)
  const pagedOf = (texts: readonly string[]) => {
    const whole = texts.join('')
    const pages = texts.map((_, at) => ({ page: at + 1, start: texts.slice(0, at).join('').length }))
    return storeDocument(blobs, owner, {
      ...{ title: null, text: whole, page_count: pages.length, chunks: [...chunksOf(whole, pages)] },
    })
  }
  return { blobs, documentOf, pagedOf, sections, document: await documentOf(sections.join('\n\n')) }
}

it('chunks have ids like those of resources, which sort by the creation of their source', async () => {
  const { blobs, document } = await store(3)
  const ids: string[] = []
  for await (const chunks of storedChunksOf(blobs, owner, document)) ids.push(...chunks.map(({ id }) => id))
  expect(new Set(ids).size).toBe(3)
  expect(ids.filter((id) => isId(id, 'chk') && timeOfId(id) === timeOfId(owner.source))).toEqual(ids)
})

it('embedDocument embeds every chunk once', async () => {
  const { blobs, document } = await store(70)
  const { embedder, embedded } = counting('one')
  const vectors = await embedDocument(blobs, embedder, { owner, document, before: null, clock: systemClock, signal })
  expect(vectors).toMatchObject({ embedder: 'one', count: 70 })
  expect((await vectorsOf(blobs, owner, vectors)).size).toBe(70)
  await embedDocument(blobs, embedder, { owner, document, before: null, clock: systemClock, signal })
  expect(embedded).toHaveLength(70)
})

it.each([
  ['no', 0, 1],
  ['all', 1, 0],
  ['two of all, as a process that was killed may leave,', 2, 1],
])('embedDocument stores vectors for a search by the database that has %s copies', async (_, copies, times) => {
  const { blobs, document } = await store(70)
  const put: number[] = []
  const vectors = {
    count: async (_project: string, blob: string) => (blob.endsWith('.leads') ? 0 : copies * 70),
    put: async (stored: BlobVectors) => void put.push(...(stored.vectors.length > 0 ? [stored.vectors.length] : [])),
  }
  const searchable = { vectors, base: 'kb_1', embedder: 'one', log: { warn: () => {} } }
  await embedDocument(blobs, counting('one').embedder, {
    owner,
    document,
    before: null,
    searchable,
    clock: systemClock,
    signal,
  })
  expect(put).toEqual(Array.from({ length: times }, () => 70))
})

it('embedDocument continues where it was when an embedder failed', async () => {
  const { blobs, document } = await store(1200)
  const failing = counting('one', 1100)
  await expect(
    embedDocument(blobs, failing.embedder, { owner, document, before: null, clock: systemClock, signal }),
  ).rejects.toThrow()
  const { embedder, embedded } = counting('one')
  const vectors = await embedDocument(blobs, embedder, { owner, document, before: null, clock: systemClock, signal })
  expect((await vectorsOf(blobs, owner, vectors)).size).toBe(1200)
  expect(embedded).toHaveLength(200)
})

it('embedDocument embeds every chunk once, however long the store refuses the vectors', async () => {
  const { blobs, document } = await store(70)
  const { embedder, embedded } = counting('one')
  const clock = new VirtualClock()
  const { putKeyed } = blobs
  blobs.putKeyed = () => Promise.reject(new StoreUnavailable('away'))
  const embedding = embedDocument(blobs, embedder, { owner, document, before: null, clock, signal })
  embedding.catch(() => {})
  await clock.advance(60_000)
  blobs.putKeyed = putKeyed
  await clock.advance(5_000)
  expect((await embedding).count).toBe(70)
  expect(embedded).toHaveLength(70)
})

it('embedDocument keeps the vectors of unchanged chunks, unless the embedder is another one', async () => {
  const { blobs, document, documentOf, sections } = await store(40)
  const { embedder, embedded } = counting('one')
  const before = await embedDocument(blobs, embedder, { owner, document, before: null, clock: systemClock, signal })
  const edited = await documentOf(sections.with(7, '# Part 7\n\nOther words.').join('\n\n'))
  await embedDocument(blobs, embedder, { owner, document: edited, before, clock: systemClock, signal })
  expect(embedded).toHaveLength(41)
  const other = counting('two')
  const vectors = await embedDocument(blobs, other.embedder, {
    owner,
    document: edited,
    before,
    clock: systemClock,
    signal,
  })
  expect(other.embedded).toHaveLength(40)
  expect(vectors.embedder).toBe('two')
})

const pageOf = (n: number, rows = 1): string =>
  Array.from(
    { length: rows },
    (_, row) => `Page${String.fromCodePoint(0x4e00 + n)} row ${row} ${'1 '.repeat(300)}\n\n`,
  ).join('')

it('embedDocument also embeds the lead of each page, and after an edit only changed ones', async () => {
  const { blobs, pagedOf } = await store(1)
  const { embedder, embedded } = counting('one')
  const pages = Array.from({ length: 400 }, (_, n) => pageOf(n, 2))
  const document = await pagedOf(pages)
  const vectors = await embedDocument(blobs, embedder, { owner, document, before: null, clock: systemClock, signal })
  expect(vectors).toMatchObject({ count: 800, leads: true })
  expect(embedded).toHaveLength(1200)
  expect(embedded.filter((text) => text.length <= 100)).toHaveLength(400)
  expect(leadVectors(await vectorsOf(blobs, owner, vectors)).size).toBe(400)
  embedded.length = 0
  const edited = await pagedOf(pages.with(7, pageOf(1007, 2)))
  await embedDocument(blobs, embedder, { owner, document: edited, before: vectors, clock: systemClock, signal })
  expect(embedded).toHaveLength(3)
})

it('embedDocument embeds only the leads where an earlier release embedded the chunks', async () => {
  const { blobs, pagedOf } = await store(1)
  const document = await pagedOf([pageOf(1), pageOf(2)])
  const { embedder, embedded } = counting('one')
  const old: (readonly [id: string, vector: string])[] = []
  for await (const chunks of storedChunksOf(blobs, owner, document))
    old.push(...chunks.map(({ id }) => [id, textOfVector(new Float32Array([1, 0]))] as const))
  const parts = [await blobs.putKeyed(owner, 'vec', { key: 'old', text: JSON.stringify(old) })]
  const before = { embedder: 'one', parts, count: 2 }
  const vectors = await embedDocument(blobs, embedder, { owner, document, before, clock: systemClock, signal })
  expect(embedded).toEqual(leadsOf([pageOf(1), pageOf(2)]))
  expect((await vectorsOf(blobs, owner, vectors)).get(old[0]?.[0] ?? '')).toBe(old[0]?.[1])
})

it.each([
  ['no vectors', null, true],
  ['those of another embedder', { embedder: 'two', leads: true as const }, true],
  ['those of its chunks only', { embedder: 'one' }, true],
  ['those of chunks and pages', { embedder: 'one', leads: true as const }, false],
])('a document with pages that has %s lacks vectors: %#', async (_, some, lacks) => {
  const { pagedOf, document: plain } = await store(1)
  const vectors = some === null ? null : { parts: [], count: 2, ...some }
  expect(lacksVectors({ document: await pagedOf([pageOf(1)]), vectors }, 'one')).toBe(lacks)
  expect(lacksVectors({ document: plain, vectors }, 'one')).toBe(vectors?.embedder !== 'one')
})

it('embedDocument embeds a changed document again after a kill that followed the removal of its earlier vectors', async () => {
  const { blobs, documentOf, document } = await store(3)
  const { embedder } = counting('one')
  const before = await embedDocument(blobs, embedder, { owner, document, before: null, clock: systemClock, signal })
  const next = await documentOf('# Other\n\nOther words.')
  const made = await embedDocument(blobs, embedder, { owner, document: next, before, clock: systemClock, signal })
  await blobs.keepOnly(owner, [...next.text, ...next.chunks, ...made.parts], signal)
  expect(await embedDocument(blobs, embedder, { owner, document: next, before, clock: systemClock, signal })).toEqual(
    made,
  )
  expect((await vectorsOf(blobs, owner, before)).size).toBe(0)
})

it('an embedding that was aborted removes nothing of the content that is read meanwhile', async () => {
  const { blobs, documentOf, document } = await store(3)
  const abort = new AbortController()
  abort.abort()
  const next = await documentOf('Read meanwhile.')
  await blobs.keepOnly(owner, [...document.text, ...document.chunks], abort.signal)
  expect(await blobs.has(owner, [...document.text, ...document.chunks, ...next.text, ...next.chunks])).toBe(true)
  await blobs.keepOnly(owner, [...document.text, ...document.chunks], signal)
  expect(await blobs.has(owner, [...document.text, ...document.chunks])).toBe(true)
  expect(await blobs.has(owner, next.text)).toBe(false)
})
