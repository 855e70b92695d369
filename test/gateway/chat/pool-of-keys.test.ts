import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { uniformOf } from '#gateway/call/pools/pool-order.ts'
import type { PoolPolicy, Route } from '#gateway/call/routes.ts'
import { hangUp, refusal } from '../call/scripted-upstream.ts'
import { type Came, type ChatWorld, goodAnswer, hello, json, openChatWorld } from './chat-world.ts'

let world: ChatWorld
const weighted: PoolPolicy = { strategy: 'weighted', sticky: false }

beforeEach(async () => {
  world = await openChatWorld()
})
afterEach(() => {
  vi.restoreAllMocks()
  return world.close()
})

/** Makes the model available by so many keys. */
const pool = (keys: number, policy = weighted): readonly Route[] => {
  const routes = Array.from({ length: keys }, (_, n) =>
    world.routeTo(world.first, { ...{ pool: policy }, connectionId: `pvc_${n}`, apiKey: `key-${n}` }),
  )
  world.routes.set('model-1', routes)
  return routes
}
/** Answers each key as the list says; all others well. */
const answering = (troubles: Readonly<Record<string, Parameters<typeof world.first.script>[0]>>) =>
  world.first.script((response, received) => {
    const key = String(received.headers.authorization).slice('Bearer '.length)
    const answer = troubles[key] ?? json(goodAnswer)
    answer(response, received)
  })
const routed = ({ whole }: Came) => whole?.headers?.find(([name]) => name === 'x-route')?.[1]

const limited = refusal(429, { message: 'slow' }, { 'retry-after': '5' })

it.each([
  ['is rate limited', limited],
  ['fails', refusal(503, { message: 'down' })],
  ['is refused', refusal(401, { message: 'who' })],
  ['hangs up', hangUp],
] as const)('a call whose key %s goes to another key at once, and says so', async (_, trouble) => {
  pool(2, { strategy: 'priority', sticky: true })
  answering({ 'key-0': trouble })
  const came = await world.request()
  expect(came.whole?.completion).toEqual(goodAnswer)
  expect(world.first.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer key-0', 'Bearer key-1'])
  expect(routed(came)).toMatch(/^priority;try=2;of=2;after=provider_/)
})

it('a rate-limited key gets no calls until its wait is over, then one first', async () => {
  pool(2, { strategy: 'priority', sticky: true })
  answering({ 'key-0': limited })
  await world.request()
  expect(routed(await world.request())).toBe('priority;try=1;of=2')
  world.world.now += 5_000
  answering({})
  await Promise.all([world.request(), world.request()])
  expect(world.first.received.map(({ headers }) => headers.authorization).toSorted()).toEqual([
    'Bearer key-0',
    'Bearer key-1',
  ])
})

it('a call fails only when every key has, each tried once and the last one again', async () => {
  pool(3)
  answering({ 'key-0': limited, 'key-1': limited, 'key-2': refusal(500, { message: 'oops' }) })
  const { error } = await world.request()
  expect(error?.code).toMatch(/^provider_/)
  const tried = world.first.received.map(({ headers }) => headers.authorization)
  expect(new Set(tried).size).toBe(3)
})

it('the calls of one conversation use one key, with the keys of a pool shared by conversations', async () => {
  pool(4, { strategy: 'weighted', sticky: true })
  answering({})
  const keysOf = async (body: object) => {
    await Promise.all([1, 2, 3, 4].map(() => world.request({ body: { ...hello, ...body } })))
    return new Set(world.first.received.splice(0).map(({ headers }) => headers.authorization))
  }
  const used = new Set<unknown>()
  for (let n = 0; n < 12; n++) {
    const messages = [{ role: 'user', content: `Conversation ${n}` }]
    const keys = await keysOf({ messages })
    expect(keys.size).toBe(1)
    for (const key of keys) used.add(key)
    expect(await keysOf({ messages: [...messages, { role: 'assistant', content: 'x' }, ...messages] })).toEqual(keys)
  }
  expect(used.size).toBeGreaterThan(1)
  expect((await keysOf({ prompt_cache_key: 'one', messages: [] })).size).toBe(1)
})

it.each([
  ['five minutes', 5, 5 * 60_000, 8],
  ['a day', 24, 24 * 60 * 60_000, 1],
])(
  'of ten keys four fail in turn over %s: no call fails, and hardly any is tried three times',
  async (_, phases, ms, callers) => {
    const routes = pool(10)
    const calls = 1_000
    let draws = 0
    // the same draws in each run, of which the number of third attempts depends
    vi.spyOn(Math, 'random').mockImplementation(() => uniformOf(`draw ${draws++}`))
    const troubles = [limited, refusal(500, { message: 'oops' }), hangUp, refusal(503, { message: 'down' })]
    const tries: number[] = []
    let begun = 0
    const caller = async () => {
      while (begun < calls) {
        const phase = Math.floor((begun++ / calls) * phases)
        // in each phase another four keys fail
        world.world.now += ms / calls
        answering(Object.fromEntries(troubles.map((trouble, n) => [`key-${(phase * 2 + n) % routes.length}`, trouble])))
        const came = await world.request()
        expect(came.error).toBeNull()
        tries.push(Number(/try=(\d+)/.exec(routed(came) ?? '')?.[1]))
      }
    }
    await Promise.all(Array.from({ length: callers }, caller))
    expect(tries).toHaveLength(calls)
    const thrice = tries.filter((tried) => tried > 2).length
    expect(thrice / calls).toBeLessThan(0.01)
  },
  120_000,
)
