import { afterAll, beforeAll, expect, it } from 'vitest'
import { pngOf } from '#test/gateway/vision/vision-world.ts'
import type { Api } from '../api.ts'
import { World } from '../world.ts'

/* Vision with the simulated model, which reads the headers of the images: its answers prove that they arrived. */

let world: World
let api: Api

beforeAll(async () => {
  world = await World.start({ tools: [{ host: '127.0.0.1:9' }] })
  ;({ api } = world)
})
afterAll(() => world.stop())

const base64 = pngOf(30, 20).toString('base64')
const other = pngOf(7, 5)

const form = (fields: Readonly<Record<string, string>>, files: readonly (readonly [string, Buffer])[]): FormData => {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.append(name, value)
  for (const [name, bytes] of files)
    data.append(name, new Blob([new Uint8Array(bytes)], { type: 'image/png' }), 'a.png')
  return data
}

const sendForm = (path: string, data: FormData): Promise<Response> =>
  fetch(`${world.url}${path}`, { method: 'POST', headers: { authorization: `Bearer ${world.secretKey}` }, body: data })

it('accepts images in JSON, at both base paths and for each preset', async () => {
  const images = [`data:image/png;base64,${base64}`, { base64: other.toString('base64'), mime_type: 'image/png' }]
  const said = /Image 1 is a PNG of 30 × 20 pixels. Image 2 is a PNG of 7 × 5 pixels/
  const analyzed = await api.post('/api/ai/vision', { images, prompt: 'Compare' })
  expect(analyzed).toMatchObject({
    status: 200,
    body: {
      analysis: expect.stringMatching(said),
      model: 'simulated-1',
      provider: 'simulated',
      usage: {
        promptTokens: expect.any(Number),
        completionTokens: expect.any(Number),
        totalTokens: expect.any(Number),
      },
      cost: { markupPercentage: 0 },
    },
  })
  expect((await api.post('/v1/vision/describe', { images })).body.description).toMatch(said)
  expect((await api.post('/api/ai/vision/ocr', { images })).body.text).toMatch(said)
  const { body } = await api.post('/api/v1/vision/classify', { images })
  expect(JSON.parse(body.raw)).toEqual(body.classification)
})

it.each([['file'], ['files[]']])('accepts images in a form field named %s', async (name) => {
  const sent = form({ prompt: 'Which?' }, [
    [name, pngOf(30, 20)],
    [name, other],
  ])
  const response = await sendForm('/api/ai/vision', sent)
  const said = /Image 1 is a PNG of 30 × 20 pixels. Image 2 is a PNG of 7 × 5 pixels. You said: Which\?/
  expect(await response.json()).toMatchObject({ analysis: expect.stringMatching(said) })
})

it('accepts a form of many megabytes', async () => {
  const large = Buffer.concat([pngOf(30, 20), Buffer.alloc(15 * 1024 * 1024)])
  expect((await sendForm('/v1/vision/describe', form({}, [['file', large]]))).status).toBe(200)
})

it('streams deltas, then usage and cost, then [DONE]', async () => {
  const response = await api.fetch('/v1/vision', { image_url: `data:image/png;base64,${base64}`, stream: true })
  const frames = (await response.text()).split('\n\n').filter((frame) => frame !== '')
  expect(frames.at(-1)).toBe('data: [DONE]')
  const parsed = frames.slice(0, -1).map((frame) => JSON.parse(frame.slice('data: '.length)))
  const text = parsed.map(({ delta = '' }) => delta).join('')
  expect(text).toContain('Image 1 is a PNG of 30 × 20 pixels.')
  expect(parsed.at(-1)).toMatchObject({ done: true, provider: 'simulated', usage: {}, cost: {} })
})

it('fetches no image from a private host, even if tools may be reached there', async () => {
  const { status, body } = await api.post('/v1/vision', { image_url: 'https://127.0.0.1:9/a.png', prompt: 'What?' })
  expect([status, body.message]).toEqual([400, expect.stringContaining('is a URL that is not allowed')])
})

it('names the invalid image, and refuses a provider that is not configured', async () => {
  const images = [`data:image/png;base64,${base64}`, `data:image/png;base64,${btoa('no picture')}`]
  expect(await api.post('/v1/vision', { images })).toMatchObject({
    status: 400,
    body: { error: 'unsupported_format', param: 'images[1]', request_id: expect.any(String) },
  })
  expect(await api.post('/v1/vision', { images, model: 'claude-haiku-4-5' })).toMatchObject({
    status: 400,
    body: { error: 'provider_not_configured' },
  })
})
