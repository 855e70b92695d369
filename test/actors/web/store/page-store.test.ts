import { expect, it } from 'vitest'
import { webKinds, webPages } from '#actors/web/kinds.ts'
import { pagesPlace } from '#actors/web/store/page-changes.ts'
import { type NewPage, PageStore } from '#actors/web/store/page-store.ts'
import { boundRecords } from '#records/bound-records.ts'
import { maxCorpusPages } from '#specs/resources/web/web-limits.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const url = 'https://example.com/page'
const page: NewPage = {
  ...{ url, canonical_url: url, title: 'Page', description: '', text: 'Words.', passages: [], follow: true },
  ...{ content_hash: 'h', language: null, embedder: null, links: [], published_at: null, modified_at: null },
  ...{ retrieved_at: 1, etag: null, last_modified: null },
}

it('keeps no page that is taken down while it is stored, whether it is new or known', async () => {
  const { records, blobs } = openMemoryStorage({ now: Date.now })
  await records.prepare(webKinds)
  const store = new PageStore(records, blobs, { now: Date.now })
  const takeDown = () => store.block('prj_a', url, 'wtd_1')
  const late: typeof records = {
    ...boundRecords(records),
    insert: async (kind, row) => {
      if (kind === webPages) await takeDown()
      return records.insert(kind, row)
    },
  }
  expect(await new PageStore(late, blobs, { now: Date.now }).save('prj_a', url, page)).toBe('taken_down')
  expect(await store.find('prj_a', url)).toBeNull()
  expect(await store.save('prj_a', url, page)).toBe('taken_down')
  expect(await store.find('prj_a', url)).toBeNull()
  expect(await store.save('prj_b', url, page)).toMatchObject({ data: { title: 'Page' } })
})

it('keeps no more pages than a project may have when pages are stored at the same time', async () => {
  const { records, blobs } = openMemoryStorage({ now: Date.now })
  await records.prepare(webKinds)
  const almostFull: typeof records = {
    ...boundRecords(records),
    count: async (...counted) => maxCorpusPages.inMemory - 3 + (await records.count(...counted)),
  }
  const store = new PageStore(almostFull, blobs, { now: Date.now })
  const save = (_: unknown, n: number) => store.save('prj_a', `${url}-${n}`, page)
  const saved = await Promise.all(Array.from({ length: 20 }, save))
  expect(saved.filter((each) => each === 'corpus_full')).toHaveLength(17)
  expect(await records.count(webPages, projectScope('prj_a'), {})).toBe(3)
})

it('makes known what it stored before a change failed, and leaves that one to be found later', async () => {
  const { records, blobs } = openMemoryStorage({ now: Date.now })
  await records.prepare(webKinds)
  const failing: typeof records = {
    ...boundRecords(records),
    insert: async (kind, row) => {
      if (kind === webPages && row.data.title === 'Failing') throw new StoreUnavailable('away')
      return records.insert(kind, row)
    },
  }
  const store = new PageStore(failing, blobs, { now: Date.now })
  await store.save('prj_a', url, page)
  await expect(store.save('prj_a', `${url}-2`, { ...page, title: 'Failing' })).rejects.toThrow(StoreUnavailable)
  await store.changed('prj_a')
  const state = await store.changes.state(pagesPlace('prj_a'))
  expect(state?.segments?.map(({ documents }) => documents)).toEqual([1])
  expect(Object.keys(state?.changing ?? {})).toHaveLength(1)
})

it('removes from segments what a process had removed that was killed before it noted it, when a takedown is repeated', async () => {
  const { records, blobs } = openMemoryStorage({ now: Date.now })
  await records.prepare(webKinds)
  const [killed, store] = [0, 1].map(() => new PageStore(records, blobs, { now: Date.now }))
  await store?.save('prj_a', url, page)
  await store?.save('prj_a', `${url}-2`, page)
  await store?.changed('prj_a')
  expect(await killed?.block('prj_a', url, 'wtd_1')).toBe(true)
  expect(await store?.block('prj_a', url, 'wtd_1')).toBe(false)
  await store?.purge('prj_a')
  const state = await store?.changes.state(pagesPlace('prj_a'))
  expect(state?.segments?.map(({ documents }) => documents).filter((count) => count > 0)).toEqual([1])
})

it('announces a bounded number of removals at once', async () => {
  const { records, blobs } = openMemoryStorage({ now: Date.now })
  await records.prepare(webKinds)
  const store = new PageStore(records, blobs, { now: Date.now })
  for (let n = 0; n < 250; n++) await store.save('prj_a', `${url}-${n}`, page)
  await store.changed('prj_a')
  const announced: number[] = []
  for await (const row of store.all('prj_a')) {
    await store.remove(row)
    const { removing = {} } = (await store.changes.state(pagesPlace('prj_a'))) ?? {}
    announced.push(Object.values(removing).flat().length)
  }
  expect(Math.max(...announced)).toBeLessThanOrEqual(200)
})
