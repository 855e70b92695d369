import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAiForPython } from '../openai-python/install.ts'
import { World } from '../world.ts'

const script = fileURLToPath(new URL('../openai-python/every_form.py', import.meta.url))
const python = openAiForPython()
const limit = { timeout: 180_000 }

describe.skipIf(python === null)("OpenAI's SDK for Python, with only the base URL changed", () => {
  let world: World
  let said: Readonly<Record<string, unknown>>

  beforeAll(async () => {
    world = await World.start()
    const env = { ...process.env, TROUPE_URL: world.url, TROUPE_KEY: world.secretKey, PYTHONPATH: python ?? '' }
    const { stdout } = await promisify(execFile)('python3', ['-B', script], { env })
    said = JSON.parse(stdout)
  }, limit.timeout)

  afterAll(() => world.stop(), limit.timeout)

  it('chats, with and without streaming', () => {
    expect(said.chat).toEqual(['You said: Good morning', 'stop', true])
    expect(said.chat_stream).toEqual(['You said: Good morning', 'assistant', 6])
  })

  it('calls tools, and continues with their results', () => {
    expect(said.tools).toEqual(['get_weather', { city: 'Paris' }, 'The tool get_weather answered: 21 degrees'])
    expect(said.tools_stream).toEqual({ city: 'Paris' })
  })

  it('creates responses, with and without streaming, and continues them', () => {
    expect(said.responses).toEqual(['You said: Good morning', 'You said: And again', true])
    expect(said.responses_stream).toEqual(['response.created', 'response.completed', 'You said: Good morning'])
  })

  it('embeds, sends images, synthesises and transcribes speech, and lists models', () => {
    expect(said.embeddings).toEqual([16, 16])
    expect(said.image).toBe('Image 1 is a PNG of 1 × 1 pixels. You said: What is this?')
    expect(said.audio).toEqual(['RIFF', true])
    expect(said.models).toBe(true)
  })

  it('raises its own error class for each refusal', () => {
    expect(said.refusals).toEqual([
      ['NotFoundError', 404, 'model_not_found', 'model'],
      [expect.stringMatching(/^BadRequestError$/), expect.any(Number), expect.any(String), 'temperature'],
      ['AuthenticationError', 401, expect.any(String), null],
      ['RateLimitError', 429, 'provider_rate_limited', null],
      ['InternalServerError', expect.any(Number), expect.stringMatching(/^provider_/), null],
    ])
  })

  it('raises an error for a broken stream, and may leave a stream early', () => {
    expect(said.broken_stream).toEqual(['broken', true])
    expect(said.left_early).toBe(true)
  })
})
