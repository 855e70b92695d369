import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { sampleForm, takesForms } from '#test/specs/sample-form.ts'
import type { Api } from '../api.ts'
import { patience } from '../patience.ts'
import { endsTurn } from '../stream-reader.ts'
import { either, World } from '../world.ts'
import { type ModelUpstream, startModelUpstream } from './model-upstream.ts'

const own = 'own-1'
/** The installation's default model, with a key of OpenAI. */
const other = 'gpt-4o-mini'

const declared: readonly Operation[] = Object.values(operations)
/** The operations that call a model although the request names none. */
const byDefault = declared.filter(
  ({ attributed, body }) =>
    attributed && body?.json.properties?.model !== undefined && body.json.required?.includes('model') !== true,
)

/** What such a request has instead. */
const bodies: Readonly<Record<string, object>> = {
  'speech.speak': { input: 'Hi' },
  'moderations.create': { input: 'Hi' },
  'responses.input_tokens': { input: 'Hi' },
  'vision.classify': { image_url: 'data:image/png;base64,iVBORw0KGgo=', labels: ['a', 'b'] },
}

describe.each(either('sqlite'))('a key that is limited to a model on $store', ({ store }) => {
  let world: World
  let upstream: ModelUpstream
  let key: Api
  let keys = ''
  let dashboard: Api

  beforeAll(async () => {
    upstream = await startModelUpstream()
    world = await World.start({
      store,
      tools: [{ host: new URL(upstream.url).host }],
      env: { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: upstream.url, EMBEDDER: 'none' },
    })
    dashboard = await world.dashboard()
    keys = `/api/projects/${(await dashboard.get('/api/projects')).body.data[0].id}/keys`
    key = await keyOf({ models: [own] })
    upstream.models()
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await upstream.close()
  })

  const ok = async (answer: ReturnType<Api['get']>) => {
    const { status, body } = await answer
    expect(status, JSON.stringify(body)).toBeLessThan(300)
    return body
  }
  const refused = async (answer: ReturnType<Api['get']>) => {
    const { status, body } = await answer
    return `${status} ${body.error?.code ?? body.error} ${body.error?.param ?? body.param}`
  }
  const keyOf = async (scopes: object): Promise<Api> =>
    world.as((await ok(dashboard.post(keys, { name: 'limited', scopes }))).key)
  const agentWith = async (config: object): Promise<string> =>
    (await ok(world.api.post('/v1/agents', { name: 'a', config: { model: own, ...config } }))).id
  const chat = (more: object = {}) => ({
    model: own,
    messages: [{ role: 'user', content: 'I live in Oslo.' }],
    ...more,
  })

  const settled = async (receipt: string) =>
    vi.waitFor(async () => {
      const write = await ok(key.get(`/v1/memory/writes/${receipt}`))
      expect(write.status).not.toBe('pending')
      return write
    }, patience)

  it.each(byDefault)('does not reach the default model of $id', async (operation) => {
    const image = { image_url: 'data:image/png;base64,iVBORw0KGgo=' }
    const body = bodies[operation.id] ?? image
    const path = operation.paths[0]
    const form = sampleForm(operation, {})
    const { status } = takesForms(operation)
      ? await key.upload(path, new Uint8Array(form.body), form.contentType)
      : await key.post(path, body)
    // tokens of a request without a model are estimated, which calls none
    if (operation.id !== 'responses.input_tokens') expect(status).toBeGreaterThanOrEqual(400)
    expect(upstream.models()).toEqual([])
  })

  it('remembers a chat without another model', async () => {
    const answer = await ok(key.post('/v1/chat/completions', chat({ memory: { userId: 'ada' } })))
    expect(await settled(answer.memory.write_request_id)).toMatchObject({ status: 'success', extractor: 'rules' })
    expect(upstream.models()).toEqual([own])
    const whole = await ok(world.api.post('/v1/chat/completions', chat({ memory: { userId: 'bob' } })))
    await settled(whole.memory.write_request_id)
    expect(upstream.models()).toEqual([other, own])
  })

  it('calls its own model only where the path names the model', async () => {
    const content = { parts: [{ text: 'Hi' }] }
    const methods = {
      generateContent: { contents: [content] },
      countTokens: { contents: [content] },
      embedContent: { content },
    }
    for (const [method, body] of Object.entries(methods)) {
      const { status, body: answer } = await key.post(`/v1beta/models/${other}:${method}`, body)
      expect([status, answer.error.details[0].metadata.code]).toEqual([403, 'insufficient_scope'])
    }
    expect(upstream.models()).toEqual([])
    await ok(key.post(`/v1beta/models/${own}:generateContent`, methods.generateContent))
    expect(upstream.models()).toEqual([own])
  })

  it('remembers an exchange with its own model, or by rules', async () => {
    const said = { userId: 'cleo', user: 'I live in Oslo.', wait: true }
    expect(await ok(key.post('/v1/memory/remember', said))).toMatchObject({ extractor: 'rules' })
    expect(upstream.models()).toEqual([])
    await ok(key.post('/v1/memory/remember', { ...said, extract: { model: own } }))
    expect(upstream.models()).toEqual([own])
    expect(await refused(key.post('/v1/memory/remember', { ...said, extract: { model: other } }))).toBe(
      '403 insufficient_scope extract.model',
    )
  })

  it('calls no other model in a turn, nor for the memory of its answer', async () => {
    const session = await key.createSession({ external_user_id: 'dora' })
    const turn = await key.turn(session, { input: 'I live in Rome.', model: own, memory: true })
    const { memory } = Object((await turn.until(endsTurn)).data)
    await settled(memory.write_request_id)
    expect(upstream.models()).toEqual([own])
    expect(await refused(key.post(`/v1/sessions/${session}/turns`, { input: 'Hi' }))).toBe(
      '403 insufficient_scope model',
    )
    const fallback = await agentWith({ models: [other] })
    const of = await key.createSession({ agent_id: fallback })
    expect(await refused(key.post(`/v1/sessions/${of}/turns`, { input: 'Hi' }))).toBe('403 insufficient_scope model')
  })

  it('calls no other model in a background run, although an agent that it may delegate to has one', async () => {
    const foreign = await agentWith({ model: other })
    const agent = await agentWith({ subagents: [foreign] })
    const { id } = await ok(key.post(`/v1/agents/${agent}/runs`, { input: { prompt: 'Dig' } }))
    const run = await ended(id)
    expect(run.status).toBe('completed')
    const { data } = await ok(key.get(`/v1/runs/${id}/events?limit=100`))
    expect(JSON.stringify(data)).toContain('insufficient_scope')
    expect(upstream.models()).toEqual([own])
    expect(await refused(key.post(`/v1/agents/${foreign}/runs`, { input: { prompt: 'Dig' } }))).toBe(
      '403 insufficient_scope model',
    )
    const { id: whole } = await ok(world.api.post(`/v1/agents/${agent}/runs`, { input: { prompt: 'Dig' } }))
    await ended(whole)
    expect(upstream.models()).toEqual([other, own])
    expect(await refused(key.post(`/v1/runs/${(await childOf(whole)).id}/replay`))).toBe('403 insufficient_scope model')
  })

  const ended = (id: string) =>
    vi.waitFor(async () => {
      const run = await ok(world.api.get(`/v1/runs/${id}`))
      expect(['completed', 'failed']).toContain(run.status)
      return run
    }, patience)
  const childOf = async (id: string) => (await ok(world.api.get(`/v1/runs?parent_run_id=${id}`))).data[0]

  it('calls no other model in a response in the background', async () => {
    const wanted = { input: 'Hi', background: true }
    expect(await refused(key.post('/v1/responses', { model: other, ...wanted }))).toBe('403 insufficient_scope model')
    const { id } = await ok(key.post('/v1/responses', { model: own, ...wanted }))
    await vi.waitFor(async () => {
      expect((await ok(key.get(`/v1/responses/${id}`))).status).toBe('completed')
    }, patience)
    expect(upstream.models()).toEqual([own])
  })

  it('tests no version of an agent that falls back to another model', async () => {
    const agent = await agentWith({})
    const version = async (name: string, config: object) => {
      await ok(world.api.post(`/v1/agents/${agent}/versions`, { version: name, config: { model: own, ...config } }))
      return `/v1/agents/${agent}/versions/${name}/test`
    }
    expect(await refused(key.post(await version('1.0.0', { models: [other] }), { input: 'Hi' }))).toBe(
      '403 insufficient_scope model',
    )
    await ok(key.post(await version('1.1.0', {}), { input: 'Hi' }))
    expect(upstream.models()).toEqual([own])
  })
})
