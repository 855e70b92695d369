import type { ServerResponse } from 'node:http'
import { Provider } from 'oidc-provider'
import { isObject } from '#runtime/schema.ts'
import { type Arrived, type NewEraServer, type ServedTool, startNewEraServer } from './new-era-server.ts'

/** A request with a token, at the tool server. */
interface Admitted {
  readonly user: string
  readonly token: string
  readonly method: string
  readonly scopes: readonly string[]
}

/** A tool server and, at the same origin, the authorization server whose tokens it requires. */
export class ProtectedServer {
  /** Scopes that calls of a tool require, by its name. */
  readonly scopesOfTool: Record<string, readonly string[]> = {}
  /** Requests that were served, in order. */
  readonly admitted: Admitted[] = []
  /** Bodies of token requests, in order. */
  readonly tokenRequests: URLSearchParams[] = []
  /** If set, granted tokens are sent only after this has resolved. */
  kept: Promise<void> | null = null
  /** Called when a token request has arrived. */
  onToken: () => void = () => {}
  /** Whether scopes of tools are demanded even of tokens that have them. */
  isInsatiable = false
  #server: NewEraServer | null = null
  #provider: Provider | null = null
  readonly #ttl = { accessTokenS: 3600 }

  static async start(tools: readonly ServedTool[], port = 0): Promise<ProtectedServer> {
    const made = new ProtectedServer()
    made.#server = await startNewEraServer(tools, { port, before: (arrived) => made.#before(arrived) })
    made.#provider = made.#newProvider()
    return made
  }

  get url(): string {
    return this.#server?.url ?? ''
  }

  get host(): string {
    return this.#server?.host ?? ''
  }

  get issuer(): string {
    return `http://${this.host}`
  }

  get calls(): NewEraServer['calls'] {
    return this.#server?.calls ?? []
  }

  /** Sets the lifetime of new access tokens. */
  live(accessTokenS: number): void {
    this.#ttl.accessTokenS = accessTokenS
  }

  /** Whether the authorization server still accepts this token. */
  async knows(token: string): Promise<boolean> {
    return (await this.#provider?.AccessToken.find(token)) !== undefined
  }

  /** Forgets all clients and grants, as a new setup of the authorization server would. */
  forget(): void {
    this.#provider = this.#newProvider()
  }

  async close(): Promise<void> {
    await this.#server?.close()
  }

  async #before({ request, response, body }: Arrived): Promise<boolean> {
    const path = (request.url ?? '').split('?')[0] ?? ''
    if (path === '/.well-known/oauth-protected-resource/mcp') {
      json(response, { resource: this.url, authorization_servers: [this.issuer], scopes_supported: ['read'] })
      return true
    }
    if (path !== '/mcp') {
      if (path === '/token') {
        this.onToken()
        const { kept } = this
        if (kept !== null) holdBack(response, kept)
      }
      request.on('data', (part: Buffer) => {
        if (path === '/token') this.tokenRequests.push(new URLSearchParams(part.toString()))
      })
      this.#provider?.callback()(request, response)
      return true
    }
    return body === null ? false : this.#refuses(request.headers.authorization, { response, body })
  }

  async #refuses(
    authorization: string | undefined,
    { response, body }: { readonly response: ServerResponse; readonly body: Buffer },
  ): Promise<boolean> {
    const token = authorization?.replace('Bearer ', '') ?? ''
    const found = token === '' ? undefined : await this.#provider?.AccessToken.find(token)
    const metadata = `resource_metadata="${this.issuer}/.well-known/oauth-protected-resource/mcp"`
    const challenge = (status: number, more: string): true => {
      response.writeHead(status, { 'www-authenticate': `Bearer ${metadata}, ${more}` }).end()
      return true
    }
    // the token of another resource is as good as none
    if (found === undefined || found.aud !== this.url) return challenge(401, 'scope="read"')
    const message: unknown = JSON.parse(body.toString())
    const { method, params } = isObject(message) ? message : {}
    const scopes = (found.scope ?? '').split(' ')
    const required = method === 'tools/call' && isObject(params) ? (this.scopesOfTool[String(params.name)] ?? []) : []
    if (required.length > 0 && (this.isInsatiable || !required.every((scope) => scopes.includes(scope))))
      return challenge(403, `error="insufficient_scope", scope="${required.join(' ')}"`)
    this.admitted.push({ user: found.accountId, token, method: String(method), scopes })
    return false
  }

  #newProvider(): Provider {
    const ttl = this.#ttl
    return new Provider(this.issuer, {
      clients: [],
      cookies: { keys: ['k'] },
      scopes: ['openid', 'offline_access', 'read', 'write', 'admin'],
      pkce: { required: () => true },
      rotateRefreshToken: true,
      issueRefreshToken: async () => true,
      ttl: {
        AccessToken: () => ttl.accessTokenS,
        ...{ RefreshToken: 86_400, Session: 3600, Grant: 86_400, Interaction: 3600 },
      },
      findAccount: async (_context: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
      features: {
        devInteractions: { enabled: true },
        revocation: { enabled: true },
        registration: { enabled: true },
        resourceIndicators: {
          enabled: true,
          useGrantedResource: async () => true,
          getResourceServerInfo: async (_context: unknown, resource: string) => ({
            ...{ scope: 'read write admin', audience: resource, accessTokenFormat: 'opaque' },
          }),
        },
      },
    })
  }
}

const json = (response: ServerResponse, value: object): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** Delays the end of a response until a promise resolves. */
const holdBack = (response: ServerResponse, until: Promise<void>): void => {
  const end = response.end
  Reflect.set(response, 'end', (...given: unknown[]): ServerResponse => {
    void until.then(() => Reflect.apply(end, response, given))
    return response
  })
}
