import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAi } from '#test/gateway/call/wire-samples.ts'
import { type ModelServer, openModelServer } from '#test/gateway/routing/model-server.ts'
import type { Api } from '../api.ts'
import { endsTurn } from '../stream-reader.ts'
import { World } from '../world.ts'

const completion = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt-4o-mini' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 },
}

/** The server's limit is two seconds; the provider is silent for four before its answer, and not within it. */
const thinksMs = 4000

describe("a model that is silent for longer than the installation's timeout", () => {
  let provider: ModelServer
  let world: World
  let api: Api
  let dashboard: Api
  let project: string

  beforeAll(async () => {
    provider = await openModelServer((response, { body }) => {
      const { stream } = JSON.parse(body)
      setTimeout(() => {
        if (stream !== true) return response.end(JSON.stringify(completion))
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(openAi.text)
      }, thinksMs)
    })
    world = await World.start({
      tools: [provider],
      env: { MODEL_FIRST_BYTE_TIMEOUT_S: '2', MODEL_IDLE_TIMEOUT_S: '2' },
    })
    api = world.api
    dashboard = await world.dashboard()
    project = (await dashboard.get('/api/projects')).body.data[0].id
  })
  afterAll(async () => {
    await world.stop()
    await provider.close()
  })

  const chat = (model: string, headers: Record<string, string> = {}) =>
    api.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] }, { headers })
  const answers = { status: 200, body: { choices: [{ message: { content: 'Hello' } }] } }
  const custom = async (name: string, waits: object = {}) => {
    const given = { name, baseUrl: `${provider.url}/v1`, format: 'openai', models: [{ name: 'm', modelId: 'm-1' }] }
    const { status, body } = await dashboard.post(`/api/projects/${project}/providers`, { ...given, ...waits })
    expect(status, JSON.stringify(body)).toBe(201)
    return body.provider
  }

  it('times out, unless the request, its connection or its custom provider allows a longer time', async () => {
    await custom('Short')
    const patient = await custom('Patient', { firstByteTimeoutMs: 20_000 })
    expect(patient).toMatchObject({ first_byte_timeout_ms: 20_000, idle_timeout_ms: null })
    const own = { name: 'Ours', provider: 'rack', base_url: `${provider.url}/v1`, api_key: 'sk-0123456789abcdef' }
    const { body: connection } = await api.post('/v1/provider-connections', own)
    expect(connection).toMatchObject({ first_byte_timeout_ms: null, idle_timeout_ms: null })
    const [late, byRequest, byCustom, lateByConnection] = await Promise.all([
      chat('short/m-1'),
      chat('short/m-1', { 'x-timeout-ms': '20000' }),
      chat('patient/m-1'),
      chat('rack/m-1'),
    ])
    const timedOut = { status: 504, body: { error: { code: 'provider_timeout' } } }
    expect([late, lateByConnection]).toMatchObject([timedOut, timedOut])
    expect([byRequest, byCustom]).toMatchObject([answers, answers])
    const path = `/v1/provider-connections/${connection.id}`
    const changed = await api.post(path, { first_byte_timeout_ms: 20_000 }, { method: 'PATCH' })
    expect(changed.body).toMatchObject({ first_byte_timeout_ms: 20_000, idle_timeout_ms: null })
    expect(await chat('rack/m-1')).toMatchObject(answers)
    // the timeout of a request takes precedence over that of its connection
    expect(await chat('rack/m-1', { 'x-timeout-ms': '1000' })).toMatchObject(timedOut)
  })

  it('answers a turn within the time that its custom provider allows', async () => {
    const session = await api.createSession()
    const frame = await (await api.turn(session, { input: 'Hi', model: 'patient/m-1' })).until(endsTurn)
    expect(frame).toMatchObject({ event: 'turn.completed', data: { output: 'Hello wörld 🌍' } })
  })

  it.each(['0', '999', '3600001', 'soon', '1.5'])('is not called for the invalid X-Timeout-Ms: %s', async (value) => {
    const { status, body } = await chat('short/m-1', { 'x-timeout-ms': value })
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_header', 'X-Timeout-Ms'])
  })
})
