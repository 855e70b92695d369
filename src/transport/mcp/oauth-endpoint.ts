import type { Logger } from 'pino'
import { offeredScopes } from '#actors/accounts/oauth/authorization-request.ts'
import type { OAuthClients } from '#actors/accounts/oauth/oauth-clients.ts'
import { OAuthError } from '#actors/accounts/oauth/oauth-error.ts'
import { accessTokenS, type IssuedTokens, type OAuthGrants } from '#actors/accounts/oauth/oauth-grants.ts'
import { errors } from '#specs/errors/errors.ts'
import { serviceErrorOf } from '../api/refuse.ts'
import { ConnectionClosed, type Headers, type HttpRequest, type HttpResponse } from '../http/http-port.ts'
import type { StaticFiles } from '../static-files.ts'
import { serverOrigin } from './server-origin.ts'

/** Dependencies of the endpoints of OAuth. */
export interface OAuthParts {
  readonly clients: OAuthClients
  readonly grants: OAuthGrants
  /** Has the consent page. */
  readonly files: StaticFiles
  readonly clientAddress: (request: HttpRequest) => string
  readonly publicOrigin: string | null
  readonly log: Logger
}

type Answer = readonly [status: number, body: object, headers?: Headers]

/** Maximum size of a body: of a registration, which lists redirect URIs. It needs no reservation of memory. */
const maxBodyBytes = 12 * 1024

const paths = {
  metadata: '/.well-known/oauth-authorization-server',
  authorize: '/oauth/authorize',
  register: '/oauth/register',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
} as const

const known: ReadonlySet<string> = new Set(Object.values(paths))

/** Apps in browsers call these from their own origin. No endpoint reads a cookie, so that any origin may. */
const cors: Headers = [
  ['access-control-allow-origin', '*'],
  ['access-control-allow-methods', 'GET, POST, OPTIONS'],
  ['access-control-allow-headers', 'content-type, authorization, mcp-protocol-version'],
]

const uncached: Headers = [['cache-control', 'no-store']]

/**
 * The authorization server of `/mcp` (OAuth 2.1): metadata (RFC 8414), registration (RFC 7591), tokens and their
 * revocation (RFC 7009), and the address of the consent page. What that decides are operations of the API
 * (`oauth_consents`), so that nothing is fetched, stored or redirected before a member has signed in.
 */
export class OAuthEndpoint {
  readonly #parts: OAuthParts

  constructor(parts: OAuthParts) {
    this.#parts = parts
  }

  /** @returns whether the path belongs to these endpoints. */
  takes({ path }: Pick<HttpRequest, 'path'>): boolean {
    return known.has(path)
  }

  /** Answers a request whose path `takes` accepts. */
  async answer(request: HttpRequest, response: HttpResponse, requestId: string): Promise<void> {
    if (request.path === paths.authorize) return this.#page(request, response)
    if (request.method === 'OPTIONS') return response.send(204, cors, '')
    try {
      const [status, body, headers = []] = await this.#answerOf(request)
      response.send(status, [['content-type', 'application/json'], ...cors, ...headers], JSON.stringify(body))
    } catch (error) {
      if (error instanceof ConnectionClosed) return
      const [status, body, headers = []] = this.#refusal(error, requestId)
      response.send(status, [['content-type', 'application/json'], ...cors, ...headers], JSON.stringify(body))
    }
  }

  #answerOf(request: HttpRequest): Answer | Promise<Answer> {
    const method = request.path === paths.metadata ? 'GET' : 'POST'
    if (request.method !== method)
      return [405, { error: 'invalid_request', error_description: `Use ${method}.` }, [['allow', method]]]
    if (request.path === paths.metadata) return [200, this.#metadata(request), [['cache-control', 'no-cache']]]
    if (request.path === paths.register) return this.#register(request)
    return request.path === paths.token ? this.#token(request) : this.#revoke(request)
  }

