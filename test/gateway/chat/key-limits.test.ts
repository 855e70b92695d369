import { afterEach, beforeEach, expect, it } from 'vitest'
import type { KeyLimits } from '#gateway/call/pools/key-limits.ts'
import type { Route } from '#gateway/call/routes.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { refusal } from '../call/scripted-upstream.ts'
import { world as openLimits } from '../limits/limited-world.ts'
import { type Came, type ChatWorld, goodAnswer, goodStream, hello, json, openChatWorld } from './chat-world.ts'

let world: ChatWorld
let limited: Awaited<ReturnType<typeof openLimits>>

beforeEach(async () => {
  world = await openChatWorld()
  limited = await openLimits()
  world.world.admission = limited.admission
  world.first.script(json(goodAnswer))
})
afterEach(() => world.close())

const requests = (requestsPerMinute: number | null): KeyLimits => ({ requestsPerMinute, tokensPerMinute: null })
const tokens = (tokensPerMinute: number): KeyLimits => ({ requestsPerMinute: null, tokensPerMinute })

/** Makes the model available by a key for each of the limits, tried in this order. */
const pool = (...limits: readonly (KeyLimits | null)[]): void => {
  const pool = { strategy: 'priority', sticky: true } as const
  const routes = limits.map(
    (keyLimits, n): Route =>
      world.routeTo(world.first, {
        ...{ pool, connectionId: `pvc_${n}`, apiKey: `key-${n}` },
        ...(keyLimits !== null && { keyLimits }),
      }),
  )
  world.routes.set('model-1', routes)
}
const used = (): readonly string[] =>
  world.first.received.map(({ headers }) => String(headers.authorization).slice('Bearer '.length))
const countOf = (key: string): number => used().filter((each) => each === key).length
const headerOf = ({ whole }: Came, named: string) => whole?.headers?.find(([name]) => name === named)?.[1]

it.each([
  ['at once', (call: () => Promise<Came>) => Promise.all(Array.from({ length: 20 }, call))],
  [
    'one by one',
    async (call: () => Promise<Came>) => {
      const all: Came[] = []
      for (let n = 0; n < 20; n++) all.push(await call())
      return all
    },
  ],
])('keys with limits of two, three and none serve just as many of 20 calls %s, and none fails', async (_, made) => {
  pool(requests(2), requests(3), null)
  const all = await made(() => world.request())
  expect(all.filter(({ error }) => error !== null)).toEqual([])
  expect([countOf('key-0'), countOf('key-1'), countOf('key-2')]).toEqual([2, 3, 15])
  expect(world.recorded.map(({ attempts }) => attempts)).toEqual(Array.from({ length: 20 }, () => 1))
  const chosen = all.map((came) => headerOf(came, 'x-route')).toSorted()
  expect(new Set(chosen)).toEqual(
    new Set(['priority;try=1;of=3', 'priority;try=2;of=3;after=key_limit', 'priority;try=3;of=3;after=key_limit']),
  )
})

