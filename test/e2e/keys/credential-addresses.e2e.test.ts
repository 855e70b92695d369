import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kinds } from '#actors/capabilities.ts'
import type { Api } from '../api.ts'
import { endsTurn } from '../stream-reader.ts'
import { World } from '../world.ts'

const secret = 'sweep-credential-4417'

/** A host that serves many parties by path. It records where the secret arrives. */
class SharedHost {
  /** Path and query of each request with the secret, without slashes at the end of the path. */
  readonly paths: string[] = []
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => {
      const { pathname, search } = new URL(request.url ?? '/', 'http://host')
      if (JSON.stringify(request.headers).includes(secret)) this.paths.push(pathname.replace(/\/+$/, '') + search)
      request.resume()
      request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}'))
    })
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get host(): string {
    const { port }: AddressInfo = Object(this.#server.address())
    return `127.0.0.1:${port}`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

/** A resource that keeps a credential for an address. */
interface Keeper {
  /** Creates it with the secret, for this URL. Returns its id. */
  readonly create: (url: string) => Promise<string>
  /** Changes its URL and nothing else. */
  readonly move: (id: string, url: string) => ReturnType<Api['post']>
  /** Lets the server use the credential. */
  readonly use: (id: string) => Promise<unknown>
}

const shared = new SharedHost()
let world: World
let api: Api
let providers: Api
let customProviders = ''
let names = 0

beforeAll(async () => {
  await shared.open()
  world = await World.start({ env: { ALLOWED_PRIVATE_HOSTS: shared.host } })
  api = world.api
  providers = await world.dashboard()
  customProviders = `/api/projects/${(await providers.get('/api/projects')).body.data[0].id}`
})
afterAll(async () => {
  await world.stop()
  shared.close()
})

const patched = { method: 'PATCH' } as const
const idOf = async (answer: ReturnType<Api['post']>, within = (body: Record<string, unknown>): unknown => body) => {
  const { status, body } = await answer
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return String(Object(within(body)).id)
}
const name = (): string => `keeper-${names++}`
const toolAt = (url: string, value: string) => ({
  ...{ type: 'http', name: 'weather', description: 'Weather.', parameters: { type: 'object', properties: {} }, url },
  headers: { authorization: value },
})
const agentWith = (tool: object) => ({ config: { model: 'simulated-1', tools: [tool] } })

/** One keeper for each kind with a sealed field that is sent to an address of a request. */
const keepers: Readonly<Record<string, Keeper>> = {
  provider_connections: {
    create: (url) =>
      idOf(api.post('/v1/provider-connections', { name: name(), provider: name(), base_url: url, api_key: secret })),
    move: (id, url) => api.post(`/v1/provider-connections/${id}`, { base_url: url }, patched),
    use: (id) => api.post(`/v1/provider-connections/${id}/test`),
  },
  custom_providers: {
    create: (url) =>
      idOf(
        providers.post(`${customProviders}/providers`, {
          name: name(),
          baseUrl: url,
          format: 'openai',
          apiKey: secret,
        }),
        ({ provider }) => provider,
      ),
    move: (id, url) => providers.post(`${customProviders}/providers/${id}`, { baseUrl: url }, patched),
    use: (id) => providers.post(`${customProviders}/custom-providers/test`, { provider_id: id }),
  },
  mcp_server_headers: {
    create: (url) => idOf(api.post('/v1/mcp/servers', { name: name(), url, headers: { authorization: secret } })),
    move: (id, url) => api.post(`/v1/mcp/servers/${id}`, { url }, patched),
    use: (id) => api.post(`/v1/mcp/servers/${id}/refresh-tools`),
  },
  tool_headers: {
    create: (url) => idOf(api.post('/v1/agents', { name: name(), ...agentWith(toolAt(url, secret)) })),
    move: (id, url) => api.post(`/v1/agents/${id}`, agentWith(toolAt(url, '[masked]')), patched),
    use: async (id) => {
      const session = await api.createSession({ agent_id: id })
      const turn = { input: 'Please use the weather tool', pause_on_tool_calls: false }
      await (await api.turn(session, turn)).until(endsTurn)
    },
  },
  connection_secrets: {
    create: (url) =>
      idOf(
        api.post('/v1/connections', {
          connector: 'api_key',
          api_key: secret,
          config: { base_url: url, test_path: '/me' },
        }),
      ),
    move: (id, url) => api.post(`/v1/connections/${id}`, { config: { base_url: url } }, patched),
    use: (id) => api.post(`/v1/connections/${id}/test`),
  },
}

const at = (rest: string): string => `http://${shared.host}${rest}`

/** Returns the places that received the secret while this work was done. */
const placesOf = async (work: () => Promise<unknown>): Promise<ReadonlySet<string>> => {
  const before = shared.paths.length
  await work()
  return new Set(shared.paths.slice(before))
}

const elsewhere = [
  '/other',
  '/own/deeper',
  '/own?tenant=b',
  '/OWN',
  '/own/../other',
  '/own/%2e%2e/other',
  '/own%2fx',
  '//own',
]
const same = ['/own/', '/other/../own', '/./own', '/%2e/own']

it('each sealed field declares the addresses that receive it, and each kind with one is swept', () => {
  const sent = kinds.filter(({ sealed = [] }) => sealed.some(({ sentTo }) => sentTo !== null)).map((kind) => kind.name)
  expect(sent.toSorted()).toEqual(Object.keys(keepers).toSorted())
})

describe.each(Object.entries(keepers))('a credential in %s', (_, { create, move, use }) => {
  it.each(elsewhere)('is not sent to %s of the same origin, to which only the URL was changed', async (path) => {
    const id = await create(at('/own'))
    const own = await placesOf(() => use(id))
    expect(own.size, 'it is used').toBeGreaterThan(0)
    const places = await placesOf(async () => {
      await move(id, at(path))
      await use(id)
    })
    expect([...places].filter((place) => !own.has(place))).toEqual([])
  })

  it.each(same)('is kept when its address is written as %s', async (path) => {
    const id = await create(at('/own'))
    const own = await placesOf(() => use(id))
    const { status, body } = await move(id, at(path))
    expect(status, JSON.stringify(body)).toBe(200)
    expect(await placesOf(() => use(id))).toEqual(own)
  })

  it('is not sent to another scheme, port or user of its host', async () => {
    const id = await create(at('/own'))
    const own = await placesOf(() => use(id))
    for (const url of [`https://${shared.host}/own`, 'http://127.0.0.1/own', `http://ada:pw@${shared.host}/own/x`])
      await move(id, url)
    expect([...(await placesOf(() => use(id)))].filter((place) => !own.has(place))).toEqual([])
  })
})

it.each(['/../other', '/%2e%2e/other', '/a/../../other', '/\\..\\..\\other'])(
  'test_path of a connection does not leave its base URL: %s',
  async (test_path) => {
    const config = { base_url: at('/own'), test_path }
    const { status, body } = await api.post('/v1/connections', { connector: 'api_key', api_key: secret, config })
    expect([status, body.error?.param]).toEqual([422, 'config.test_path'])
  },
)
