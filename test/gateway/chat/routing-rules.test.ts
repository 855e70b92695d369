import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Caller } from '#gateway/call/caller.ts'
import type { RoutingRule } from '#specs/resources/gateway/routing-policy.ts'
import { refusal } from '../call/scripted-upstream.ts'
import {
  type Came,
  type ChatOptions,
  type ChatWorld,
  caller,
  goodAnswer,
  hello,
  json,
  openChatWorld,
} from './chat-world.ts'

let world: ChatWorld

beforeEach(async () => {
  world = await openChatWorld()
  world.routes.set('model-2', [world.routeTo(world.second, { model: 'model-2' })])
  world.first.script(json(goodAnswer))
  world.second.script(json(goodAnswer))
})
afterEach(() => world.close())

const rule = (more: Partial<RoutingRule>): RoutingRule => ({ name: 'cheap', model: 'model-2', ...more })
const routed = ({ whole }: Came) => whole?.headers?.find(([name]) => name === 'x-route')?.[1]
/** The model that served a request under these rules, by its header. */
const under = async (rules: readonly RoutingRule[], options: ChatOptions = {}) => {
  world.rules.splice(0, world.rules.length, ...rules)
  return routed(await world.request(options))
}
const as = (more: Partial<Caller>): ChatOptions => ({ caller: { ...caller, ...more } })

it.each<[string, NonNullable<RoutingRule['when']>, ChatOptions, ChatOptions]>([
  ['the requested model', { models: ['model-1'] }, {}, { body: { ...hello, model: 'model-3' } }],
  ['the tenant', { tenants: ['ten_1', 'ten_2'] }, as({ tenant: 'ten_2' }), as({ tenant: 'ten_3' })],
  ['tags', { tags: ['eu', 'x'] }, as({ headers: { routeTags: 'x, eu,y' } }), as({ headers: { routeTags: 'eu' } })],
  ['metadata', { metadata: { job: 'a' } }, { body: { ...hello, metadata: { job: 'a' } } }, {}],
  [
    'at least a size',
    { min_bytes: 200 },
    { body: { ...hello, messages: [{ role: 'user', content: 'x'.repeat(200) }] } },
    {},
  ],
  [
    'at most a size',
    { max_bytes: 100 },
    {},
    { body: { ...hello, messages: [{ role: 'user', content: 'x'.repeat(200) }] } },
  ],
])('a rule applies by %s, and x-route names it', async (_, when, fits, other) => {
  world.routes.set('model-3', [world.routeTo(world.first, { model: 'model-3' })])
  expect(await under([rule({ when })], fits)).toBe('rule=cheap')
  expect(world.second.received[0]?.body.model).toBe('model-2')
  expect(await under([rule({ when })], other)).toBeUndefined()
  expect(world.first.received).toHaveLength(1)
})

it('tags of credentials of browsers are ignored', async () => {
  const tagged = as({ principal: { kind: 'public' }, headers: { routeTags: 'eu' } })
  expect(await under([rule({ when: { tags: ['eu'] } })], tagged)).toBeUndefined()
})

it('a rule does not reach a model that the credential does not', async () => {
  expect(await under([rule({})], as({ models: new Set(['model-1']) }))).toBeUndefined()
  expect(world.first.received).toHaveLength(1)
})

it('the first rule that matches counts, and the requested model is the fallback', async () => {
  world.second.script(refusal(400, { message: 'no' }), refusal(503, { message: 'down' }))
  const rules = [rule({ name: 'none', when: { tenants: ['t'] } }), rule({}), rule({ name: 'late' })]
  world.rules.push(...rules)
  world.second.script(refusal(503, { message: 'down' }))
  const came = await world.request()
  expect(came.whole?.completion).toEqual(goodAnswer)
  expect(routed(came)).toMatch(/^rule=cheap;after=provider_/)
  expect(world.first.received[0]?.body.model).toBe('model-1')
})

it('a share of conversations is routed by a rule, each always alike', async () => {
  world.rules.push(rule({ percent: 30 }))
  const routes: (string | undefined)[] = []
  for (let n = 0; n < 100; n++) {
    const body = { ...hello, messages: [{ role: 'user', content: `Conversation ${n}` }] }
    const [one, other] = [routed(await world.request({ body })), routed(await world.request({ body }))]
    expect(one).toBe(other)
    routes.push(one)
  }
  const share = routes.filter((each) => each === 'rule=cheap').length
  expect(share).toBeGreaterThan(15)
  expect(share).toBeLessThan(45)
})

it('a shadow gets a copy after the answer, charged to the project and marked, and its failure shows nowhere', async () => {
  const shadow: RoutingRule = { name: 'compare', shadow_model: 'model-2' }
  world.rules.push(shadow)
  world.second.script(json(goodAnswer), refusal(400, { message: 'no' }))
  const streamed = { body: { ...hello, stream: true, stream_options: { include_usage: true } } }
  const came = await world.request({ ...streamed, ...as({ tenant: 'ten_1' }) })
  expect([came.whole?.completion, routed(came)]).toEqual([goodAnswer, 'shadow=compare'])
  const shadows = () => world.recorded.filter(({ operation }) => operation === 'shadow')
  await vi.waitFor(() => expect(shadows()).toHaveLength(1), { timeout: 30_000 })
  expect(shadows()[0]).toMatchObject({
    caller: { tenant: null, textsOf: { tenant: 'ten_1', externalUserId: null }, requestId: 'req_12345678:shadow' },
    ...{ requestedModel: 'model-2', status: 200 },
    units: { tokens: { inputTokens: 12, outputTokens: 5 } },
  })
  expect(world.second.received[0]?.body).toEqual({ model: 'model-2', messages: hello.messages, stream: false })
  expect((await world.request()).error).toBeNull()
  await vi.waitFor(() => expect(shadows()).toHaveLength(2), { timeout: 30_000 })
  expect(shadows()[1]).toMatchObject({ error: 'bad_request', costUsd: '0' })
})

it('no shadow gets a copy of a call with tools, or while sixteen are in progress', async () => {
  world.rules.push({ name: 'compare', shadow_model: 'model-2' })
  world.second.script(() => {})
  const tools = [{ type: 'function', function: { name: 'act', parameters: {} } }]
  await world.request({ body: { ...hello, tools } })
  for (let n = 0; n < 20; n++) await world.request()
  await vi.waitFor(() => expect(world.second.received).toHaveLength(16), { timeout: 30_000 })
  expect(world.first.received).toHaveLength(21)
})
