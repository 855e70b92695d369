import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '#test/e2e/world.ts'
import { VertexServer } from '#test/support/clouds/vertex-server.ts'
import { cloudGuarantees } from './cloud-suite.ts'

const pair = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const place = { project: 'acme-prod', location: 'europe-west4' }
const email = 'gateway@acme-prod.iam.gserviceaccount.com'
const opened = () => new VertexServer({ ...place, email, keyId: 'key-1', publicKey: pair.publicKey }).listening()
const accountOf = (server: VertexServer) => ({
  ...{ type: 'service_account', project_id: place.project, private_key_id: 'key-1', private_key: pair.privateKey },
  ...{ client_email: email, token_uri: server.url('/token') },
})
const connectionTo = (server: VertexServer, account: object = accountOf(server)) => ({
  provider: 'vertex',
  base_url: server.url(`/v1/projects/${place.project}/locations/${place.location}`),
  credentials: { service_account: JSON.stringify(account) },
})
/** A line of the key, since the whole of it has line breaks. */
const secrets = [pair.privateKey.split('\n')[3] ?? '']
const listed = ['claude-haiku-4-5', 'gemini-2.5-flash']

describe("Google Vertex AI with Google's models", () => {
  cloudGuarantees(async () => {
    const server = await opened()
    return {
      ...{ server, connection: connectionTo(server), secrets, model: 'gemini-3.5-flash', listed },
      // 1.5 USD a million in, 0.15 cached, 9 out
      ...{ cost: '0.000243', cachedCost: '0.000108', written: 0, marks: false },
    }
  })
})

describe("Google Vertex AI with Anthropic's models", () => {
  cloudGuarantees(async () => {
    const server = await opened()
    return {
      ...{ server, connection: connectionTo(server), secrets, model: 'vertex/claude-opus-4-7', listed },
      // 5 USD a million in, 0.5 from the cache, 6.25 to it, 25 out
      ...{ cost: '0.000775', cachedCost: '0.0003375', written: 0, marks: true },
    }
  })
})

describe('a connection to Google Vertex AI', () => {
  let server: VertexServer
  let world: World
  beforeAll(async () => {
    server = await opened()
    world = await World.start({ tools: [server] })
  })
  afterAll(async () => {
    await world.stop()
    await server.close()
  })

  const connect = (more: object) => world.api.post('/v1/provider-connections', { name: 'Google', ...more })
  const chat = () =>
    world.api.post('/v1/chat/completions', {
      ...{ model: 'gemini-3.5-flash', messages: [{ role: 'user', content: 'text' }] },
    })

  it('is issued one token for all calls that wait for it', async () => {
    const { id } = (await connect(connectionTo(server))).body
    const answers = await Promise.all(Array.from({ length: 20 }, chat))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(server.tokensIssued).toBe(1)
    await world.api.get(`/v1/provider-connections/${id}`, { method: 'DELETE' })
  })

  it('with an account that Google does not know says so', async () => {
    const { id } = (await connect(connectionTo(server, { ...accountOf(server), client_email: 'other@example.com' })))
      .body
    expect(await chat()).toMatchObject({ status: 502, body: { error: { code: 'provider_error' } } })
    const tested = await world.api.post(`/v1/provider-connections/${id}/test`)
    expect(tested.body).toMatchObject({ success: false, error: { code: 'key_refused' } })
    await world.api.get(`/v1/provider-connections/${id}`, { method: 'DELETE' })
  })

  it('is refused with the name of the field that is wrong', async () => {
    const good = connectionTo(server)
    const param = 'credentials.service_account'
    const wrong: readonly (readonly [more: object, param: string, code: string])[] = [
      [{ credentials: undefined }, param, 'missing_field'],
      [{ credentials: undefined, api_key: 'AIza-key' }, 'api_key', 'invalid_field'],
      [{ credentials: { service_account: 'no json' } }, param, 'invalid_field'],
      [connectionTo(server, { ...accountOf(server), private_key: 'x' }), param, 'invalid_field'],
      [connectionTo(server, { ...accountOf(server), token_uri: 'http://10.0.0.1/token' }), param, 'invalid_field'],
      [{ base_url: null, settings: { project_id: 'acme' } }, 'settings.location', 'missing_field'],
    ]
    for (const [more, place, code] of wrong)
      expect((await connect({ ...good, ...more })).body.error, JSON.stringify(more)).toMatchObject({
        code,
        param: place,
      })
  })
})
