import OpenAI, { NotFoundError } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { either, World } from '../world.ts'
import { KnowledgeBase } from './knowledge-world.ts'

describe.each(either('mongo'))('file_search of responses over knowledge bases on $store', ({ store }) => {
  let world: World
  let base: KnowledgeBase
  let source: string
  beforeAll(async () => {
    world = await World.start({ store })
    base = await KnowledgeBase.create(world.api)
    const text = 'Goods may be returned within thirty days [1].'
    source = (await base.upload('returns.txt', text, { metadata: '{"lang": "en"}' })).id
    await base.add({ text: 'Waren dürfen zurückgegeben werden.', metadata: { lang: 'de' } })
  }, 120_000)
  afterAll(() => world.stop())

  const clientOf = (key: string, headers: Record<string, string> = {}) =>
    new OpenAI({ apiKey: key, baseURL: `${world.url}/v1`, maxRetries: 0, defaultHeaders: headers })
  const request = () => ({
    model: 'simulated-1',
    input: 'Use file_search with "goods returned".',
    tools: [
      {
        type: 'file_search' as const,
        vector_store_ids: [base.id],
        filters: { type: 'eq' as const, key: 'lang', value: 'en' },
      },
    ],
  })

  it('finds content of the base and cites the file, with the official client', async () => {
    const { output } = await clientOf(world.secretKey).responses.create({
      ...request(),
      include: ['file_search_call.results'],
    })
    const [call, message] = output
    expect(call).toMatchObject({
      type: 'file_search_call',
      status: 'completed',
      results: [{ file_id: source, filename: 'returns.txt', attributes: { lang: 'en' } }],
    })
    expect(message).toMatchObject({
      type: 'message',
      content: [{ annotations: [{ type: 'file_citation', file_id: source, filename: 'returns.txt', start: 0 }] }],
    })
  })

  it('is streamed, and can be retrieved', async () => {
    const client = clientOf(world.secretKey)
    const { id, output } = await client.responses.stream(request()).finalResponse()
    expect(output.map(({ type }) => type)).toEqual(['file_search_call', 'message'])
    expect((await client.responses.retrieve(id)).output).toEqual(
      output.map((item) => expect.objectContaining({ id: item.id, type: item.type })),
    )
  })

  it('requires a grant for the tenant of the request and for the agent of the key', async () => {
    const { body: tenant } = await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })
    const acme = clientOf(world.secretKey, { 'x-tenant-id': tenant.id })
    await expect(acme.responses.create(request())).rejects.toThrow(NotFoundError)
    await base.grant('tenant', tenant.id)
    expect((await acme.responses.create(request())).output[0]?.type).toBe('file_search_call')

    const config = { model: 'simulated-1', system_prompt: 'x' }
    const { body: agent } = await world.api.post('/v1/agents', { name: 'guide', config })
    const keyOf = async (key_type: string) =>
      (await world.api.post(`/v1/agents/${agent.id}/keys`, { name: 'k', key_type })).body.key
    const guide = clientOf(await keyOf('secret'))
    await expect(guide.responses.create(request())).rejects.toThrow(NotFoundError)
    await base.grant('agent', agent.id)
    expect((await guide.responses.create(request())).output[0]?.type).toBe('file_search_call')
  })
})
