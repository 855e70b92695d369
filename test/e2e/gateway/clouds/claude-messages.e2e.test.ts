import { generateKeyPairSync } from 'node:crypto'
import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { arrayOf, objectOf, parseJson, textOf } from '#outgoing/wire.ts'
import { World } from '#test/e2e/world.ts'
import { BedrockServer } from '#test/support/clouds/bedrock-server.ts'
import { considered } from '#test/support/clouds/claude.ts'
import { type CloudServer, picture } from '#test/support/clouds/cloud-server.ts'
import { VertexServer } from '#test/support/clouds/vertex-server.ts'

/** A cloud with Claude, as a connection reaches it. */
interface ClaudeCloud {
  readonly server: CloudServer
  readonly connection: object
  readonly model: string
  /** Of 10 tokens in, 100 from the cache, 10 to it for five minutes and 20 for an hour, 7 out. */
  readonly cost: string
  /** Whether Anthropic searches the web there. */
  readonly searches: boolean
}

const vertex = async (): Promise<ClaudeCloud> => {
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const place = { project: 'acme-prod', location: 'europe-west4' }
  const email = 'gateway@acme-prod.iam.gserviceaccount.com'
  const server = await new VertexServer({ ...place, email, keyId: 'key-1', publicKey: pair.publicKey }).listening()
  const account = {
    ...{ type: 'service_account', project_id: place.project, private_key_id: 'key-1', private_key: pair.privateKey },
    ...{ client_email: email, token_uri: server.url('/token') },
  }
  const base_url = server.url(`/v1/projects/${place.project}/locations/${place.location}`)
  const credentials = { service_account: JSON.stringify(account) }
  const connection = { provider: 'vertex', base_url, credentials }
  return { server, connection, model: 'vertex/claude-opus-4-6', cost: '0.0005375', searches: true }
}

const bedrock = async (): Promise<ClaudeCloud> => {
  const model = 'us.anthropic.claude-haiku-4-5-20251001-v1:0'
  const keys = { id: 'AKIDOFACUSTOMER', secret: 'aws-secret/of+a-customer-0123456789', session: null }
  const server = await new BedrockServer({ ...keys, region: 'eu-central-1', model }).listening()
  const credentials = { access_key_id: keys.id, secret_access_key: keys.secret }
  const settings = { region: 'eu-central-1' }
  const connection = { provider: 'bedrock', base_url: server.url(''), settings, credentials }
  return { server, connection, model, cost: '0.00011825', searches: false }
}

const mark = { type: 'ephemeral' as const }
const schema = { type: 'object' as const, properties: { city: { type: 'string' } } }
const document = {
  ...{ type: 'document' as const, title: 'Base', context: 'Of the kin.', citations: { enabled: true } },
  source: { type: 'text' as const, media_type: 'text/plain' as const, data: 'Known.' },
}
const thought = { type: 'thinking' as const, thinking: 'Hm.', signature: 'signed==' }
const call = { type: 'tool_use' as const, id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } }
const image = {
  type: 'image' as const,
  source: { type: 'base64' as const, media_type: 'image/png' as const, data: picture },
}
const result = {
  ...{ type: 'tool_result' as const, tool_use_id: 'toolu_1', is_error: true },
  content: [{ type: 'text' as const, text: 'No weather.' }, image],
}
const saying = (text: string) => [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }]

