import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { providers } from '#specs/data/providers.ts'
import { World } from '../world.ts'
import { type RecordingUpstream, startRecordingUpstream } from './recording-upstream.ts'

/** A row of the list of models. */
interface Row {
  readonly id: string
  readonly type: string
  readonly provider: string
}

const message = { role: 'user', content: 'hi' }

/** A second of silence as WAV. */
const silence = (): Blob => {
  const samples = Buffer.alloc(16_000)
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + samples.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8000, 24)
  head.writeUInt32LE(16_000, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(samples.length, 40)
  return new Blob([head, samples], { type: 'audio/wav' })
}

const form = (model: string): FormData => {
  const made = new FormData()
  made.set('model', model)
  made.set('file', silence(), 'a.wav')
  return made
}

/** The endpoint of each type of model, and a body for it. */
const endpoints: Readonly<Record<string, readonly [path: string, body: (model: string) => object]>> = {
  chat: ['/v1/chat/completions', (model) => ({ model, messages: [message] })],
  llm: ['/v1/chat/completions', (model) => ({ model, messages: [message] })],
  embedding: ['/v1/embeddings', (model) => ({ model, input: 'hi' })],
  speech: ['/v1/audio/speech', (model) => ({ model, input: 'hi' })],
  tts: ['/v1/audio/speech', (model) => ({ model, input: 'hi' })],
  transcription: ['/v1/audio/transcriptions', form],
  stt: ['/v1/audio/transcriptions', form],
  image: ['/v1/images/generations', (model) => ({ model, prompt: 'a dot' })],
  moderation: ['/v1/moderations', (model) => ({ model, input: 'hi' })],
  completion: ['/v1/completions', (model) => ({ model, prompt: 'hi' })],
  rerank: ['/v1/rerank', (model) => ({ model, query: 'hi', documents: ['hi', 'ho'] })],
}

describe('a model listed as available', { timeout: 240_000 }, () => {
  let upstream: RecordingUpstream
  const worlds: World[] = []
  beforeAll(async () => {
    upstream = await startRecordingUpstream()
  })
  afterAll(async () => {
    await Promise.all(worlds.map((world) => world.stop()))
    await upstream.close()
  })

  const worldWith = async (env: Readonly<Record<string, string>>): Promise<World> => {
    const world = await World.start({ env })
    worlds.push(world)
    return world
  }

  const answerOf = async (world: World, { id, type }: Row) => {
    const [path, bodyOf] = endpoints[type] ?? ['/unknown', () => ({ type })]
    const body = bodyOf(id)
    const isForm = body instanceof FormData
    const response = await fetch(`${world.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${world.secretKey}`,
        ...(!isForm && { 'content-type': 'application/json' }),
      },
      body: isForm ? body : JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }

  const available = async (world: World): Promise<readonly Row[]> =>
    (await world.api.get('/v1/models?available=true')).body.data.filter(
      // sockets: test/e2e/gateway/realtime
      ({ type }: Row) => type !== 'realtime',
    )

  it('answers at its endpoint when only the simulated provider is configured', async () => {
    const world = await worldWith({ SIMULATED_PROVIDER: 'on' })
    const rows = await available(world)
    expect(rows.length).toBeGreaterThan(0)
    const refused: string[] = []
    for (const row of rows) {
      const { status, text } = await answerOf(world, row)
      if (status !== 200) refused.push(`${row.id} ${row.type} ${status} ${text.slice(0, 200)}`)
    }
    expect(refused).toEqual([])
  })

  it('is called at its provider when every provider has a key', async () => {
    const env = providers.flatMap(({ id, env, byConnection }) =>
      id === 'simulated' || byConnection === true
        ? []
        : [[`${env}_API_KEY`, 'key'] as const, [`${env}_BASE_URL`, upstream.url] as const],
    )
    const world = await worldWith({ ...Object.fromEntries(env), ALLOWED_PRIVATE_HOSTS: upstream.host })
    const rows = await available(world)
    expect(rows.length).toBeGreaterThan(300)
    const unsent: string[] = []
    for (const row of rows) {
      upstream.sent()
      const { status, text } = await answerOf(world, row)
      if (upstream.sent() === '') unsent.push(`${row.id} ${row.type} ${status} ${text.slice(0, 160)}`)
    }
    expect(unsent).toEqual([])
  })
})
