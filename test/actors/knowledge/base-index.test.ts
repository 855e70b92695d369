import { expect, it } from 'vitest'
import { sourceRows } from '#actors/knowledge/kinds.ts'
import { BaseIndex } from '#actors/knowledge/search/base-index.ts'
import { StoredSources } from '#actors/knowledge/search/stored-sources.ts'
import { SourceBlobs } from '#actors/knowledge/sources/source-blobs.ts'
import { sourcesOf } from '#actors/knowledge/sources/source-rows.ts'
import { projectScope } from '#storage/scope.ts'
import { openServices } from '#test/support/open-services.ts'

const facts = { project: 'prj_a', tenant: null, user: null, version: 1, created_at: 1, updated_at: 1, expires_at: null }

it('an index that reads the rows of many sources does not hold the event loop', async () => {
  const { storage, records, clock } = await openServices()
  const sources = 400
  for (let n = 0; n < sources; n++) {
    const data = { knowledge_base_id: 'kb_a', base_status: 'kb_a ready', status: 'ready', metadata: {}, document: null }
    await records.insert(sourceRows, { ...facts, id: `ksr_${n}`, data })
  }
  let turns = 0
  let now = 0
  const index = new BaseIndex({
    blobs: new SourceBlobs(storage.blobs, clock.now),
    breathe: async () => void turns++,
    stored: new StoredSources({ project: 'prj_a', base: 'kb_a', vectors: null, steady: () => 0 }),
    // each reading of the clock is a millisecond after the last one
    steady: () => now++,
  })
  expect(await index.update(sourcesOf(records, projectScope('prj_a'), 'kb_a'), null)).toHaveLength(sources)
  expect(turns).toBeGreaterThan(sources / 10)
})
