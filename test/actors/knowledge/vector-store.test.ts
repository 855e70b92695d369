import { expect, it } from 'vitest'
import { storeDocument } from '#actors/knowledge/sources/document-store.ts'
import { SourceBlobs } from '#actors/knowledge/sources/source-blobs.ts'
import { embedDocument, vectorsOf } from '#actors/knowledge/sources/vector-store.ts'
import type { Embedder } from '#retrieval/embedder.ts'
import { chunksOf } from '#src/parsing/documents/chunk.ts'
import { openHouse } from '#test/support/open-house.ts'

const owner = { project: 'prj_a', tenant: null, source: 'ksr_01m7yttzjhsxjpptb3mj7638ba' }
const signal = new AbortController().signal

/** Counts what it embeds, and fails after `most` texts. */
const counting = (id: string, most = Number.POSITIVE_INFINITY) => {
  const embedded: string[] = []
  const embedder: Embedder = {
    id,
    dimensions: 2,
    embed: async (texts) => {
      if (embedded.length + texts.length > most) throw new Error('it does not answer')
      embedded.push(...texts)
      return texts.map(() => new Float32Array([0.6, 0.8]))
    },
  }
  return { embedder, embedded }
}

const store = async (parts: number) => {
  const { storage, clock } = await openHouse()
  const blobs = new SourceBlobs(storage.blobs, clock.now)
  const documentOf = (text: string) =>
    storeDocument(blobs, owner, { title: null, text, page_count: null, chunks: [...chunksOf(text)] })
  const sections = Array.from({ length: parts }, (_, n) => `# Part ${n}\n\nWords of part ${n}.`)
  return { blobs, documentOf, sections, document: await documentOf(sections.join('\n\n')) }
}

it('embedDocument embeds every chunk once', async () => {
  const { blobs, document } = await store(70)
  const { embedder, embedded } = counting('one')
  const vectors = await embedDocument(blobs, embedder, { owner, document, before: null, signal })
  expect(vectors).toMatchObject({ embedder: 'one', count: 70 })
  expect((await vectorsOf(blobs, owner, vectors)).size).toBe(70)
  await embedDocument(blobs, embedder, { owner, document, before: null, signal })
  expect(embedded).toHaveLength(70)
})

it('embedDocument continues where it was when an embedder failed', async () => {
  const { blobs, document } = await store(1200)
  const failing = counting('one', 1100)
  await expect(embedDocument(blobs, failing.embedder, { owner, document, before: null, signal })).rejects.toThrow()
  const { embedder, embedded } = counting('one')
  const vectors = await embedDocument(blobs, embedder, { owner, document, before: null, signal })
  expect((await vectorsOf(blobs, owner, vectors)).size).toBe(1200)
  expect(embedded).toHaveLength(200)
})

it('embedDocument keeps the vectors of unchanged chunks, unless the embedder is another one', async () => {
  const { blobs, document, documentOf, sections } = await store(40)
  const { embedder, embedded } = counting('one')
  const before = await embedDocument(blobs, embedder, { owner, document, before: null, signal })
  const edited = await documentOf(sections.with(7, '# Part 7\n\nOther words.').join('\n\n'))
  await embedDocument(blobs, embedder, { owner, document: edited, before, signal })
  expect(embedded).toHaveLength(41)
  const other = counting('two')
  const vectors = await embedDocument(blobs, other.embedder, { owner, document: edited, before, signal })
  expect(other.embedded).toHaveLength(40)
  expect(vectors.embedder).toBe('two')
})
