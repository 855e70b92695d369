import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '#test/e2e/world.ts'
import { BedrockServer } from '#test/support/clouds/bedrock-server.ts'
import { cloudGuarantees } from './cloud-suite.ts'

const model = 'us.anthropic.claude-haiku-4-5-20251001-v1:0'
const options = {
  ...{ id: 'AKIDOFACUSTOMER', secret: 'aws-secret/of+a-customer-0123456789', session: 'session-token-of-a-customer' },
  ...{ region: 'eu-central-1', model },
}
const credentials = {
  ...{ access_key_id: options.id, secret_access_key: options.secret, session_token: options.session },
}

describe('Amazon Bedrock by a signed request', () => {
  cloudGuarantees(async () => {
    const server = await new BedrockServer(options).listening()
    const connection = {
      provider: 'bedrock',
      base_url: server.url(''),
      settings: { region: options.region },
      credentials,
    }
    return {
      ...{ server, connection, model, secrets: [options.secret, options.session] },
      listed: ['amazon.nova-lite-v1:0', 'eu.a', 'us.b'],
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

  it('is refused with the name of the field that is wrong', async () => {
    const { access_key_id } = credentials
    const wrong: readonly (readonly [more: object, param: string, code: string])[] = [
      [{ credentials: { access_key_id } }, 'credentials.secret_access_key', 'missing_field'],
      [{ credentials: { ...credentials, client_secret: 'x' } }, 'credentials.client_secret', 'invalid_field'],
      [{ base_url: null, settings: {} }, 'settings.region', 'missing_field'],
      [{ settings: { location: 'eu' } }, 'settings.location', 'invalid_field'],
    ]
    for (const [more, param, code] of wrong)
      expect((await connect(more)).body.error, JSON.stringify(more)).toMatchObject({ code, param })
  })
})
