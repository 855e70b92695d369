import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '#test/e2e/world.ts'
import { AzureServer } from '#test/support/clouds/azure-server.ts'
import { cloudGuarantees } from './cloud-suite.ts'

const key = 'azure-key-of-a-customer-0123456789'
const entra = { tenant: 'contoso.onmicrosoft.com', client: 'app-1', secret: 'entra-secret-of-a-customer-77' }
const options = { key, version: null, deployments: ['our-gpt'], entra }
const deployments = { 'gpt-4o': 'our-gpt' }
const expected = {
  ...{ secrets: [key, entra.secret], model: 'gpt-4o', listed: ['gpt-4o'] },
  // 2.5 USD a million in, 1.25 cached, 10 out
  ...{ cost: '0.00037', cachedCost: '0.000245', written: 0, marks: false },
}

describe('Azure OpenAI by its v1 API and a key', () => {
  cloudGuarantees(async () => {
    const server = await new AzureServer(options).listening()
    const connection = { provider: 'azure-openai', base_url: server.url('/openai/v1'), api_key: key }
    return { server, connection: { ...connection, settings: { deployments } }, ...expected }
  })
})

describe('Azure OpenAI by a dated version and an Entra application', () => {
  const open = async () => {
    const version = '2024-10-21'
    const server = await new AzureServer({ ...options, version }).listening()
    const { tenant: tenant_id, client: client_id, secret: client_secret } = entra
    const credentials = { tenant_id, client_id, client_secret, authority: server.url('') }
    const settings = { api_version: version, deployments }
    const connection = { provider: 'azure-openai', base_url: server.url(''), credentials, settings }
    return { server, connection, ...expected }
  }
  cloudGuarantees(open)
})

describe('a connection to Azure OpenAI', () => {
  let server: AzureServer
  let world: World
  beforeAll(async () => {
    server = await new AzureServer(options).listening()
    world = await World.start({ tools: [server] })
  })
  afterAll(async () => {
    await world.stop()
    await server.close()
  })

  const credentials = () => ({
    ...{ tenant_id: entra.tenant, client_id: entra.client, client_secret: entra.secret },
    authority: server.url(''),
  })
  const connect = (more: object) =>
    world.api.post('/v1/provider-connections', {
      ...{ name: 'Azure', provider: 'azure-openai', base_url: server.url('/openai'), settings: { deployments } },
      ...more,
    })
  const chat = (model = 'gpt-4o') =>
    world.api.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'text' }] })

  it('issues one token for all calls that wait for it', async () => {
    const { body } = await connect({ credentials: credentials() })
    const answers = await Promise.all(Array.from({ length: 20 }, () => chat()))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
    expect(server.tokensIssued).toBe(1)
    const vectors = await world.api.post('/v1/embeddings', { model: 'azure-openai/our-gpt', input: 'Hi' })
    expect([vectors.status, server.tokensIssued]).toEqual([200, 1])
    await world.api.get(`/v1/provider-connections/${body.id}`, { method: 'DELETE' })
  })

  it('with refused credentials says so, and its test as well', async () => {
    const { body } = await connect({ credentials: { ...credentials(), client_secret: 'wrong-secret' } })
    expect(await chat()).toMatchObject({ status: 502, body: { error: { code: 'provider_error' } } })
    const tested = await world.api.post(`/v1/provider-connections/${body.id}/test`)
    expect(tested.body).toMatchObject({ success: false, error: { code: 'key_refused' } })
    await world.api.get(`/v1/provider-connections/${body.id}`, { method: 'DELETE' })
  })

  it('calls a deployment by its own name, and reports one that does not exist', async () => {
    const { body } = await connect({ api_key: key })
    expect((await chat('azure-openai/our-gpt')).status).toBe(200)
    expect(await chat('azure-openai/absent')).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_found' } },
    })
    await world.api.get(`/v1/provider-connections/${body.id}`, { method: 'DELETE' })
  })

  it('is refused with the name of the field that is wrong', async () => {
    const { tenant_id, client_id } = credentials()
    const wrong: readonly (readonly [more: object, param: string, code: string])[] = [
      [{}, 'api_key', 'missing_field'],
      [{ credentials: { tenant_id, client_id } }, 'credentials.client_secret', 'missing_field'],
      [{ api_key: key, credentials: credentials() }, 'credentials', 'invalid_field'],
      [{ api_key: '{"a":1}' }, 'api_key', 'invalid_field'],
      [{ credentials: { ...credentials(), authority: 'http://10.0.0.1' } }, 'credentials.authority', 'invalid_field'],
      [{ api_key: key, settings: { account_id: 'x' } }, 'settings.account_id', 'invalid_field'],
      [{ api_key: key, settings: { api_version: 'newest' } }, 'settings.api_version', 'invalid_field'],
      [{ api_key: key, base_url: null, settings: {} }, 'settings.resource', 'missing_field'],
      [
        { api_key: key, provider: 'openai', credentials: undefined, settings: { resource: 'x' } },
        'settings.resource',
        'invalid_field',
      ],
      [{ api_key: key, provider: 'watsonx', settings: null }, 'provider', 'invalid_field'],
      [{ api_key: key, provider: 'azure', settings: null }, 'provider', 'invalid_field'],
    ]
    for (const [more, param, code] of wrong)
      expect((await connect(more)).body.error, JSON.stringify(more)).toMatchObject({ code, param })
  })

  it('does not send its credentials elsewhere', async () => {
    const { body } = await connect({ credentials: credentials() })
    const change = (more: object) => world.api.post(`/v1/provider-connections/${body.id}`, more, { method: 'PATCH' })
    const refused = { body: { error: { code: 'missing_field', param: 'api_key' } } }
    expect(await change({ base_url: 'https://other.openai.azure.com' })).toMatchObject(refused)
    expect(await change({ provider: 'openai' })).toMatchObject(refused)
    expect(await change({ settings: { deployments: { other: 'our-gpt' } } })).toMatchObject({ status: 200 })
    expect((await chat('other')).status).toBe(200)
  })
})
