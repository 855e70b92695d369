import { text as textIn } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { BaseAccess } from '#actors/knowledge/access/base-access.ts'
import { SourceBlobs } from '#actors/knowledge/sources/source-blobs.ts'
import { sourceUseCases } from '#actors/knowledge/sources/source-use-cases.ts'
import { callOf, openWorld } from '../sessions/harness.ts'

/** Texts of three blobs, whose boundaries split a pair of surrogates, and chunks of several. */
const written = Array.from({ length: 2_300 }, (_, n) => `# ${n}\n\n${'🦦 an otter '.repeat(80)}of part ${n}.`).join(
  '\n\n',
)

it('the text of a long source and the pages of its chunks are those of the whole text', async () => {
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
  await runtime.drain(0)
})
