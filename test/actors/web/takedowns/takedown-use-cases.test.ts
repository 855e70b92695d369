import { beforeEach, describe, expect, it } from 'vitest'
import { webKinds } from '#actors/web/kinds.ts'
import { PageStore } from '#actors/web/store/page-store.ts'
import { takedownUseCases } from '#actors/web/takedowns/takedown-use-cases.ts'
import { callOf } from '#test/support/call-of.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const url = 'https://example.com/page'
const requester = { requesterName: 'Ann', requesterEmail: 'ann@example.com' }

let store: PageStore
let useCases: ReturnType<typeof takedownUseCases>
/** The use-cases of another node of the same store. */
let elsewhere: typeof useCases
let takedown_id = ''

beforeEach(async () => {
  const { records, blobs } = openMemoryStorage({ now: Date.now })
  await records.prepare(webKinds)
  store = new PageStore(records, blobs, { now: Date.now })
  useCases = takedownUseCases({ records, store, dropped: async () => {}, now: Date.now })
  elsewhere = takedownUseCases({
    records,
    store: new PageStore(records, blobs, { now: Date.now }),
    dropped: async () => {},
    now: Date.now,
  })
  await store.save('prj_a', url, {
    ...{ url, canonical_url: url, title: 'Page', description: '', text: 'Words.', passages: [], follow: true },
    ...{ content_hash: 'h', language: null, embedder: null, links: [], published_at: null, modified_at: null },
    ...{ retrieved_at: 1, etag: null, last_modified: null },
  })
  takedown_id = (
    await useCases['web.takedown'](
      callOf({}, {}, { ...requester, urls: [url], basis: 'privacy', statement: 'It is mine.' }),
    )
  ).id
})

const decide = (decision: 'remove' | 'reject', at = useCases) =>
  at['web_takedowns.decide'](callOf({ takedown_id }, {}, { decision }))

it('is refused with the place of a URL that is not of a page', async () => {
  const body = { ...requester, urls: [url, 'nowhere'], basis: 'privacy', statement: 'It is mine.' } as const
  await expect(useCases['web.takedown'](callOf({}, {}, body))).rejects.toMatchObject({
    ...{ code: 'invalid_url', details: { param: 'urls[1]' } },
  })
})

describe('two decisions of a takedown at the same time', () => {
  it.each([
    ['remove', 'reject', 'here'],
    ['reject', 'remove', 'here'],
    ['remove', 'reject', 'elsewhere'],
    ['reject', 'remove', 'elsewhere'],
  ] as const)('take one effect, which the request states: %s, and %s %s', async (first, second, place) => {
    const other = place === 'here' ? useCases : elsewhere
    const outcomes = await Promise.allSettled([decide(first), decide(second, other)])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const { status } = await useCases['web_takedowns.get'](callOf({ takedown_id }, {}, undefined))
    const isKept = (await store.find('prj_a', url)) !== null
    expect({ status, isKept, isBlocked: await store.isBlocked('prj_a', url) }).toEqual({
      status,
      isKept: status === 'rejected',
      isBlocked: status === 'removed',
    })
  })

  it('count the removed pages once', async () => {
    await Promise.allSettled([decide('remove'), decide('remove')])
    const shown = await useCases['web_takedowns.get'](callOf({ takedown_id }, {}, undefined))
    expect(shown).toMatchObject({ status: 'removed', removed_pages: 1 })
  })
})
