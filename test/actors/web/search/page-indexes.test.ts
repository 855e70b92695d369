import { expect, it, vi } from 'vitest'
import { covers } from '#actors/indexing/segment-refs.ts'
import { Table } from '#actors/records/table.ts'
import { webCorpora, webKinds } from '#actors/web/kinds.ts'
import { PageIndexes } from '#actors/web/search/page-indexes.ts'
import { pagesPlace } from '#actors/web/store/page-changes.ts'
import { PageStore } from '#actors/web/store/page-store.ts'
import { IndexBound } from '#retrieval/index.ts'
import { projectScope } from '#storage/index.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { PlacedNodes } from '#test/support/placed-nodes.ts'
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

it.each([
  ['a process has ended before it changed any', false],
  ['a revision has no segment', true],
])('are compared once where %s, and found with all that was noted', async (_, isLacking) => {
  const clock = new VirtualClock()
  const { records, blobs } = openMemoryStorage({ now: clock.now })
  await records.prepare(webKinds)
  const store = new PageStore(records, blobs, { now: clock.now })
  for (const name of ['one', 'two']) {
    await store.save('prj_a', page(name).url, page(name))
    await store.changed('prj_a')
  }
  const place = pagesPlace('prj_a')
  await store.changes.make(place, () => Promise.reject(new Error('killed'))).catch(() => {})
  const states = new Table(records, webCorpora, clock.now)
  const revision = isLacking ? 3 : 2
  await states.change(projectScope('prj_a'), place.id, { edit: ({ data }) => ({ ...data, revision }) })
  const indexes = new PageIndexes({ store, clock })
  const compared = vi.spyOn(store, 'all')
  await clock.advance(61_000)
  for (let seen = 0; seen < 5; seen++) {
    expect((await indexes.of('prj_a')).size).toBe(2)
    await clock.advance(1_000)
  }
  expect(compared).toHaveBeenCalledTimes(1)
  const state = await store.changes.state(place)
  expect(state?.changing).toEqual({})
  expect(state?.revision).toBe(isLacking ? 4 : 2)
  expect(covers(state?.segments ?? [], { after: 0, to: state?.revision ?? 0 })).toBe(true)
})

it('are made anew when a part of a segment is damaged', async () => {
  const clock = new VirtualClock()
  const { records, blobs } = openMemoryStorage({ now: clock.now })
  await records.prepare(webKinds)
  const writer = new PageStore(records, blobs, { now: clock.now })
  await writer.save('prj_a', page('one').url, page('one'))
  await writer.changed('prj_a')
  const written = new Set(await blobs.hashes('prj_a', null, 100))
  const bytes = async (project: string, name: string) => {
    const content = await blobs.bytes(project, name)
    return content !== null && written.has(name) ? Buffer.concat([content, Buffer.alloc(8)]) : content
  }
  const damaged = new PageStore(records, { ...blobs, bytes }, { now: clock.now })
  expect((await new PageIndexes({ store: damaged, clock }).of('prj_a')).size).toBe(1)
  expect((await new PageIndexes({ store: writer, clock }).of('prj_a')).size).toBe(1)
})

it('three nodes read nothing for nine of ten searches of projects whose indexes are four times what one may keep', async () => {
  const clock = new VirtualClock()
  const { records, blobs } = openMemoryStorage({ now: clock.now })
  await records.prepare(webKinds)
  const store = new PageStore(records, blobs, { now: clock.now })
  const projects = Array.from({ length: 200 }, (_, n) => `prj_${n}`)
  for (const project of projects) {
    await store.save(project, page('one').url, page('one'))
    await store.changed(project)
  }
  const maxBytes = ((await new PageIndexes({ store, clock }).of('prj_0')).bytes * projects.length) / 4
  const together = new PlacedNodes()
  const three = [1, 2, 3].map(() => {
    const counted = { reads: 0 }
    const bytes = (project: string, name: string) => {
      if (name.endsWith('.documents.0')) counted.reads++
      return blobs.bytes(project, name)
    }
    const own = new PageStore(records, { ...blobs, bytes }, { now: clock.now })
    const indexes = new PageIndexes({ store: own, clock, bound: new IndexBound(maxBytes) })
    const placed = together.join()
    placed.serve('size', async ({ project }) => ({ size: (await indexes.of(String(project))).size }))
    const sizeOf = (project: string) =>
      placed.run({
        ...{ service: 'size', key: project, input: () => ({ project }) },
        here: async () => (await indexes.of(project)).size,
        answered: ({ size }) => Number(size),
      })
    return { counted, indexes, sizeOf }
  })
  // the nth project is searched in proportion to 1/n
  const weights = projects.map((_, n) => 1 / (n + 1))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let [state, before] = [1, 0]
  const searches = 3_000
  const reads = () => three.reduce((sum, { counted }) => sum + counted.reads, 0)
  for (let n = 0; n < 2 * searches; n++) {
    if (n === searches) before = reads()
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    let left = (state / 2 ** 32) * total
    const at = weights.findIndex((weight) => {
      left -= weight
      return left <= 0
    })
    expect(await three[n % 3]?.sizeOf(projects[at] ?? 'prj_0')).toBe(1)
    for (const { indexes } of three) expect(indexes.bytes).toBeLessThanOrEqual(maxBytes)
  }
  expect(1 - (reads() - before) / searches).toBeGreaterThan(0.9)
})