  /** The same page for every request: it reads the parameters itself, once the member has signed in. */
  #page(request: HttpRequest, response: HttpResponse): void {
    const { method, remoteAddress } = request
    const page = { method, path: '/authorize.html', query: '', remoteAddress }
    const isServed = this.#parts.files.answer(
      { ...page, header: (name) => request.header(name), body: (...args) => request.body(...args) },
      response,
    )
    if (!isServed) response.send(405, [['allow', 'GET, HEAD']], '')
  }

  #metadata(request: HttpRequest): object {
    const issuer = serverOrigin(request, this.#parts.publicOrigin)
    return {
      issuer,
      authorization_endpoint: `${issuer}${paths.authorize}`,
      token_endpoint: `${issuer}${paths.token}`,
      registration_endpoint: `${issuer}${paths.register}`,
      revocation_endpoint: `${issuer}${paths.revoke}`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      scopes_supported: offeredScopes,
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    }
  }

  async #register(request: HttpRequest): Promise<Answer> {
    const body = (await request.body(maxBodyBytes)).toString('utf8')
    const { id, name, redirect_uris } = await this.#parts.clients.register(
      parsed(body),
      this.#parts.clientAddress(request),
    )
    const client = {
      ...{ client_id: id, client_id_issued_at: Math.floor(Date.now() / 1000), client_name: name, redirect_uris },
      ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
      token_endpoint_auth_method: 'none',
    }
    return [201, client, uncached]
  }

  async #token(request: HttpRequest): Promise<Answer> {
    const form = await formOf(request)
    const clientId = required(form, 'client_id')
    const resource = form.get('resource') ?? undefined
    const { grants } = this.#parts
    switch (required(form, 'grant_type')) {
      case 'authorization_code': {
        const [redirectUri, verifier] = [required(form, 'redirect_uri'), required(form, 'code_verifier')]
        const presented = { token: required(form, 'code'), clientId, resource }
        return issued(await grants.exchange({ ...presented, redirectUri, verifier }))
      }
      case 'refresh_token':
        return issued(await grants.refresh({ token: required(form, 'refresh_token'), clientId, resource }))
      default:
        throw new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.')
    }
  }

  async #revoke(request: HttpRequest): Promise<Answer> {
    const form = await formOf(request)
    await this.#parts.grants.revoke(required(form, 'token'), required(form, 'client_id'))
    return [200, {}, uncached]
  }

  #refusal(error: unknown, requestId: string): Answer {
    if (error instanceof OAuthError) {
      const { code, message, retryAfterS } = error
      const status = code === 'temporarily_unavailable' ? 429 : 400
      const wait: Headers = retryAfterS === null ? [] : [['retry-after', String(retryAfterS)]]
      return [status, { error: code, error_description: message }, [...uncached, ...wait]]
    }
    const { code: refused, message } = serviceErrorOf(error, { requestId, endpoint: null }, this.#parts.log)
    const { status } = errors[refused]
    const code = status < 500 ? 'invalid_request' : status === 503 ? 'temporarily_unavailable' : 'server_error'
    return [status, { error: code, error_description: message }, uncached]
  }
}

const issued = ({ accessToken, refreshToken, scopes }: IssuedTokens): Answer => [
  200,
  {
    ...{ access_token: accessToken, token_type: 'Bearer', expires_in: accessTokenS },
    ...{ refresh_token: refreshToken, scope: scopes.join(' ') },
  },
  uncached,
]

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw Object.assign(new OAuthError('invalid_client_metadata', 'The body is not valid JSON.'), { cause })
  }
}

/** @throws {OAuthError} `invalid_request` for another type of body, or a parameter that is given twice */
const formOf = async (request: HttpRequest): Promise<URLSearchParams> => {
  if (!request.header('content-type')?.startsWith('application/x-www-form-urlencoded'))
    throw new OAuthError('invalid_request', 'The body must be application/x-www-form-urlencoded.')
  const form = new URLSearchParams((await request.body(maxBodyBytes)).toString('utf8'))
  const names = [...form.keys()]
  if (new Set(names).size < names.length) throw new OAuthError('invalid_request', 'A parameter is given twice.')
  return form
}

const required = (form: URLSearchParams, name: string): string => {
  const value = form.get(name) ?? ''
  if (value === '') throw new OAuthError('invalid_request', `The parameter ${name} is missing.`)
  return value
}
