import * as openid from 'openid-client'
import { isSecureUrl } from '#outgoing/credential-address.ts'
import { guardedFetch } from '#outgoing/guarded-fetch.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import type { Row } from '#records/schema.ts'
import type { SecretBox } from '#records/secret-box.ts'
import { clientSecretAad, type OidcConnectionData } from './kinds.ts'
import type { Claims } from './oidc-identity.ts'

/** Limits of one answer of a provider: metadata, keys, tokens, user information. */
const answerLimits = { maxBytes: 256 * 1024, maxDepth: 16, maxValues: 10_000, maxRequests: 1 } as const

/** Time in ms for one request to a provider; a sign-in makes at most four. */
const requestMs = 5000

/** Metadata is read again after this time, in ms; after a failure, sooner. */
const freshMs = 10 * 60_000
const failedMs = 5000
const maxKnown = 500

/** Difference of clocks in seconds that is accepted. */
const clockToleranceS = 30

/** Signatures of ID tokens that are accepted: those of a private key, whatever the provider's metadata says. */
const algorithms: ReadonlySet<string> = new Set([
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
])

/** The provider cannot be reached, or its answer cannot be verified; `cause` says why, for the log only. */
export class OidcFailed extends Error {
  override readonly name = 'OidcFailed'
}

interface Parts {
  readonly guard: Pick<SsrfGuard, 'request'>
  readonly box: SecretBox
  readonly now: () => number
}

interface Known {
  readonly config: Promise<openid.Configuration>
  fromMs: number
  forMs: number
}

/** Our clients at the providers of connections. Requests pass the guard, follow no redirect and are bounded. */
export class OidcClients {
  readonly #parts: Parts
  readonly #known = new Map<string, Known>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Returns the URL at which a person signs in. @throws {OidcFailed} */
  async authorizationUrl(
    row: Row<OidcConnectionData>,
    request: {
      readonly state: string
      readonly nonce: string
      readonly verifier: string
      readonly redirectUri: string
    },
  ): Promise<string> {
    const config = await this.#config(row)
    const scopes = new Set(['openid', ...row.data.scopes])
    const url = built(config, {
      redirect_uri: request.redirectUri,
      scope: [...scopes].join(' '),
      state: request.state,
      nonce: request.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(request.verifier),
      code_challenge_method: 'S256',
    })
    // a scheme that runs something must not reach the browser
    if (!isSecureUrl(url.href)) throw new OidcFailed('the authorization endpoint is no web address')
    return url.href
  }

  /**
   * Exchanges the code of a response and returns the verified claims: of the ID token, and those that only the user
   * information has.
   *
   * @param arrived the URL at which the response arrived. @throws {OidcFailed}
   */
  async claims(
    row: Row<OidcConnectionData>,
    arrived: URL,
    expected: { readonly state: string; readonly nonce: string; readonly verifier: string },
  ): Promise<Claims> {
    const config = await this.#config(row)
    try {
      const tokens = await openid.authorizationCodeGrant(config, arrived, {
        expectedState: expected.state,
        expectedNonce: expected.nonce,
        pkceCodeVerifier: expected.verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('the response has no ID token')
      requireParty(claims, row.data.client_id)
      if (config.serverMetadata().userinfo_endpoint === undefined || hasAll(claims, row.data)) return claims
      return { ...(await openid.fetchUserInfo(config, tokens.access_token, claims.sub)), ...claims }
    } catch (cause) {
      throw new OidcFailed('the response of the provider cannot be verified', { cause })
    }
  }

  #config(row: Row<OidcConnectionData>): Promise<openid.Configuration> {
    const key = `${row.id} ${row.version}`
    const found = this.#known.get(key)
    const now = this.#parts.now()
    // an entry of the future was made before the clock was set back
    if (found !== undefined && found.fromMs <= now && now - found.fromMs < found.forMs) return found.config
    const config = this.#discover(row)
    const known: Known = { config, fromMs: now, forMs: freshMs }
    config.catch(() => Object.assign(known, { fromMs: this.#parts.now(), forMs: failedMs }))
    this.#known.delete(key)
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size >= maxKnown) this.#known.delete(oldest)
    this.#known.set(key, known)
    return config
  }

  async #discover(row: Row<OidcConnectionData>): Promise<openid.Configuration> {
    const { issuer, client_id } = row.data
    const options = {
      [openid.customFetch]: this.#fetch,
      timeout: requestMs / 1000,
      execute: issuer.startsWith('http:') ? [openid.allowInsecureRequests] : [],
    }
    try {
      if (!isSecureUrl(issuer)) throw new Error('the issuer must use https')
      const found = await openid.discovery(new URL(issuer), client_id, undefined, openid.None(), options)
      const { supportsPKCE: _help, ...server } = found.serverMetadata()
      const config = new openid.Configuration(
        { ...server, id_token_signing_alg_values_supported: allowedOf(server.id_token_signing_alg_values_supported) },
        client_id,
        { [openid.clockTolerance]: clockToleranceS },
        this.#authentication(row, server.token_endpoint_auth_methods_supported),
      )
      config[openid.customFetch] = this.#fetch
      config.timeout = requestMs / 1000
      if (issuer.startsWith('http:')) openid.allowInsecureRequests(config)
      // the signature is checked too, although the token comes from the provider itself
      openid.enableNonRepudiationChecks(config)
      return config
    } catch (cause) {
      throw new OidcFailed('the provider cannot be found', { cause })
    }
  }

  #authentication({ id, data }: Row<OidcConnectionData>, methods: readonly string[] = []): openid.ClientAuth {
    if (data.client_secret === null) return openid.None()
    const [issuer, secret]: unknown[] = JSON.parse(this.#parts.box.open(data.client_secret, clientSecretAad(id)))
    if (issuer !== data.issuer || typeof secret !== 'string') throw new Error('the client secret is for another issuer')
    return methods.includes('client_secret_post') ? openid.ClientSecretPost(secret) : openid.ClientSecretBasic(secret)
  }

  readonly #fetch: openid.CustomFetch = async (url, { method, headers, body, signal }) => {
    const outer = AbortSignal.timeout(requestMs)
    const request = guardedFetch(this.#parts.guard, answerLimits, { kind: 'oauth', outer })
    const text = body === undefined || body === null ? null : String(body)
    return request(url, { method, headers, body: text, ...(signal !== undefined && { signal }) })
  }
}

/** @throws {OidcFailed} for an endpoint that is not https, or none */
const built = (config: openid.Configuration, parameters: Record<string, string>): URL => {
  try {
    return openid.buildAuthorizationUrl(config, parameters)
  } catch (cause) {
    throw new OidcFailed('the authorization endpoint is not valid', { cause })
  }
}

/** A token for several audiences must name us as the one that it was issued to (OpenID Connect Core, 3.1.3.7). */
const requireParty = ({ aud, azp }: openid.IDToken, clientId: string): void => {
  if (Array.isArray(aud) && aud.length > 1 && azp === undefined) throw new Error('the ID token names no party')
  if (azp !== undefined && azp !== clientId) throw new Error('the ID token was issued to another party')
}

const allowedOf = (supported: readonly string[] = ['RS256']): string[] =>
  supported.filter((each) => algorithms.has(each))

/** Whether an ID token has all claims that the connection reads. */
const hasAll = (claims: Claims, { role_claim }: OidcConnectionData): boolean =>
  claims.email !== undefined && claims.name !== undefined && (role_claim === null || claims[role_claim] !== undefined)
