import { expect, it } from 'vitest'
import { SourceBlobs } from '#actors/knowledge/sources/source-blobs.ts'
import { sourceDefinition } from '#machines/knowledge-source/knowledge-source-definition.ts'
import { newId } from '#runtime/ids.ts'
import { contextOf } from '#runtime/schema.ts'
import { projectScope } from '#specs/scope.ts'
import { openWorld } from '../sessions/harness.ts'
import { readText } from './scripted-sources.ts'

it('a document of one project is read while fifty of another project wait', async () => {
  const release = Promise.withResolvers<void>()
  let held = 0
  let most = 0
  const read = async (bytes: Uint8Array) => {
    if (!Buffer.from(bytes).toString().startsWith('slow')) return readText(bytes)
    most = Math.max(most, ++held)
    await release.promise
    held--
    return readText(bytes)
  }
  const { host, storage, clock, runtime } = await openWorld({ documents: { read } })
  const blobs = new SourceBlobs(storage.blobs, clock.now)
  const what = { mime_type: 'text/plain', filename: null }
  const place = { knowledge_base_id: 'kb_a', created_by: null, type: 'text', title: null, url: null }
  const create = async (project: string, text: string) => {
    const source_id = newId('ksr')
    const owner = { project, tenant: null, user: null, createdAt: clock.now() }
    const upload = await blobs.putUpload({ ...owner, source: source_id }, Buffer.from(text), what)
    const input = { ...place, ...what, refresh_interval_s: null, metadata: {}, source_id, upload, mime_type: null }
    await host.create({ kind: sourceDefinition, id: source_id, owner, input, cause: source_id })
    return async () => {
      const { state } = await host.find(projectScope(project), sourceDefinition, source_id)
      const { document, error } = contextOf(sourceDefinition, state.snapshot)
      return error?.code ?? document?.chunk_count
    }
  }
  const slow = await Promise.all(Array.from({ length: 50 }, (_, n) => create('prj_a', `slow document ${n}`)))
  const other = await create('prj_b', 'A short document.')
  await expect.poll(other).toBe(1)
  release.resolve()
  for (const each of slow) await expect.poll(each, { timeout: 10_000 }).toBe(1)
  expect(most).toBe(4)
  await runtime.drain(0)
})
