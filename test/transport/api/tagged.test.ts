import { describe, expect, it } from 'vitest'
import { publicAccess } from '#specs/access.ts'
import { answersBytes, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { object, optional, string } from '#specs/dsl/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { serve } from './serving.ts'

const declared = defineOperations('things', {
  list: {
    summary: 'List',
    method: 'GET',
    path: '/v1/things',
    access: publicAccess,
    query: { of: optional(string()) },
    answer: isJsonResponse(object({ of: string() })),
    headers: [['cache-control', 'public, s-maxage=60']],
    tagged: true,
  },
  picture: {
    summary: 'Picture',
    method: 'GET',
    path: '/v1/things/picture',
    access: publicAccess,
    answer: answersBytes('image/svg+xml'),
    tagged: true,
  },
})

/** Counts how often it is serialized. */
const document = { of: 'all', writings: 0, toJSON: () => ({ of: 'all', n: ++document.writings }) }

const { send } = serve(Object.values(declared), {
  'things.list': async ({ query }) => {
    const { of } = Object.fromEntries(Object.entries(query ?? {}))
    if (of === 'none') throw new ServiceError('not_found')
    return of === undefined ? document : { of }
  },
  'things.picture': async () => ({ contentType: 'image/svg+xml', bytes: '<svg/>' }),
})

const get = (target: string, ifNoneMatch?: string) =>
  send({ target, as: 'nobody', ...(ifNoneMatch !== undefined && { headers: { 'if-none-match': ifNoneMatch } }) })

describe('a response with an entity tag', () => {
  it('is not sent again to a client that has it, but its headers are', async () => {
    const first = await get('/v1/things?of=a')
    expect(first).toMatchObject({ status: 200, json: { of: 'a' } })
    const again = await get('/v1/things?of=a', `"other", ${first.headers.etag}`)
    expect(again).toMatchObject({ status: 304, text: '' })
    expect(again.headers).toMatchObject({ etag: first.headers.etag, 'cache-control': 'public, s-maxage=60' })
    expect(again.headers.vary).toBe('Origin')
  })

  it('is sent to a client with another tag', async () => {
    const first = await get('/v1/things?of=a')
    const other = await get('/v1/things?of=b', first.headers.etag)
    expect(other).toMatchObject({ status: 200, json: { of: 'b' } })
    expect(other.headers.etag).not.toBe(first.headers.etag)
  })

  it('is matched by its weak tag and by *', async () => {
    const { headers } = await get('/v1/things/picture')
    expect(headers.etag).toMatch(/^"[\w-]{22}"$/)
    expect(await get('/v1/things/picture', `W/${headers.etag}`)).toMatchObject({ status: 304 })
    expect(await get('/v1/things/picture', '*')).toMatchObject({ status: 304 })
  })

  it('is serialized once for a use case that returns the same object', async () => {
    const before = document.writings
    const [a, b] = [await get('/v1/things'), await get('/v1/things')]
    expect(a.headers.etag).toBe(b.headers.etag)
    expect(document.writings - before).toBeLessThanOrEqual(1)
  })

  it('is never an error: errors have neither tag nor cache headers', async () => {
    const refused = await get('/v1/things?of=none', '*')
    expect(refused.status).toBe(404)
    expect(refused.headers.etag).toBeUndefined()
    expect(refused.headers['cache-control']).toBeUndefined()
  })
})
