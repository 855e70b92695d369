import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { completionOf } from '#gateway/providers/completion-of.ts'
import { policyBy } from '#gateway/redaction/redaction-policy.ts'
import { trickled } from '../call/scripted-upstream.ts'
import { type ChatWorld, delta, framesOf, goodAnswer, hello, json, openChatWorld } from './chat-world.ts'

let world: ChatWorld

beforeEach(async () => {
  world = await openChatWorld()
})
afterEach(() => world.close())

describe('images in a request', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  const shown = (model: string) => ({ model, messages: [{ role: 'user', content: [image] }] })
  beforeEach(() => {
    world.first.script(json(goodAnswer))
    for (const model of ['gpt-3.5-turbo', 'gpt-4o', 'unheard-of'])
      world.routes.set(model, [world.routeTo(world.first, { provider: 'openai', model })])
  })

  it.each([
    ['gpt-3.5-turbo', 'gpt-4o-mini'],
    ['gpt-4o', 'gpt-4o'],
    ['unheard-of', 'unheard-of'],
  ])('for %s are sent to %s', async (requested, seeing) => {
    await world.request({ text: JSON.stringify(shown(requested)) })
    expect(world.first.received[0]?.body).toMatchObject({ model: seeing, messages: shown(requested).messages })
    expect(world.recorded).toMatchObject([{ requestedModel: requested, route: { model: seeing } }])
  })

  it('leave the model as it is when there are none', async () => {
    await world.request({ text: JSON.stringify({ ...hello, model: 'gpt-3.5-turbo' }) })
    expect(world.first.received[0]?.body).toMatchObject({ model: 'gpt-3.5-turbo' })
  })
})

describe('redaction', () => {
  const policy = policyBy({ types: ['email'], input: true, toolArguments: true, restore: true, region: 'US' })
  const body = { model: 'model-1', messages: [{ role: 'user', content: 'Write to ada@example.com' }] }
  beforeEach(() => {
    world.world.redaction = { policyOf: () => Promise.resolve(policy), forLog: (text) => text }
  })

  it('removes personal data before the request is sent, and restores it in the answer', async () => {
    const message = { role: 'assistant', content: 'To [EMAIL_1].' }
    world.first.script(json({ ...goodAnswer, choices: [{ index: 0, message, finish_reason: 'stop' }] }))
    const { whole: answer } = await world.request({ text: JSON.stringify(body) })
    expect(world.first.received[0]?.body).toMatchObject({ messages: [{ content: 'Write to [EMAIL_1]' }] })
    expect(answer?.bytes).toBeNull()
    expect(answer?.completion).toMatchObject({ choices: [{ message: { content: 'To ada@example.com.' } }] })
    expect(world.recorded[0]?.bodies?.().request).not.toContain('ada@')
  })

  it('restores data in a stream that splits a placeholder', async () => {
    const stream = [delta({ role: 'assistant', content: 'To [EMA' }), delta({ content: 'IL_1].' }), delta({}, 'stop')]
    world.first.script(trickled(framesOf(...stream, '[DONE]'), 20, 1))
    const { chunks } = await world.request({ stream: true, text: JSON.stringify(body) })
    expect(completionOf(chunks)).toMatchObject({ choices: [{ message: { content: 'To ada@example.com.' } }] })
  })

  it('leaves a request without findings unchanged', async () => {
    world.first.script(json(goodAnswer))
    expect((await world.request({ text: JSON.stringify(hello) })).whole?.bytes).not.toBeNull()
  })
})
