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
  const { records } = openMemoryStorage({ now: clock.now })
  await records.prepare(webKinds)
  const [here, there] = [new PageStore(records, clock.now), new PageStore(records, clock.now)]
  const indexes = new PageIndexes(here, clock)
  const titles = async () => [...(await indexes.of('prj_a')).rows.values()].map(({ data }) => data.title).toSorted()

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
