import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { LoopbackServer } from '#test/support/loopback-server.ts'

const { privateKey, publicKey } = await generateKeyPair('RS256')
const stranger = await generateKeyPair('RS256')

/** A provider whose every answer tests may replace, to see what is refused. */
export class TestProvider extends LoopbackServer {
  /** Claims of the ID token, in addition to those that are right. */
  claims: Readonly<Record<string, unknown>> = {}
  userinfo: Readonly<Record<string, unknown>> = {}
  metadata: Readonly<Record<string, unknown>> = {}
  /** Replaces an ID token. */
  forge: (token: string) => string | Promise<string> = (token) => token
  /** Replaces the answer at a path. */
  replies: Readonly<Record<string, string>> = {}
  /** Paths that are never answered. */
  silent: readonly string[] = []
  readonly requests: string[] = []
  readonly secrets: string[] = []
  #nonce = ''
  #challenge = ''
  #spent = new Set<string>()

  get issuer(): string {
    return this.url('')
  }

  /** Acts as a person who signs in at an authorization URL. @returns the query of the response */
  signIn(authorizationUrl: string, more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
    const { searchParams } = new URL(authorizationUrl)
    this.#nonce = searchParams.get('nonce') ?? ''
    this.#challenge = searchParams.get('code_challenge') ?? ''
    return { state: searchParams.get('state') ?? '', code: `code-${this.#challenge}`, iss: this.issuer, ...more }
  }

  /** Signs a token with the key of the provider, or of a stranger. */
  sign(claims: Readonly<Record<string, unknown>>, { ofStranger = false, kid = 'k' } = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const all = {
      iss: this.issuer,
      aud: 'client',
      sub: 'sub-1',
      iat: now,
      exp: now + 60,
      nonce: this.#nonce,
      ...claims,
    }
    const token = new SignJWT(all).setProtectedHeader({ alg: 'RS256', kid })
    return token.sign(ofStranger ? stranger.privateKey : privateKey)
  }

  async publicKeyText(): Promise<string> {
    return JSON.stringify(await exportJWK(publicKey))
  }

  protected async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '', this.issuer)
    this.requests.push(pathname)
    const body = new URLSearchParams(await text(request))
    if (this.silent.includes(pathname)) return
    const reply = this.replies[pathname] ?? JSON.stringify(await this.#reply(pathname, request, body))
    response.writeHead(reply.includes('"error"') ? 400 : 200, { 'content-type': 'application/json' }).end(reply)
  }

  async #reply(path: string, request: IncomingMessage, body: URLSearchParams): Promise<object> {
    if (path === '/.well-known/openid-configuration') return { ...this.#endpoints(), ...this.metadata }
    if (path === '/jwks') return { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }] }
    if (path === '/userinfo') return { sub: this.claims.sub ?? 'sub-1', ...this.userinfo }
    this.secrets.push(request.headers.authorization ?? body.get('client_secret') ?? '')
    const code = body.get('code') ?? ''
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url')
    if (challenge !== this.#challenge || code !== `code-${challenge}` || this.#spent.has(code))
      return { error: 'invalid_grant' }
    this.#spent.add(code)
    const id_token = await this.forge(await this.sign(this.claims))
    return { access_token: 'at', token_type: 'Bearer', id_token }
  }

  #endpoints(): object {
    return {
      issuer: this.issuer,
      authorization_endpoint: this.url('/auth'),
      token_endpoint: this.url('/token'),
      jwks_uri: this.url('/jwks'),
      userinfo_endpoint: this.url('/userinfo'),
      id_token_signing_alg_values_supported: ['RS256'],
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
    }
  }
}
