import { text as textIn } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { BaseAccess } from '#actors/knowledge/access/base-access.ts'
import { contentOf } from '#actors/knowledge/index/source-facts.ts'
import { sourceRows } from '#actors/knowledge/kinds.ts'
import { FoundChunks } from '#actors/knowledge/search/found-chunks.ts'
import { SourceBlobs } from '#actors/knowledge/sources/source-blobs.ts'
import { sourceUseCases } from '#actors/knowledge/sources/source-use-cases.ts'
import { Table } from '#records/table.ts'
import { projectScope } from '#storage/scope.ts'
import { callOf, openWorld } from '../sessions/harness.ts'

/** Texts of three blobs, whose boundaries split a pair of surrogates, and chunks of several. */
const written = Array.from({ length: 2_300 }, (_, n) => `# ${n}\n\n${'🦦 an otter '.repeat(80)}of part ${n}.`).join(
  '\n\n',
)

const opened = async () => {
  const { host, storage, clock, runtime } = await openWorld()
  const access = new BaseAccess(storage.records, clock.now)
  await access.bases.insert({
    id: 'kb_a',
    project: 'prj_a',
    data: { name: 'A', description: null, tenant_id: null, metadata: {} },
  })
  const blobs = new SourceBlobs(storage.blobs, clock.now)
  const guard = { content: { check: () => {}, request: () => Promise.reject(new Error('no network')) } }
  const useCases = sourceUseCases({ host, storage, access, blobs, guard: Object(guard), changed: () => {}, clock })
  const base = { knowledge_base_id: 'kb_a' }
  const made = await useCases['knowledge_sources.create'](callOf(base, {}, { text: written, metadata: {} }))
  const at = { ...base, source_id: made.id }
  const get = () => useCases['knowledge_sources.get'](callOf(at, {}, undefined))
  await expect.poll(async () => (await get()).status).toBe('ready')
  await host.rows.shown()
  return { useCases, storage, blobs, at, get, close: () => runtime.drain(0) }
}

it('the text of a long source and the pages of its chunks are those of the whole text', async () => {
  const { useCases, at, get, close } = await opened()
  const { bytes } = await useCases['knowledge_sources.text'](callOf(at, {}, undefined))
  expect((await textIn(Object(bytes))) === written).toBe(true)
  const wrong: string[] = []
  let [read, end] = [0, 0]
  for (let cursor: string | null = '0'; cursor !== null; ) {
    const query = { limit: 93, cursor }
    const page = await useCases['knowledge_sources.chunks'](callOf(at, query, undefined))
    for (const chunk of page.data) {
      if (chunk.content !== written.slice(chunk.start, chunk.end) || chunk.start < end) wrong.push(chunk.id)
      end = chunk.end
    }
    read += page.data.length
    cursor = page.next_cursor
  }
  expect([read, end, wrong]).toEqual([(await get()).chunk_count, written.length, []])
  expect(read).toBeGreaterThan(2_000)
  await close()
})

it('searches that find parts of a long text at the same time read the parts that they show, and each once', async () => {
  const { useCases, storage, blobs, at, close } = await opened()
  const { data: first } = await useCases['knowledge_sources.chunks'](callOf(at, { limit: 100 }, undefined))
  const { data: last } = await useCases['knowledge_sources.chunks'](
    callOf(at, { limit: 100, cursor: '2200' }, undefined),
  )
  const rows = await new Table(storage.records, sourceRows, Date.now).getMany(projectScope('prj_a'), [at.source_id])
  const row = rows.get(at.source_id)
  if (row === undefined) throw new Error('the source has no row')
  const found = new FoundChunks({ blobs, indexes: Object({ rows: async () => rows }) })
  const place = (passage: string) => ({
    source: row.id,
    order: Number(passage),
    facts: { content: contentOf(row.data) },
  })
  const { get } = storage.blobs
  const read: string[] = []
  storage.blobs.get = async (...name) => {
    if (name[1].includes('txt')) read.push(name[1])
    return get.apply(storage.blobs, name)
  }
  const search = async (passage: string) =>
    (await found.read('prj_a', Object({ placeOf: place }), [passage])).get(passage)?.content
  const searches = ['7', '2207', '99', '2299'].map(search)
  expect(await Promise.all(searches)).toEqual([first[7], last[7], first[99], last[99]].map((each) => each?.content))
  const { length } = row.data.document?.text ?? []
  expect(read.length).toBeLessThanOrEqual(length + searches.length)
  read.length = 0
  expect(await search('8')).toBe(first[8]?.content)
  expect(read).toEqual([])
  await close()
})
