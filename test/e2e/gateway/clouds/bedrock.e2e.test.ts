import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '#test/e2e/world.ts'
import { BedrockServer } from '#test/support/clouds/bedrock-server.ts'
import { picture } from '#test/support/clouds/cloud-server.ts'
import { cloudGuarantees } from './cloud-suite.ts'

const model = 'us.anthropic.claude-haiku-4-5-20251001-v1:0'
const options = {
  ...{ id: 'AKIDOFACUSTOMER', secret: 'aws-secret/of+a-customer-0123456789', session: 'session-token-of-a-customer' },
  ...{ region: 'eu-central-1', model },
}
const credentials = {
  ...{ access_key_id: options.id, secret_access_key: options.secret, session_token: options.session },
}

describe.each(['converse', 'invoke'])('Amazon Bedrock by a signed request of the operation %s', (api) => {
  cloudGuarantees(async () => {
    const server = await new BedrockServer(options).listening()
    const connection = {
      provider: 'bedrock',
      base_url: server.url(''),
      settings: { region: options.region, api },
      credentials,
    }
    return {
      ...{ server, connection, model, secrets: [options.secret, options.session] },
      listed: ['amazon.nova-lite-v1:0', 'cohere.embed-v4:0', 'eu.a', 'stability.stable-image-core-v1:1', 'us.b'],
      // 1.1 USD a million in, 0.11 from the cache, 1.375 to it, 5.5 out
      ...{ cost: '0.0001705', cachedCost: '0.00007425', written: 0, marks: true },
    }
  })
})