it('a stream passes over a key at its limit like any call', async () => {
  pool(requests(1), null)
  world.first.script((response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(goodStream))
  for (let n = 0; n < 3; n++) expect((await world.request({ stream: true })).error).toBeNull()
  expect(used()).toEqual(['key-0', 'key-1', 'key-1'])
})

it('when every key is at its limit the call is refused until the first one is free, and nothing is sent', async () => {
  pool(requests(1), requests(1))
  await world.request()
  await limited.clock.advance(20_000)
  await world.request()
  const { error } = await world.request()
  expect(error?.code).toBe('rate_limit_exceeded')
  const { retryAfterS = 0 } = error?.details ?? {}
  expect([40, 41]).toContain(retryAfterS)
  expect(used()).toEqual(['key-0', 'key-1'])
  await limited.clock.advance(retryAfterS * 1_000)
  expect((await world.request()).error).toBeNull()
  expect((await world.request()).error?.code).toBe('rate_limit_exceeded')
  expect(used()).toEqual(['key-0', 'key-1', 'key-0'])
})

it('a key that fails is tried again when the others, to which its call would go, are at their limits', async () => {
  pool(null, requests(1))
  const down = refusal(503, { message: 'down' })
  world.first.script(down, json(goodAnswer), down, json(goodAnswer))
  expect((await world.request()).error).toBeNull()
  const again = await world.request()
  expect(headerOf(again, 'x-route')).toBe('priority;try=2;of=2;after=key_limit')
  expect(used()).toEqual(['key-0', 'key-1', 'key-0', 'key-0'])
  expect(world.recorded.at(-1)).toMatchObject({ attempts: 2, route: { connectionId: 'pvc_0' } })
})

it('a retry is a request of its key: beyond the limit it is not made', async () => {
  pool(requests(2))
  world.first.script(refusal(503, { message: 'down' }))
  expect((await world.request()).error?.code).toBe('provider_unavailable')
  expect(used()).toEqual(['key-0', 'key-0'])
})

it('a call that is not sent takes nothing from its key', async () => {
  pool(requests(1))
  const { admitKey } = limited.admission
  world.world.admission = { admit: () => Promise.reject(new ServiceError('budget_exceeded')), admitKey }
  expect((await world.request()).error?.code).toBe('budget_exceeded')
  world.world.admission = limited.admission
  expect((await world.request()).error).toBeNull()
  expect((await world.request()).error?.code).toBe('rate_limit_exceeded')
})

it('tokens are held by their estimate, so that parallel calls use other keys, and counted by their usage', async () => {
  pool(tokens(200), null)
  const body = { ...hello, max_tokens: 200 }
  await Promise.all([1, 2, 3].map(() => world.request({ body })))
  expect(used().toSorted()).toEqual(['key-0', 'key-1', 'key-1'])
  world.first.received.length = 0
  // each uses 17 of the 200
  for (let n = 0; n < 12; n++) {
    await limited.clock.advance(1)
    await world.request({ body })
  }
  expect(countOf('key-0')).toBe(11)
  expect(used().at(-1)).toBe('key-1')
})

it('a key with few tokens left limits the length of an answer that has no limit of its own', async () => {
  pool(tokens(80_000))
  const came = await world.request()
  const sent = Number(world.first.received[0]?.body.max_tokens)
  expect(sent).toBeLessThanOrEqual(10_000)
  expect(sent).toBeGreaterThan(9_000)
  expect(headerOf(came, 'x-max-tokens-limited')).toBe(String(sent))
})

it('a failed call gives its tokens back, and its request stays counted', async () => {
  pool({ requestsPerMinute: 2, tokensPerMinute: 200 }, null)
  world.first.script(refusal(400, { message: 'no' }), json(goodAnswer))
  const body = { ...hello, max_tokens: 200 }
  for (let n = 0; n < 3; n++) {
    await world.request({ body })
    await limited.clock.advance(1)
  }
  expect(used()).toEqual(['key-0', 'key-0', 'key-1'])
})

it('a call that its provider cannot express takes nothing from the key, however often it is made', async () => {
  pool(requests(1))
  const [route] = world.routes.get('model-1') ?? []
  if (route === undefined) throw new Error('no route')
  world.routes.set('model-2', [{ ...route, format: 'anthropic' }])
  const wrong = { model: 'model-2', messages: [{ role: 'user', content: 'Hello' }], n: 2 }
  for (let n = 0; n < 3; n++) expect((await world.request({ body: wrong })).error?.code).toBe('invalid_field')
  expect((await world.request()).error).toBeNull()
  expect(used()).toEqual(['key-0'])
})

it('a stream that is cut counts what it gave, and holds no more', async () => {
  pool(tokens(400), null)
  const body = { ...hello, max_tokens: 400 }
  world.first.script((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(goodStream.slice(0, goodStream.indexOf('[DONE]') - 8), () => response.destroy())
  }, json(goodAnswer))
  expect((await world.request({ body, stream: true })).error?.code).toBe('provider_stream_broken')
  await limited.clock.advance(1)
  await world.request({ body })
  expect(used()).toEqual(['key-0', 'key-0'])
  await limited.clock.advance(1)
  const { remaining } = await limited.limits.take('tokens:pvc_0', { limit: 400, windowMs: 60_000 }, 0)
  expect(remaining).toBeLessThan(400 - 17)
  expect(remaining).toBeGreaterThan(0)
})