describe.each([['Google Vertex AI', vertex] as const, ['Amazon Bedrock', bedrock] as const])(
  'Messages to Claude on %s',
  (_, open) => {
    let cloud: ClaudeCloud
    let world: World
    let sdk: Anthropic
    beforeAll(async () => {
      cloud = await open()
      world = await World.start({ tools: [cloud.server] })
      const made = await world.api.post('/v1/provider-connections', { name: 'Cloud', ...cloud.connection })
      expect(made.status, JSON.stringify(made.body)).toBe(201)
      sdk = new Anthropic({ apiKey: world.secretKey, baseURL: world.url, maxRetries: 0 })
    }, 120_000)
    afterAll(async () => {
      await world.stop()
      await cloud.server.close()
    })

    const send = (more: object, headers: Record<string, string> = {}) =>
      world.api.post(
        '/v1/messages',
        { model: cloud.model, max_tokens: 4096, messages: saying('text'), ...more },
        { headers },
      )
    const received = () => objectOf(cloud.server.received.at(-1)?.body)
    const betas = () => {
      const named = textOf(cloud.server.received.at(-1)?.headers['anthropic-beta']).split(',')
      return arrayOf(received().anthropic_beta ?? named)
    }

    it('arrive in the form of Anthropic, with marks for the cache, thinking, documents and results as they were sent', async () => {
      const messages = [
        { role: 'user', content: [document, { type: 'text', text: 'Weather?', cache_control: mark }] },
        { role: 'assistant', content: [thought, call] },
        { role: 'user', content: [result, { type: 'text', text: 'text' }] },
      ]
      const system = [{ type: 'text', text: 'Be brief.', cache_control: { ...mark, ttl: '1h' } }]
      const weather = { name: 'weather', input_schema: schema, cache_control: { ...mark, ttl: '1h' } }
      const thinking = { type: 'enabled', budget_tokens: 2048 }
      const bash = { type: 'bash_20250124', name: 'bash' }
      const stop_sequences = ['END']
      const given = { system, messages, thinking, stop_sequences }
      const { status, body, headers } = await send({ ...given, tools: [bash, weather] })
      expect(status, JSON.stringify(body)).toBe(200)
      expect(headers.get('x-ignored-tools')).toBeNull()
      expect(received()).toEqual({
        ...{ ...given, tools: [bash, weather], max_tokens: 4096 },
        anthropic_version: expect.stringMatching(/^(vertex-2023-10-16|bedrock-2023-05-31)$/),
      })
      await send({ top_k: 5, temperature: 0.5 })
      expect(received()).toMatchObject({ top_k: 5, temperature: 0.5 })
    })

    it('are cached up to their end by a mark of the whole request, which the cloud itself refuses', async () => {
      const { status } = await send({ cache_control: mark, service_tier: 'auto' })
      expect(status).toBe(200)
      expect(received().messages).toEqual([
        { role: 'user', content: [{ type: 'text', text: 'text', cache_control: mark }] },
      ])
      const scoped = { type: 'text', text: 'text', cache_control: { ...mark, scope: 'global' } }
      await send({ messages: [{ role: 'user', content: [scoped] }] })
      expect(received().messages).toEqual([
        { role: 'user', content: [{ type: 'text', text: 'text', cache_control: mark }] },
      ])
      const four = ['a', 'b', 'c', 'd'].map((text) => ({ type: 'text', text, cache_control: mark }))
      await send({ cache_control: mark, messages: [{ role: 'user', content: [...four, { type: 'text', text: 'e' }] }] })
      expect(received().messages).toEqual([{ role: 'user', content: [...four, { type: 'text', text: 'e' }] }])
    })

    it('have the tools and beta features that the cloud has, and the tools that it has not are named', async () => {
      const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 1 }
      const find = { type: 'tool_search_tool_regex_20251119', name: 'find' }
      const later = { name: 'weather', input_schema: schema, defer_loading: true, eager_input_streaming: true }
      const code = { type: 'code_execution_20250825', name: 'code_execution' }
      const named = 'advanced-tool-use-2025-11-20,interleaved-thinking-2025-05-14,files-api-2025-04-14'
      const tools = [...(cloud.searches ? [] : [search]), find, later, code]
      const { headers } = await send({ tools }, { 'anthropic-beta': named })
      const { eager_input_streaming: _eager, ...plain } = later
      expect(received().tools).toEqual([find, plain])
      expect(betas()).toEqual(['tool-search-tool-2025-10-19', 'interleaved-thinking-2025-05-14'])
      expect(headers.get('x-ignored-tools')).toBe(
        cloud.searches ? 'code_execution_20250825' : 'web_search_20250305, code_execution_20250825',
      )
      const edits = { edits: [{ type: 'clear_tool_uses_20250919' }] }
      await send({ context_management: edits }, { 'anthropic-beta': 'context-management-2025-06-27' })
      expect([received().context_management, betas()]).toEqual([edits, ['context-management-2025-06-27']])
      expect((await send({ container: 'container_1' })).body).toMatchObject({
        type: 'error',
        error: { param: 'container' },
      })
    })

    it('are answered with thinking, citations, and every kind of token of the cache at its price, whole and streamed', async () => {
      const { data, response } = await sdk.messages
        .create({ model: cloud.model, max_tokens: 100, messages: saying('consider') })
        .withResponse()
      const usage = {
        ...{ input_tokens: 10, cache_read_input_tokens: 100, cache_creation_input_tokens: 30, output_tokens: 7 },
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
      }
      const shown = { content: considered, stop_reason: 'end_turn', usage: { ...usage, cost_usd: Number(cloud.cost) } }
      expect(data).toMatchObject(shown)
      expect(response.headers.get('x-cost-usd')).toBe(cloud.cost)
      const streamed = sdk.messages.stream({ model: cloud.model, max_tokens: 100, messages: saying('consider') })
      const events: unknown[] = []
      streamed.on('streamEvent', (event) => events.push(event))
      expect(await streamed.finalMessage()).toMatchObject({ content: considered, stop_reason: 'end_turn' })
      expect(events.at(-2)).toMatchObject({ type: 'message_delta', usage: shown.usage })
      const again = [...saying('text'), { role: 'assistant' as const, content: data.content }, ...saying('text')]
      await sdk.messages.create({ model: cloud.model, max_tokens: 100, messages: again })
      expect(objectOf(arrayOf(received().messages)[1]).content).toMatchObject(considered)
    })

    it('are counted by the cloud before they are sent, and estimated where it does not count', async () => {
      const counted = (text: string) =>
        sdk.messages
          .countTokens({
            ...{ model: cloud.model, system: 'Be brief.', messages: saying(text) },
            thinking: { type: 'enabled', budget_tokens: 2048 },
          })
          .withResponse()
      const { data, response } = await counted('text')
      expect([data.input_tokens, response.headers.get('x-token-count')]).toEqual([42, 'provider'])
      const { data: estimate, response: other } = await counted('uncounted')
      expect([estimate.input_tokens < 42, other.headers.get('x-token-count')]).toEqual([true, 'estimate'])
    })

    it("are refused in Anthropic's envelope, whole and streamed", async () => {
      for (const stream of [false, true]) {
        const answer = await world.api.fetch('/v1/messages', {
          ...{ model: cloud.model, max_tokens: 100, messages: saying('refuse'), stream },
        })
        expect([answer.status, parseJson(await answer.text())]).toMatchObject([
          ...[400, { type: 'error', error: { type: 'invalid_request_error', code: 'bad_request' } }],
        ])
      }
    })

    it('have nothing that the cloud does not know', () => {
      expect(cloud.server.problems).toEqual([])
    })
  },
)
