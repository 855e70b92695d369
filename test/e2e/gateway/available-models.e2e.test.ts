import { afterAll, beforeAll, expect, it } from 'vitest'
import { providers } from '#specs/data/providers.ts'
import { type ModelServer, openModelServer } from '#test/gateway/routing/model-server.ts'
import { wavFile } from '#test/gateway/voice/voice-world.ts'
import type { Api } from '../api.ts'
import { World } from '../world.ts'

interface Row {
  readonly id: string
  readonly provider: string
  readonly name: string
  readonly type: string
  readonly available: boolean
}

interface Project {
  readonly api: Api
  readonly key: string
}

let upstream: ModelServer
let world: World

beforeAll(async () => {
  // the provider refuses at once: only whether it was called matters
  upstream = await openModelServer((response) =>
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"Not now."}}'),
  )
  const configured = providers.filter(
    ({ id, byConnection }) => id !== 'simulated' && id !== 'openai' && byConnection !== true,
  )
  const env = configured.flatMap((spec) => [
    [`${spec.env}_API_KEY`, 'key'],
    [`${spec.env}_BASE_URL`, upstream.url],
  ])
  world = await World.start({ tools: [{ host: upstream.host }], env: Object.fromEntries(env) })
}, 120_000)
afterAll(async () => {
  await world.stop()
  await upstream.close()
})

/** One project for each type: voice has a request limit per project. OpenAI is available by a connection. */
const project = async (name: string): Promise<Project> => {
  const dashboard = await world.dashboard()
  const { id } = (await dashboard.post('/api/projects', { name })).body
  const { key } = (await dashboard.post(`/api/projects/${id}/keys`, { name: 'first' })).body
  const api = world.as(key)
  const openai = { name: 'OpenAI', provider: 'openai', api_key: 'key', base_url: `${upstream.url}/v1` }
  expect((await api.post('/v1/provider-connections', openai)).status).toBe(201)
  return { api, key }
}

const transcription = (model: string): FormData => {
  const form = new FormData()
  const { bytes, filename, contentType } = wavFile()
  form.set('file', new File([new Uint8Array(bytes)], filename, { type: contentType }))
  form.set('model', model)
  return form
}

const calls: Readonly<Record<string, (project: Project, model: string) => Promise<Response>>> = {
  chat: ({ api }, model) => api.fetch('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] }),
  embedding: ({ api }, model) => api.fetch('/v1/embeddings', { model, input: 'Hi' }),
  speech: ({ api }, model) => api.fetch('/v1/audio/speech', { model, input: 'Hi' }),
  image: ({ api }, model) => api.fetch('/v1/images/generations', { model, prompt: 'A tree' }),
  transcription: ({ key }, model) =>
    fetch(`${world.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: transcription(model),
    }),
}

it.each(Object.keys(calls))(
  'a %s model is available if and only if its endpoint calls a provider for it',
  async (type) => {
    const made = await project(type)
    const rows: readonly Row[] = (await made.api.get('/v1/models')).body.data
    const ofType = rows.filter((row) => row.type === type && row.provider !== 'simulated')
    expect(ofType.length).toBeGreaterThan(0)
    const wrong: string[] = []
    for (const { id, available } of ofType) {
      const before = upstream.received.length
      const answer = await calls[type]?.(made, id)
      await answer?.text()
      if (upstream.received.length > before !== available) wrong.push(`${id}: ${available} ${answer?.status}`)
    }
    expect(wrong).toEqual([])
  },
  120_000,
)