describe('a connection to Amazon Bedrock', () => {
  let server: BedrockServer
  let world: World
  beforeAll(async () => {
    server = await new BedrockServer(options).listening()
    world = await World.start({ tools: [server] })
  })
  afterAll(async () => {
    await world.stop()
    await server.close()
  })

  const connect = (more: object) =>
    world.api.post('/v1/provider-connections', {
      ...{
        name: 'AWS',
        provider: 'bedrock',
        base_url: server.url(''),
        settings: { region: options.region },
        credentials,
      },
      ...more,
    })

  it('with a wrong secret, or for another region, is refused by the provider', async () => {
    const wrong = [
      { credentials: { ...credentials, secret_access_key: 'other' } },
      { settings: { region: 'us-east-1' } },
    ]
    for (const more of wrong) {
      const { id } = (await connect(more)).body
      const chat = { model, messages: [{ role: 'user', content: 'text' }] }
      expect(await world.api.post('/v1/chat/completions', chat)).toMatchObject({ status: 502 })
      const tested = await world.api.post(`/v1/provider-connections/${id}/test`)
      expect(tested.body).toMatchObject({ success: false, error: { code: 'key_refused' } })
      await world.api.get(`/v1/provider-connections/${id}`, { method: 'DELETE' })
    }
  })

  it('takes lasting access keys, and API keys, which sign nothing', async () => {
    const lasting = await new BedrockServer({ ...options, session: null, apiKey: 'bedrock-api-key-0123' }).listening()
    const other = await World.start({ tools: [lasting] })
    const { session_token: _, ...keys } = credentials
    const given = { name: 'AWS', provider: 'bedrock', base_url: lasting.url(''), settings: { region: options.region } }
    const answered = async (key: object) => {
      const { id } = (await other.api.post('/v1/provider-connections', { ...given, ...key })).body
      const { status } = await other.api.post('/v1/chat/completions', {
        model,
        messages: [{ role: 'user', content: 'text' }],
      })
      const tested = await other.api.post(`/v1/provider-connections/${id}/test`)
      await other.api.get(`/v1/provider-connections/${id}`, { method: 'DELETE' })
      return [status, tested.body.success]
    }
    try {
      expect([await answered({ credentials: keys }), await answered({ api_key: 'bedrock-api-key-0123' })]).toEqual([
        [200, true],
        [200, true],
      ])
      expect([await answered({ credentials }), await answered({ api_key: 'other-0123' })]).toEqual([
        [502, false],
        [502, false],
      ])
      expect(lasting.problems).toEqual([])
    } finally {
      await other.stop()
      await lasting.close()
    }
  })

  it('is refused with the name of the field that is wrong', async () => {
    const { access_key_id } = credentials
    const wrong: readonly (readonly [more: object, param: string, code: string])[] = [
      [{ credentials: { access_key_id } }, 'credentials.secret_access_key', 'missing_field'],
      [{ credentials: { ...credentials, client_secret: 'x' } }, 'credentials.client_secret', 'invalid_field'],
      [{ base_url: null, settings: {} }, 'settings.region', 'missing_field'],
      [{ settings: { location: 'eu' } }, 'settings.location', 'invalid_field'],
      [{ settings: { region: options.region, api: 'chat' } }, 'settings.api', 'invalid_field'],
      [{ settings: { region: 'eu.evil.example/?' } }, 'settings.region', 'invalid_field'],
      [{ credentials: undefined, api_key: '{"access_key_id":"x"}' }, 'api_key', 'invalid_field'],
      [{ api_key: 'and-a-key' }, 'credentials', 'invalid_field'],
    ]
    for (const [more, param, code] of wrong)
      expect((await connect(more)).body.error, JSON.stringify(more)).toMatchObject({ code, param })
  })

  it('embeds texts by Titan, one a request, and by Cohere, 96 a request, with tokens and dimensions', async () => {
    const { id } = (await connect({})).body
    const embed = (model: string, input: unknown, more: object = {}) =>
      world.api.post('/v1/embeddings', { model, input, ...more })
    const lengths = ({ body }: { readonly body: { readonly data: readonly { readonly embedding: number[] }[] } }) =>
      body.data.map(({ embedding }) => [embedding[0], embedding.length])
    const titan = 'bedrock/amazon.titan-embed-text-v2:0'
    const two = await embed(titan, ['a', 'bcd'], { dimensions: 256 })
    expect(two.status, JSON.stringify(two.body)).toBe(200)
    expect(lengths(two)).toEqual([
      [1, 256],
      [3, 256],
    ])
    expect(two.body.usage).toMatchObject({ prompt_tokens: 10, total_tokens: 10 })
    expect(lengths(await embed(titan, 'one'))).toEqual([[3, 1024]])
    const cohere = 'bedrock/eu.cohere.embed-v4:0'
    const texts = Array.from({ length: 100 }, (_, at) => 'x'.repeat(at + 1))
    const from = server.received.length
    const many = await embed(cohere, texts, { dimensions: 256, input_type: 'search_query' })
    expect(lengths(many)).toEqual(texts.map(({ length }) => [length, 256]))
    expect(server.received.slice(from).map(({ body }) => body)).toMatchObject([
      { input_type: 'search_query', output_dimension: 256 },
      { input_type: 'search_query', output_dimension: 256 },
    ])
    expect(many.body.usage).toMatchObject({ prompt_tokens: 300, total_tokens: 300 })
    expect(lengths(await embed(cohere, 'word'))).toEqual([[4, 1024]])
    const priced = await Promise.all([embed(titan, ['a', 'b']), embed('bedrock/cohere.embed-v4:0', ['a', 'b'])])
    // 0.02 and 0.12 USD a million tokens; ten and six of them
    expect(priced.map(({ headers }) => headers.get('x-cost-usd'))).toEqual(['0.0000002', '0.00000072'])
    for (const text of ['infinite', 'truncated', 'wrong', 'nulls'])
      expect(await embed(titan, text), text).toMatchObject({ status: 502, body: { error: { code: 'provider_error' } } })
    for (const [named, text] of ['uncounted', 'absurd', 'negative'].flatMap((text) => [
      [titan, text],
      [cohere, text],
    ])) {
      const { prompt_tokens } = (await embed(named ?? '', text)).body.usage
      expect([prompt_tokens > 0, prompt_tokens < 100], text).toEqual([true, true])
    }
    expect((await embed(titan, [[1, 2]])).body.error).toMatchObject({ code: 'invalid_field', param: 'input' })
    expect((await embed(`bedrock/${model}`, 'text')).body.error).toMatchObject({ code: 'model_not_found' })
    const limited = await embed(titan, 'limit')
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60'])
    expect(server.problems).toEqual([])
    await world.api.get(`/v1/provider-connections/${id}`, { method: 'DELETE' })
  })

  it("makes an image by Stability's models at the price of one, whatever its size", async () => {
    const { id } = (await connect({})).body
    const make = (prompt: string, more: object = {}, named = 'stability.stable-image-core-v1:1') =>
      world.api.post('/v1/images/generations', { model: `bedrock/${named}`, prompt, ...more })
    for (const [size, aspect_ratio] of [['1024x1024', '1:1'] as const, ['1792x1024', '16:9'] as const]) {
      const { status, body, headers } = await make('A tree', { size })
      expect([status, body.data, headers.get('x-cost-usd')]).toEqual([200, [{ b64_json: picture }], '0.04'])
      expect(server.received.at(-1)?.body).toEqual({ prompt: 'A tree', aspect_ratio })
    }
    const shown = await make('A tree', { response_format: 'url', output_format: 'jpeg' })
    expect(shown.body.data).toEqual([{ url: `data:image/jpeg;base64,${picture}` }])
    expect((await make('forbidden')).body.error).toMatchObject({ code: 'content_policy_violation' })
    expect((await make('nothing')).body.error).toMatchObject({ code: 'provider_error' })
    expect((await make('A tree', { n: 2 })).body.error).toMatchObject({ code: 'invalid_field', param: 'n' })
    // their price follows size and quality, which the list does not
    for (const named of ['amazon.nova-canvas-v1:0', 'amazon.titan-image-generator-v2:0'])
      expect((await make('A tree', {}, named)).body.error, named).toMatchObject({ code: 'model_not_found' })
    expect(server.problems).toEqual([])
    await world.api.get(`/v1/provider-connections/${id}`, { method: 'DELETE' })
  })
})
