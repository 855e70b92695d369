import { expect, it } from 'vitest'
import { sourceRows } from '#actors/knowledge/kinds.ts'
import { SourceBlobs } from '#actors/knowledge/sources/source-blobs.ts'
import { sourceDefinition } from '#machines/knowledge-source/knowledge-source-definition.ts'
import { newId } from '#runtime/ids.ts'
import { contextOf } from '#runtime/schema.ts'
import { maxChunks } from '#specs/resources/knowledge/knowledge-limits.ts'
import { projectScope } from '#specs/scope.ts'
import { openWorld } from '../sessions/harness.ts'

it('a source fails if it exceeds the maximum number of chunks of its knowledge base', async () => {
  const { host, storage, clock, runtime } = await openWorld()
  const owner = { project: 'prj_a', tenant: null, user: null, createdAt: clock.now() }
  const document = { text: [], chunks: [], characters: 1, chunk_count: maxChunks, page_count: null, title: null }
  const data = { knowledge_base_id: 'kb_a', base_status: 'kb_a ready', status: 'ready', metadata: {}, document }
  const facts = { ...owner, version: 1, created_at: 1, updated_at: 1, expires_at: null }
  await storage.records.insert(sourceRows, { ...facts, id: newId('ksr'), data })
  const source_id = newId('ksr')
  const blobs = new SourceBlobs(storage.blobs, clock.now)
  const what = { mime_type: 'text/plain', filename: null }
  const upload = await blobs.putUpload({ ...owner, source: source_id }, Buffer.from('One more.'), what)
  const input = {
    ...{
      source_id,
      knowledge_base_id: 'kb_a',
      created_by: null,
      type: 'text',
      title: null,
      url: null,
      refresh_interval_s: null,
    },
    ...{ metadata: {}, upload, filename: null, mime_type: null },
  }
  await host.create({ kind: sourceDefinition, id: source_id, owner, input, cause: 'first' })
  await expect
    .poll(async () => {
      const { state } = await host.find(projectScope('prj_a'), sourceDefinition, source_id)
      return contextOf(sourceDefinition, state.snapshot).error?.code
    })
    .toBe('too_many_chunks')
  await runtime.drain(0)
})
