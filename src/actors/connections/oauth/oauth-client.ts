import * as openid from 'openid-client'
import { boundedBody } from '#outgoing/bounded-body.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { isObject } from '#runtime/index.ts'
import type { OAuthServer } from './oauth-server.ts'

/** Maximum size of a token endpoint's response, in bytes. */
const maxTokenAnswerBytes = 256 * 1024

const timeoutMs = 15_000

/** Tokens returned by an OAuth token endpoint. */
export interface TokenAnswer {
  readonly accessToken: string
  readonly refreshToken: string | null
  /** Lifetime in seconds; null when the provider does not state it. */
  readonly expiresInS: number | null
  readonly scope: string | null
  /** The complete response, for fields that only some providers return. */
  readonly answer: Readonly<Record<string, unknown>>
}

/** Thrown when a token endpoint returns no tokens. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'
  /** OAuth error code, or a code of ours such as `provider_unavailable`. */
  readonly code: string
  /** Whether the code or refresh token is no longer valid. */
  readonly ended: boolean
  /** Whether retrying is pointless. */
  readonly isFinal: boolean

  constructor(code: string, message: string, { ended = false, isFinal = false, cause }: RefusalOptions = {}) {
    super(message, { cause })
    this.code = code
    this.ended = ended
    this.isFinal = isFinal
  }
}

interface RefusalOptions {
  readonly ended?: boolean
  readonly isFinal?: boolean
  readonly cause?: unknown
}

type Guard = Pick<SsrfGuard, 'request'>

/** An authorization code and the parameters of its request. */
export type CodeGrant = {
  readonly code: string
  readonly verifier: string
  readonly redirect_uri: string
  /** Issuer of a discovered server at which the sign-in was started; absent for a configured server. */
  readonly issuer?: string
}

/** OAuth client for one server. Requests pass the SSRF guard and follow no redirects, which would forward secrets. */
export class OAuthClient {
  readonly #server: OAuthServer
  readonly #config: openid.Configuration

  constructor(server: OAuthServer, guard: Guard, signal?: AbortSignal) {
    this.#server = server
    this.#config = new openid.Configuration(
      {
        issuer: server.issuer ?? new URL(server.authorizationUrl).origin,
        authorization_endpoint: server.authorizationUrl,
        token_endpoint: server.tokenUrl,
        ...(server.revocationUrl !== null && { revocation_endpoint: server.revocationUrl }),
      },
      server.clientId,
      undefined,
      authenticationOf(server),
    )
    // URLs without TLS were already refused, where necessary, when the connection was configured
    openid.allowInsecureRequests(this.#config)
    this.#config[openid.customFetch] = (url, init) =>
      guardedFetch(guard, url, { ...init, signal: signal ?? new AbortController().signal })
  }

