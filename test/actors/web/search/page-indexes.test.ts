import { expect, it } from 'vitest'
import { webKinds } from '#actors/web/kinds.ts'
import { PageIndexes } from '#actors/web/search/page-indexes.ts'
import { PageStore } from '#actors/web/store/page-store.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const page = (name: string) => ({
  ...{ url: `https://example.com/${name}`, canonical_url: `https://example.com/${name}`, title: name },
  ...{ description: '', text: `Words of ${name}.`, passages: [], follow: true },
  ...{ content_hash: name, language: null, embedder: null, links: [], published_at: null, modified_at: null },
  ...{ retrieved_at: 1, etag: null, last_modified: null },
})

it("sees another node's changes of pages, also those of a node that ended before it noted them", async () => {
  const clock = new VirtualClock()
  const { records, blobs } = openMemoryStorage({ now: clock.now })
  await records.prepare(webKinds)
  const [here, there] = [
    new PageStore(records, blobs, { now: clock.now }),
    new PageStore(records, blobs, { now: clock.now }),
  ]
  const indexes = new PageIndexes({ store: here, clock })
  const titles = async () => {
    const rows = await indexes.rows('prj_a', [...(await indexes.of('prj_a')).ids])
    return [...rows.values()].map(({ data }) => data.title).toSorted()
  }

  const forbidden = await there.save('prj_a', page('one').url, page('one'))
  await there.changed('prj_a')
  expect(await titles()).toEqual(['one'])
  await there.save('prj_a', page('two').url, page('two'))
  await there.changed('prj_a')
  await clock.advance(1_000)
  expect(await titles()).toEqual(['one', 'two'])

  await clock.advance(20_000)
  if (typeof forbidden === 'string') throw new Error(forbidden)
  await there.remove(forbidden)
  await there.save('prj_a', page('three').url, page('three'))
  await clock.advance(30_000)
  await titles()
  await clock.advance(31_000)
  expect(await titles()).toEqual(['three', 'two'])
})

it('keeps the indexes of the projects that are searched most: with room for three fifths of them, nine of ten searches read nothing', async () => {
  const clock = new VirtualClock()
  const { records, blobs } = openMemoryStorage({ now: clock.now })
  await records.prepare(webKinds)
  let reads = 0
  const get = (project: string, name: string) => {
    if (name.endsWith('.documents.0')) reads++
    return blobs.get(project, name)
  }
  const store = new PageStore(records, { ...blobs, get }, { now: clock.now })
  const projects = Array.from({ length: 200 }, (_, n) => `prj_${n}`)
  for (const project of projects) {
    await store.save(project, page('one').url, page('one'))
    await store.changed(project)
  }
  const each = (await new PageIndexes({ store, clock }).of('prj_0')).bytes
  reads = 0
  const maxBytes = 120 * each
  const indexes = new PageIndexes({ store, clock, maxBytes })
  // the nth project is searched in proportion to n^-1.2
  const weights = projects.map((_, n) => (n + 1) ** -1.2)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let state = 1
  const searches = 4_000
  for (let n = 0; n < searches; n++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    let left = (state / 2 ** 32) * total
    const at = weights.findIndex((weight) => {
      left -= weight
      return left <= 0
    })
    await indexes.of(projects[at] ?? 'prj_0')
    expect(indexes.bytes).toBeLessThanOrEqual(maxBytes)
  }
  expect(1 - reads / searches).toBeGreaterThan(0.9)
})
