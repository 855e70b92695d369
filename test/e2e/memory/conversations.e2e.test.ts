import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answered, Api } from '../api.ts'
import { endsTurn } from '../stream-reader.ts'
import { either, World } from '../world.ts'

const model = 'simulated-1'

describe.each(either('sqlite'))('memory in conversations on $store', ({ store }) => {
  let world: World
  let api: Api

  beforeAll(async () => {
    world = await World.start({ store })
    api = world.api
  })
  afterAll(() => world.stop())

  const chat = (content: string, memory: unknown, more: object = {}) =>
    api.post('/v1/chat/completions', { model, messages: [{ role: 'user', content }], memory, ...more })
  const settled = (receipt: string, at = api) =>
    expect.poll(async () => (await at.get(`/v1/memory/writes/${receipt}`)).body).toMatchObject({ status: 'success' })
  const listed = async (userId: string): Promise<readonly { content: string }[]> =>
    (await api.get(`/v1/memory/list?userId=${userId}`)).body.memories

  it("recalls a user's message of one chat in a second chat", async () => {
    const first = await chat('I moved to Lisbon last week.', { userId: 'ada' })
    const { memory } = first.body
    expect(memory).toMatchObject({ retrieved: [], written: [], write_status: 'pending' })
    expect(first.headers.get('x-service-memory-write-request')).toBe(memory.write_request_id)
    await settled(memory.write_request_id)
    const second = await chat('Where do I live, is it Lisbon?', { userId: 'ada', threshold: 0, write: false })
    expect(second.body.memory.retrieved).toMatchObject([{ content: expect.stringContaining('Lisbon') }])
    expect(second.headers.get('x-service-memory-retrieved')).toBe('1')
    expect(second.body.memory.write_status).toBe('skipped')
  })

  it('is not recalled for another user or namespace', async () => {
    for (const field of [{ userId: 'eve' }, { userId: 'ada', namespace: 'work' }]) {
      const { body } = await chat('Lisbon?', { ...field, threshold: 0, write: false })
      expect(body.memory.retrieved).toEqual([])
    }
  })

  it("has the write receipt of a stream in its headers, also with OpenAI's SDK", async () => {
    const openai = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
    const request = {
      model,
      messages: [{ role: 'user' as const, content: 'I am allergic to peanuts.' }],
      stream: true as const,
    }
    const extra = { memory: { userId: 'bob' } }
    const { data, response } = await openai.chat.completions.create({ ...request, ...extra }).withResponse()
    let text = ''
    for await (const chunk of data) text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toContain('peanuts')
    await settled(response.headers.get('x-service-memory-write-request') ?? '')
    expect(await listed('bob')).toMatchObject([{ content: expect.stringContaining('peanuts') }])
  })

  it('works in /api/ai/chat', async () => {
    const messages = [{ role: 'user', content: 'My dog is called Rex.' }]
    const { body } = await api.post('/api/ai/chat', { model, messages, memory: { userId: 'cleo' } })
    await settled(body.memory.write_request_id)
    const again = await api.post('/api/ai/chat', {
      ...{ model, messages: [{ role: 'user', content: 'Who is Rex?' }], memory: { userId: 'cleo', threshold: 0 } },
    })
    expect(again.body.memory.retrieved).toMatchObject([{ content: expect.stringContaining('Rex') }])
  })

  const session = async (user: string): Promise<string> =>
    (await api.post('/v1/sessions', { external_user_id: user })).body.id
  const said = async (id: string, input: string, memory: unknown = true) => {
    const turn = await api.turn(id, { input, memory })
    const ended: Answered['body'] = (await turn.until(endsTurn)).data
    return ended.memory
  }

  it('is carried from one session of a user to another', async () => {
    const first = await said(await session('dora'), 'I work at Globex.')
    await settled(first.write_request_id)
    const second = await said(await session('dora'), 'Where do I work, at Globex?', { threshold: 0 })
    expect(second.retrieved).toMatchObject([{ content: expect.stringContaining('Globex') }])
    const foreign = await said(await session('emil'), 'Where do I work, at Globex?', { threshold: 0 })
    expect(foreign.retrieved).toEqual([])
  })

  it('with the scope of a session is deleted with the session', async () => {
    const id = await session('fay')
    const { write_request_id } = await said(id, 'My favourite colour is teal.', { scope: 'session' })
    await settled(write_request_id)
    expect(await listed('fay')).toHaveLength(1)
    expect((await api.get(`/v1/sessions/${id}`, { method: 'DELETE' })).status).toBe(200)
    await expect.poll(() => listed('fay')).toEqual([])
  })

  it('in index mode lets the model of a turn read a full memory of its user by memory_fetch', async () => {
    const content = `Gina keeps ${'many '.repeat(60)}bees on the roof.`
    const { id } = (await api.post('/v1/memory/write', { userId: 'gina', content })).body
    const foreign = (await api.post('/v1/memory/write', { userId: 'hugo', content: 'Hugo has no bees.' })).body.id
    const memory = { mode: 'index', threshold: 0, write: false }
    const fetched = async (named: string) => {
      const turn = await api.turn(await session('gina'), { input: `Bees? Use memory_fetch with "${named}".`, memory })
      return JSON.stringify(await turn.all())
    }
    expect(await fetched(id)).toContain('many bees on the roof')
    expect(await fetched(foreign)).toContain('The user has no such memory.')
  })

  it('can be enabled for a run, for the user of the run', async () => {
    const config = { model, system_prompt: 'x' }
    const agent = (await api.post('/v1/agents', { name: 'guide', config })).body.id
    const run = (body: object) =>
      api.post(`/v1/agents/${agent}/runs`, { input: { prompt: 'I live in Porto.' }, memory: true, ...body })
    expect((await run({})).body.error).toMatchObject({ code: 'missing_field', param: 'external_user_id' })
    const other = await run({ external_user_id: 'ines', memory: { userId: 'joao' } })
    expect(other.body.error).toMatchObject({ code: 'invalid_field', param: 'memory.userId' })
    const timeless = await run({ external_user_id: 'ines', memory: { asOf: 'then' } })
    expect(timeless.body.error).toMatchObject({ code: 'invalid_field', param: 'memory.asOf' })
    expect((await run({ external_user_id: 'ines' })).status).toBe(202)
    await expect
      .poll(() => listed('ines'), { timeout: 20_000 })
      .toMatchObject([{ content: expect.stringContaining('Porto') }])
  })

  it('of a run, and its user, cannot be set by a public key', async () => {
    const config = { model, system_prompt: 'x', memory: true }
    const agent = (await api.post('/v1/agents', { name: 'page', config })).body.id
    const { key } = (await api.post(`/v1/agents/${agent}/keys`, { name: 'k', key_type: 'public' })).body
    const run = (body: object) =>
      world.as(key).post(`/v1/agents/${agent}/runs`, { input: { prompt: 'Who am I?' }, ...body })
    for (const [field, body] of [
      ['memory', { memory: true }],
      ['external_user_id', { external_user_id: 'ada' }],
    ] as const) {
      const { status, body: refused } = await run(body)
      expect({ status, ...refused.error }).toMatchObject({ status: 403, code: 'secret_key_required', param: field })
    }
    expect((await run({})).status).toBe(202)
  })

  it("works in /v1/messages, with Anthropic's SDK", async () => {
    const anthropic = new Anthropic({ apiKey: world.secretKey, baseURL: world.url, maxRetries: 0 })
    const message = (content: string, more: object = {}) =>
      anthropic.messages.create({
        ...{ model, max_tokens: 200, messages: [{ role: 'user', content }], metadata: { user_id: 'kim' } },
        ...{ memory: { threshold: 0, ...more } },
      })
    const first: Answered['body'] = await message('My cat is called Mimi.')
    await settled(first.memory.write_request_id)
    const second: Answered['body'] = await message('Who is Mimi?', { write: false })
    expect(second.memory.retrieved).toMatchObject([{ content: expect.stringContaining('Mimi') }])
  })

  it('is written once for a message right before kill -9', async () => {
    const { write_request_id } = await said(await session('gus'), 'I live in Oslo.')
    await world.crash()
    await world.restart()
    api = world.api
    await settled(write_request_id)
    expect(await listed('gus')).toHaveLength(1)
    const { body } = await chat('I have a cat named Tom.', { userId: 'hal' })
    await world.crash()
    await world.restart()
    api = world.api
    await settled(body.memory.write_request_id)
    expect(await listed('hal')).toHaveLength(1)
  })
})
