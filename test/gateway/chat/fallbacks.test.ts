import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hangUp, refusal } from '../call/scripted-upstream.ts'
import { type ChatWorld, goodAnswer, hello, json, openChatWorld } from './chat-world.ts'

let world: ChatWorld

beforeEach(async () => {
  world = await openChatWorld()
})
afterEach(() => world.close())

describe('fallbacks', () => {
  beforeEach(() => {
    world.second.script(json(goodAnswer))
    const second = world.routeTo(world.second, { source: 'byok', model: 'model-2' })
    world.routes.set('model-1', [world.routeTo(world.first), { ...second, source: 'managed' }])
    world.routes.set('other', [{ ...second, source: 'managed' }])
  })

  it.each([
    ['answers with errors', refusal(500, { message: 'oops' }), 2],
    ['refuses the key', refusal(401, { message: 'who' }), 1],
    ['does not have the model', refusal(404, { message: 'what' }), 1],
    ['closes the connection', hangUp, 2],
    ['answers nonsense', json('nonsense'), 1],
  ] as const)('use the next route when the first %s', async (_, trouble, times) => {
    world.first.script(trouble)
    const { whole: answer } = await world.request()
    expect(answer?.completion).toEqual(goodAnswer)
    expect(world.first.received).toHaveLength(times)
    expect(world.second.received[0]?.body).toMatchObject({ model: 'model-2' })
    expect(world.recorded).toMatchObject([{ attempts: times + 1, route: { model: 'model-2' } }])
  })

  it('run no request that Anthropic is to run in one place anywhere else', async () => {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const content = [{ type: 'text', text: 'Hello' }]
    world.second.script(json({ type: 'message', role: 'assistant', content, stop_reason: 'end_turn', usage }))
    const elsewhere = world.routeTo(world.first)
    // a compatible server need not know the place
    const compatible = world.routeTo(world.first, { format: 'anthropic' })
    const bound = world.routeTo(world.second, { provider: 'anthropic', format: 'anthropic' })
    world.routes.set('model-1', [elsewhere, compatible, bound, elsewhere])
    const body = { ...hello, anthropic_request: { inference_geo: 'us' } }
    await world.request({ body })
    expect([world.first.received.length, world.second.received[0]?.body]).toMatchObject([0, { inference_geo: 'us' }])
    world.second.script(refusal(404, { message: 'what' }))
    expect((await world.request({ body })).error).toMatchObject({ code: 'model_not_found' })
    expect(world.first.received).toHaveLength(0)
    world.first.script(json(goodAnswer))
    await world.request({ body: { ...hello, anthropic_request: { inference_geo: 'global' } } })
    expect(world.first.received).not.toHaveLength(0)
  })

  it('use the models of the request in order and skip unknown ones', async () => {
    world.routes.set('model-1', [world.routeTo(world.first)])
    world.first.script(refusal(500, { message: 'oops' }))
    const { whole: answer } = await world.request({ body: { ...hello, models: ['unknown', 'other'] } })
    expect(answer?.route.model).toBe('model-2')
    expect(world.admissions.map(({ model }) => model)).toEqual(['model-1', 'other'])
    expect(world.settled).toEqual(['0', answer?.costUsd])
  })

  it('require a new admission when the next route uses a key of another source', async () => {
    world.routes.set('model-1', [
      world.routeTo(world.first, { source: 'simulated' }),
      world.routeTo(world.second, { source: 'managed' }),
    ])
    world.first.script(refusal(401, { message: 'who' }))
    await world.request()
    expect(world.admissions.map(({ source }) => source)).toEqual(['simulated', 'managed'])
    expect(world.settled).toHaveLength(2)
  })

  it('send a context that is too long to another model instead of another provider of the same model', async () => {
    world.first.script(refusal(400, { message: 'long', code: 'context_length_exceeded' }))
    const { whole: answer } = await world.request({ body: { ...hello, models: ['other'] } })
    expect(answer?.route.model).toBe('model-2')
    expect(world.admissions.map(({ model }) => model)).toEqual(['model-1', 'other'])
  })

  it('are not used for an invalid request', async () => {
    world.first.script(refusal(400, { message: 'bad', code: 'invalid_value' }))
    expect(await world.request({ body: { ...hello, models: ['other'] } })).toMatchObject({
      error: { code: 'bad_request' },
    })
    expect(world.second.received).toEqual([])
  })

  it('report the last error when all routes fail', async () => {
    world.first.script(refusal(500, { message: 'oops' }))
    world.second.script(refusal(429, { message: 'slow' }, { 'retry-after': '3600' }))
    expect(await world.request()).toMatchObject({ error: { code: 'provider_rate_limited' } })
  })

  it('skip a route for some seconds after repeated failures', async () => {
    world.first.script(refusal(500, { message: 'oops' }))
    await world.request()
    await world.request()
    expect(world.first.received).toHaveLength(4)
    await world.request()
    expect(world.first.received).toHaveLength(4)
    world.world.now += 11_000
    world.first.script(json(goodAnswer))
    await world.request()
    expect(world.first.received).toHaveLength(1)
  })

  it('use a failing route when there is no other', async () => {
    world.routes.set('model-1', [world.routeTo(world.first)])
    world.first.script(refusal(500, { message: 'oops' }))
    for (let requestCount = 0; requestCount < 3; requestCount++) await world.request()
    world.first.script(json(goodAnswer))
    expect((await world.request()).whole?.completion).toEqual(goodAnswer)
  })

  it('answer model_not_found when no model of the request is known', async () => {
    const body = { ...hello, model: 'nope', models: ['neither'] }
    expect(await world.request({ body })).toMatchObject({
      error: { code: 'model_not_found', details: { param: 'model' } },
    })
  })
})
