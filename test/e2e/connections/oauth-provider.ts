import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { Provider } from 'oidc-provider'

/** An OAuth server over TLS, with a small API that accepts its tokens, and with faults that tests can enable. */
export class OAuthProvider {
  readonly client = { id: 'troupe', secret: randomBytes(24).toString('base64url') }
  /** One entry for each token request that the provider itself answered. */
  readonly granted: string[] = []
  /** If set, the status with which the token endpoint fails. */
  failing: number | null = null
  /** If set, the token endpoint handles requests only after this has resolved. */
  held: Promise<void> | null = null
  /** If set, the fixed answer of the token endpoint. */
  reply: {
    readonly status: number
    readonly text: string
    readonly headers?: Readonly<Record<string, string>>
  } | null = null
  /** If set, granted tokens are sent only after this has resolved. */
  kept: Promise<void> | null = null
  /** If set, the answer to a refresh token is repeated when that is used again, as by providers with a grace period. */
  hasGrace = false
  /** If set, token requests are cut before they are handled. */
  isCut = false
  /** Called when granted tokens are ready, but kept back. */
  onKept: () => void = () => {}
  /** Called when granted tokens have been sent. */
  onSent: () => void = () => {}
  readonly #answers = new Map<string, string>()
  /** Users whose tokens the API received, in order. */
  readonly seen: string[] = []
  /** Access tokens that the API received. */
  readonly tokens: string[] = []
  /** Called when a token request has arrived. */
  onToken: () => void = () => {}
  readonly certificate: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'oauth-'))
  readonly #server: Server
  #provider: Provider | null = null
  readonly #redirectUris: string[] = []
  readonly #ttl: { accessTokenS: number }

  private constructor(accessTokenS: number) {
    this.#ttl = { accessTokenS }
    this.certificate = join(this.#folder, 'cert.pem')
    const key = join(this.#folder, 'key.pem')
    const made = spawnSync('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-keyout', key, '-out', this.certificate, '-subj', '/CN=oauth test'],
      ...['-addext', 'subjectAltName=IP:127.0.0.1', '-addext', 'basicConstraints=critical,CA:TRUE'],
    ])
    if (made.status !== 0) throw new Error(String(made.stderr))
    this.#server = createServer(
      { key: readFileSync(key), cert: readFileSync(this.certificate) },
      (request, response) => {
        void this.#serve(request, response)
      },
    )
  }

  /** @param accessTokenS lifetime of access tokens in seconds. */
  static async listen({ accessTokenS = 3600 }: { readonly accessTokenS?: number } = {}): Promise<OAuthProvider> {
    const provider = new OAuthProvider(accessTokenS)
    await new Promise<void>((resolve) => provider.#server.listen(0, '127.0.0.1', resolve))
    return provider
  }

  get host(): string {
    const { port }: AddressInfo = Object(this.#server.address())
    return `127.0.0.1:${port}`
  }

  get url(): string {
    return `https://${this.host}`
  }

  /** Environment for a server to trust and reach it. */
  get env(): Readonly<Record<string, string>> {
    return { ALLOWED_PRIVATE_HOSTS: this.host, NODE_EXTRA_CA_CERTS: this.certificate }
  }

  /** Sets the lifetime of new access tokens. */
  live(accessTokenS: number): void {
    this.#ttl.accessTokenS = accessTokenS
  }

  /** Sets the lifetime of the next access token; later ones live for an hour. */
  liveOnce(accessTokenS: number): void {
    this.live(accessTokenS)
    this.onSent = () => this.live(3600)
  }

  /** Registers the client with the callback URLs of these servers. */
  register(...serverUrls: readonly string[]): void {
    this.#redirectUris.push(...serverUrls.map((url) => `${url}/v1/connections/oauth/callback`))
    const ttl = this.#ttl
    this.#provider = new Provider(this.url, {
      clients: [
        {
          client_id: this.client.id,
          client_secret: this.client.secret,
          redirect_uris: this.#redirectUris,
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
        },
      ],
      cookies: { keys: ['k'] },
      scopes: ['openid', 'offline_access', 'read', 'write'],
      pkce: { required: () => true },
      rotateRefreshToken: true,
      issueRefreshToken: async () => true,
      ttl: {
        AccessToken: () => ttl.accessTokenS,
        RefreshToken: 86_400,
        Session: 3600,
        Grant: 86_400,
        Interaction: 3600,
      },
      findAccount: async (_context: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
      features: { devInteractions: { enabled: true }, revocation: { enabled: true }, userinfo: { enabled: true } },
    })
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Config of a connection of the connector `oauth2`. */
  config(more: object = {}): object {
    return {
      authorization_url: `${this.url}/auth`,
      token_url: `${this.url}/token`,
      revocation_url: `${this.url}/token/revocation`,
      issuer: this.url,
      scopes: ['openid', 'offline_access'],
      client_id: this.client.id,
      client_secret: this.client.secret,
      base_url: this.url,
      test_path: '/api/me',
      ...more,
    }
  }

  /** Deletes every grant, as a new setup of the provider would. */
  forget(): void {
    const uris = this.#redirectUris.splice(0)
    this.register(...uris.map((uri) => uri.replace('/v1/connections/oauth/callback', '')))
  }

  /** Whether the provider still accepts this access token. */
  async knows(token: string): Promise<boolean> {
    return (await this.#provider?.AccessToken.find(token)) !== undefined
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/api/')) return this.#serveApi(request, response)
    if (request.url === '/token' && request.method === 'POST') {
      this.onToken()
      if (this.isCut) {
        request.destroy()
        return
      }
      if (this.held !== null) await this.held
      if (this.failing !== null) {
        response.writeHead(this.failing, { 'content-type': 'text/plain' }).end('not now')
        return
      }
      if (this.reply !== null) {
        const { status, text, headers = { 'content-type': 'application/json' } } = this.reply
        response.writeHead(status, headers).end(text)
        return
      }
      const refreshToken = await this.#refreshTokenIn(request)
      if (refreshToken === null) return
      const known = this.hasGrace ? this.#answers.get(refreshToken) : undefined
      if (known !== undefined) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(known)
        return
      }
      this.granted.push('token')
      response.on('finish', () => this.onSent())
      const { kept } = this
      if (kept !== null) holdBack(response, kept, () => this.onKept())
      if (refreshToken !== '') noteAnswer(response, (text) => this.#answers.set(refreshToken, text))
    }
    this.#provider?.callback()(request, response)
  }

  /** Reads the body, and leaves its fields to the provider; null when the client has left before. */
  async #refreshTokenIn(request: IncomingMessage): Promise<string | null> {
    const text = await readText(request).catch(() => null)
    if (text === null) return null
    const body = new URLSearchParams(text)
    Reflect.set(request, 'body', Object.fromEntries(body))
    return body.get('refresh_token') ?? ''
  }

  async #serveApi(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
    const found = await this.#provider?.AccessToken.find(token)
    const status = found === undefined ? 401 : 200
    if (found !== undefined) {
      this.seen.push(found.accountId)
      this.tokens.push(token)
    }
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ user: found?.accountId ?? null }))
  }
}

/** Notes the body of a successful answer, even if its client has left. */
const noteAnswer = (response: ServerResponse, note: (text: string) => void): void => {
  const end = response.end
  Reflect.set(response, 'end', (...given: unknown[]): ServerResponse => {
    if (response.statusCode === 200) note(String(given[0]))
    return Reflect.apply(end, response, given)
  })
}

/** Delays the end of a response until a promise resolves. */
const holdBack = (response: ServerResponse, until: Promise<void>, onHeld: () => void): void => {
  const end = response.end
  Reflect.set(response, 'end', (...given: unknown[]): ServerResponse => {
    onHeld()
    void until.then(() => Reflect.apply(end, response, given))
    return response
  })
}