  /**
   * Returns the URL at which the owner signs in. It always uses PKCE. Parameters of the request replace those that the
   * server's URL has already: servers refuse repeated ones (RFC 6749, section 3.1).
   */
  async authorizationUrl(request: {
    readonly state: string
    readonly verifier: string
    readonly redirectUri: string
    readonly scopes: readonly string[]
  }): Promise<string> {
    const { state, verifier, redirectUri, scopes } = request
    const parameters = {
      ...this.#server.parameters,
      ...this.#resource(),
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      redirect_uri: redirectUri,
      state,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }
    const url = openid.buildAuthorizationUrl(this.#config, parameters)
    const own = { ...parameters, client_id: this.#server.clientId, response_type: 'code' }
    for (const [name, value] of Object.entries(own)) url.searchParams.set(name, value)
    return url.href
  }

  /** Exchanges an authorization code. @throws {TokenRefused} */
  async exchange({ code, verifier, redirect_uri }: CodeGrant): Promise<TokenAnswer> {
    const url = new URL(redirect_uri)
    url.searchParams.set('code', code)
    const checks = { pkceCodeVerifier: verifier }
    return granted(() => openid.authorizationCodeGrant(this.#config, url, checks, this.#resource()))
  }

  /** Refreshes the tokens. @throws {TokenRefused} */
  async refresh(refreshToken: string): Promise<TokenAnswer> {
    return granted(() => openid.refreshTokenGrant(this.#config, refreshToken, this.#resource()))
  }

  #resource(): Record<string, string> {
    const { resource } = this.#server
    return resource ? { resource } : {}
  }

  /** Revokes a token, on a best-effort basis. Returns whether the provider confirmed it. */
  async revoke(token: string): Promise<boolean> {
    if (this.#server.revocationUrl === null) return false
    try {
      await openid.tokenRevocation(this.#config, token)
      return true
    } catch {
      // our copy is deleted anyway; at an unreachable provider, the token stays valid until it expires
      return false
    }
  }
}

const authenticationOf = ({ auth, clientSecret }: OAuthServer): openid.ClientAuth => {
  if (clientSecret === null || auth === 'none') return openid.None()
  return auth === 'client_secret_post' ? openid.ClientSecretPost(clientSecret) : basic(clientSecret)
}

/**
 * HTTP Basic authentication with form encoding (RFC 6749, section 2.3.1). The library would also encode `-`, `.` and
 * `_`, which form encoding leaves as they are, and which servers that do not decode would read wrongly.
 */
const basic =
  (secret: string): openid.ClientAuth =>
  (...[, { client_id }, , headers]: Parameters<openid.ClientAuth>) => {
    const credentials = `${formEncoded(client_id)}:${formEncoded(secret)}`
    headers.set('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`)
  }

const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

const granted = async (request: () => Promise<openid.TokenEndpointResponse>): Promise<TokenAnswer> => {
  try {
    const answer = await request()
    return {
      accessToken: answer.access_token,
      refreshToken: answer.refresh_token ?? null,
      expiresInS: answer.expires_in ?? null,
      scope: answer.scope ?? null,
      answer,
    }
  } catch (error) {
    throw refusalOf(error)
  }
}

const refusalOf = (error: unknown): TokenRefused => {
  if (error instanceof openid.ResponseBodyError && error.status < 500 && error.status !== 429) {
    const { error: code } = error
    const ended = code === 'invalid_grant'
    return new TokenRefused(code, `The provider refused: ${saying(code, error.error_description)}.`, {
      ended,
      isFinal: !ended && code !== 'temporarily_unavailable' && code !== 'slow_down',
      cause: error,
    })
  }
  return new TokenRefused('provider_unavailable', 'The token endpoint of the provider sent an invalid response.', {
    cause: error,
  })
}

/** Returns the provider's error as untrusted text: at most 300 printable ASCII characters. */
const saying = (code: string, description: string | undefined): string =>
  `${code}${description === undefined ? '' : ` (${description})`}`.replaceAll(/[^\x20-\x7e]/g, ' ').slice(0, 300)

interface FetchInit {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: openid.FetchBody
  readonly signal: AbortSignal
}

const guardedFetch = async (guard: Guard, url: string, init: FetchInit): Promise<Response> => {
  const answer = await guard.request(url, {
    kind: 'oauth',
    method: init.method === 'POST' ? 'POST' : 'GET',
    headers: { ...init.headers, accept: 'application/json' },
    ...(init.body !== undefined && init.body !== null && { body: String(init.body) }),
    signal: AbortSignal.any([init.signal, AbortSignal.timeout(timeoutMs)]),
    maxRedirects: 0,
  })
  const { bytes, isCut } = await boundedBody(answer.body, { maxBytes: maxTokenAnswerBytes })
  if (isCut) throw new Error('the response is too long')
  return standardAnswer(answer.statusCode, bytes.toString())
}

/**
 * Normalises a token response: some providers return errors with status 200, or no standard token type. The id token is
 * removed because it is not used.
 */
const standardAnswer = (status: number, text: string): Response => {
  const value = jsonOf(text)
  const hasBody = status !== 204 && status !== 304
  if (!isObject(value)) return new Response(hasBody ? text : null, { status })
  const { id_token: _who, token_type: _type, ...rest } = value
  const isRefused = typeof value.error === 'string'
  const body = isRefused ? value : { ...rest, token_type: 'bearer' }
  const shownStatus = isRefused && status < 400 ? 400 : status
  return new Response(JSON.stringify(body), { status: shownStatus, headers: { 'content-type': 'application/json' } })
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
