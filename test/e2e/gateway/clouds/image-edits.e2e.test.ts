import { generateKeyPairSync } from 'node:crypto'
import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { patience } from '#test/e2e/patience.ts'
import { World } from '#test/e2e/world.ts'
import { pngOf } from '#test/gateway/vision/vision-world.ts'
import { ImageServer } from '#test/support/clouds/image-server.ts'
import { VertexServer } from '#test/support/clouds/vertex-server.ts'

const png = pngOf(8, 8)
const base64 = png.toString('base64')
const dataUrl = `data:image/png;base64,${base64}`
const uploaded = () => toFile(png, 'secret-name.png', { type: 'image/png' })

const pair = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const place = { project: 'acme', location: 'europe-west4' }
const email = 'gateway@acme.iam.gserviceaccount.com'

describe('images are edited', () => {
  let server: ImageServer
  let vertex: VertexServer
  let world: World
  let client: OpenAI
  beforeAll(async () => {
    server = await new ImageServer().listening()
    vertex = await new VertexServer({ ...place, email, keyId: 'key-1', publicKey: pair.publicKey }).listening()
    world = await World.start({ tools: [server, vertex], env: { SIMULATED_PROVIDER: 'on' } })
    client = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
    const service_account = JSON.stringify({
      ...{ type: 'service_account', project_id: place.project, private_key_id: 'key-1', private_key: pair.privateKey },
      ...{ client_email: email, token_uri: vertex.url('/token') },
    })
    const connections = [
      { provider: 'openai', base_url: server.url('/v1'), api_key: 'openai-key' },
      {
        ...{ provider: 'azure-openai', base_url: server.url('/openai/v1'), api_key: 'azure-key' },
        settings: { deployments: { 'gpt-image-2': 'our-images' } },
      },
      { provider: 'google', base_url: server.url('/v1beta'), api_key: 'google-key' },
      { provider: 'xai', base_url: server.url('/xai'), api_key: 'openai-key' },
      {
        ...{ provider: 'vertex', credentials: { service_account } },
        base_url: vertex.url(`/v1/projects/${place.project}/locations/${place.location}`),
      },
    ]
    for (const connection of connections) {
      const { status, body } = await world.api.post('/v1/provider-connections', {
        name: connection.provider,
        ...connection,
      })
      expect([status, body.error]).toEqual([201, undefined])
    }
  })
  beforeEach(() => {
    server.forms = []
    server.problems.length = 0
  })
  afterAll(async () => {
    await world.stop()
    await server.close()
    await vertex.close()
  })

  const costOf = (response: Response) => response.headers.get('x-cost-usd')

  it("by OpenAI's form with several files and a mask, and charged by tokens of texts and of images", async () => {
    const { data, response } = await client.images
      .edit({
        ...{ model: 'gpt-image-1.5', prompt: 'Add a hat', n: 2, size: '1024x1024', input_fidelity: 'high' },
        ...{ image: [await uploaded(), await uploaded()], mask: await uploaded() },
      })
      .withResponse()
    expect(data.data).toEqual([{ b64_json: 'aGk=' }, { b64_json: 'aGk=' }])
    // 10 texts at 5 USD a million, 200 of images at 8, 1000 out at 32
    expect(costOf(response)).toBe('0.03365')
    const texts = { model: 'gpt-image-1.5', prompt: 'Add a hat', n: '2', size: '1024x1024', input_fidelity: 'high' }
    const file = ['image/png', png.length, 'image.png']
    const files = [
      ['image[]', ...file],
      ['image[]', ...file],
      ['mask', ...file],
    ]
    expect([server.forms, server.problems]).toEqual([[{ texts, files }], []])
  })

  it('and charged at most what such an edit can cost, whatever the provider reports', async () => {
    const request = { model: 'gpt-image-1.5', prompt: 'absurd', image: await uploaded() }
    const { response } = await client.images.edit(request).withResponse()
    // 6 texts and 8,192 of the image in, 6,240 out
    expect(costOf(response)).toBe('0.265246')
  })

  it('by JSON with URLs of images, which are sent as files', async () => {
    const images = [{ image_url: dataUrl }]
    const body = { model: 'gpt-image-1.5', prompt: 'for ada@example.com', images, mask: { image_url: dataUrl } }
    const answer = await world.api.post('/v1/images/edits', body)
    expect([answer.status, answer.body.data]).toEqual([200, [{ b64_json: 'aGk=' }]])
    expect(server.forms[0]?.texts.prompt).toBe('for [EMAIL_1]')
    expect(server.forms[0]?.files.map(([field]) => field)).toEqual(['image', 'mask'])
  })

  it('at a deployment of Azure', async () => {
    const request = { model: 'azure-openai/gpt-image-2', prompt: 'Add a hat', image: await uploaded() }
    const { response } = await client.images.edit(request).withResponse()
    expect(server.forms[0]?.texts).toEqual({ model: 'our-images', prompt: 'Add a hat' })
    // 10 texts at 5 USD a million, 200 of images at 8, 1000 out at 30
    expect(costOf(response)).toBe('0.03165')
  })

  it.each(['google/gemini-2.5-flash-image', 'vertex/gemini-2.5-flash-image'])('by %s', async (model) => {
    const request = { model, prompt: 'Add a hat', image: await uploaded(), size: '1536x1024' } as const
    const { data, response } = await client.images.edit(request).withResponse()
    expect(data.data).toEqual([{ b64_json: base64 }])
    // 268 in at 0.3 USD a million, 1290 out at 30
    expect(costOf(response)).toBe('0.0387804')
    const { body } = (model.startsWith('google') ? server : vertex).received.at(-1) ?? {}
    expect(body).toMatchObject({
      contents: [{ parts: [{ text: 'Add a hat' }, { inlineData: { mimeType: 'image/png', data: base64 } }] }],
      generationConfig: { imageConfig: { aspectRatio: '3:2' } },
    })
    expect([...server.problems, ...vertex.problems]).toEqual([])
    const made = await client.images.edit({ ...request, response_format: 'url' })
    expect(made.data?.[0]?.url).toBe(dataUrl)
    const refused = client.images.edit({ ...request, prompt: 'forbidden' })
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'content_policy_violation' })
    for (const [more, param] of [
      [{ n: 2 }, 'n'],
      [{ mask: await uploaded() }, 'mask'],
    ] as const)
      await expect(client.images.edit({ ...request, ...more })).rejects.toMatchObject({ status: 400, param })
  })

  it('by xAI, as JSON with one image or up to three, in the ratio of the size, at what it charged', async () => {
    const request = { model: 'xai/grok-imagine-image', prompt: 'Add a hat', size: '1536x1024' } as const
    const { data, response } = await client.images.edit({ ...request, image: await uploaded(), n: 2 }).withResponse()
    expect([data.data, costOf(response)]).toEqual([[{ b64_json: 'aGk=' }, { b64_json: 'aGk=' }], '0.042'])
    const sent = { model: 'grok-imagine-image', prompt: 'Add a hat', aspect_ratio: '3:2' }
    const given = { type: 'image_url', url: dataUrl }
    expect(server.received.at(-1)?.body).toEqual({ ...sent, n: 2, image: given })
    const three = { ...request, image: [await uploaded(), await uploaded(), await uploaded()] }
    expect(costOf((await client.images.edit(three).withResponse()).response)).toBe('0.026')
    expect(server.received.at(-1)?.body).toEqual({ ...sent, images: [given, given, given] })
    const uncharged = client.images.edit({ ...request, prompt: 'uncharged', image: await uploaded() })
    expect(costOf((await uncharged.withResponse()).response)).toBeNull()
    expect(server.problems).toEqual([])
  })

  it('and generated by a model of Vertex', async () => {
    const made = await client.images.generate({ model: 'vertex/gemini-2.5-flash-image', prompt: 'A hat' })
    expect(made.data?.[0]?.b64_json).not.toBe('')
  })

  it('into variations, by an edit with a text of its own', async () => {
    const { data } = await client.images.createVariation({ image: await uploaded(), model: 'gpt-image-1.5', n: 2 })
    expect(data).toHaveLength(2)
    expect(server.forms[0]?.texts).toMatchObject({ n: '2', prompt: expect.stringContaining('variation of this image') })
  })

  it('by the simulated provider, whose images depend on the given ones', async () => {
    const edit = async (image: Buffer) => {
      const file = await toFile(image, 'a.png', { type: 'image/png' })
      const { data, response } = await client.images
        .edit({ model: 'simulated-1', prompt: 'Add a hat', image: file })
        .withResponse()
      expect(costOf(response)).toBe('0.001')
      return data.data?.[0]?.b64_json
    }
    const [first, again, other] = [await edit(png), await edit(png), await edit(pngOf(9, 9))]
    expect([first === again, first === other]).toEqual([true, false])
    const logged = async () => JSON.stringify((await world.api.get('/v1/request-log?operation=images.edit')).body)
    await vi.waitFor(async () => expect(await logged()).toContain('simulated-1'), patience)
    expect(await logged()).not.toContain(base64)
  })

  it('unless an image is missing, none, or at an address that is not allowed: the error names it', async () => {
    const model = 'gpt-image-1.5'
    const image = (image_url: string) => [{ image_url }]
    const wrong: readonly (readonly [object, string, string])[] = [
      [{}, 'image', 'bad_request'],
      [{ images: image('data:image/png;base64,aGk=') }, 'images[0].image_url', 'unsupported_format'],
      [{ images: image('http://example.com/a.png') }, 'images[0].image_url', 'bad_request'],
      [{ images: image('https://10.0.0.1/a.png') }, 'images[0].image_url', 'bad_request'],
      [{ images: image(dataUrl), mask: { image_url: 'https://127.0.0.1/a' } }, 'mask.image_url', 'bad_request'],
      [{ images: [] }, 'images', 'invalid_field'],
      [{ images: image(dataUrl), stream: true }, 'stream', 'bad_request'],
      [
        { images: image(dataUrl), mask: { image_url: dataUrl }, model: 'xai/grok-imagine-image' },
        'mask',
        'invalid_field',
      ],
      [{ images: Array(4).fill(image(dataUrl)[0]), model: 'xai/grok-imagine-image' }, 'image', 'invalid_field'],
      [{ images: image(dataUrl), model: 'google/imagen-3.0-generate-001' }, 'model', 'model_not_found'],
    ]
    for (const [more, param, code] of wrong) {
      const { body } = await world.api.post('/v1/images/edits', { model, prompt: 'Add a hat', ...more })
      expect(body.error, JSON.stringify(more)).toMatchObject({ param, code })
    }
    const text = await toFile(Buffer.from('no image'), 'a.png', { type: 'image/png' })
    const refused = client.images.edit({ model, prompt: 'Add a hat', image: [await uploaded(), text] })
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'image[1]' })
    const streamed = client.images.edit({ model, prompt: 'Add a hat', image: await uploaded(), stream: true })
    await expect(streamed).rejects.toMatchObject({ status: 400, param: 'stream' })
    expect(server.forms).toEqual([])
  })
})
