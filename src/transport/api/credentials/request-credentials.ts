import type { Credentials } from '#actors/accounts/credentials.ts'
import type { Principal } from '#actors/call/call.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { HttpRequest } from '#transport/http/http-port.ts'
import type { Tenants } from './named-tenant.ts'

/**
 * Returns the principal of a request. The first credential present decides, so that a wrong one never falls back to
 * another: `Authorization: Bearer`, `SERVICE_API_KEY`, `x-api-key` (as sent by Anthropic's clients), `x-goog-api-key`
 * (by Google's), the subprotocol with a key that OpenAI's clients for browsers offer at the Realtime API, `?token=` of a
 * WebSocket upgrade or a browser's EventSource, neither of which can send headers (client tokens only, since URLs end
 * up in proxy logs; this server never logs them), the dashboard's cookie.
 *
 * @param cookieName name of the dashboard's cookie.
 * @throws {ServiceError} `authentication_required`; `not_found` when a dashboard request names another account's
 * project.
 */
export const principalOf = (
  credentials: Credentials,
  request: HttpRequest,
  cookieName: string,
): Principal | Promise<Principal> => {
  const authorization = request.header('authorization')
  if (authorization !== undefined) return credentials.token(bearerOf(authorization), request.header('origin'))
  const key = keyHeaders.map((name) => request.header(name)).find((value) => value !== undefined)
  if (key !== undefined) return credentials.token(key, request.header('origin'))
  const offered = request.path.endsWith(realtimePath) && isUpgrade(request) ? keyOffered(request) : null
  if (offered !== null) return credentials.token(offered, request.header('origin'))
  const token = isUpgrade(request) || isEventSource(request) ? queryToken(request.query) : null
  if (token !== null) return credentials.clientToken(token)
  const cookie = cookieOf(request.header('cookie') ?? '', cookieName)
  if (cookie !== null) return credentials.dashboard(cookie, namedProject(request), request.method !== 'GET')
  throw new ServiceError('authentication_required')
}

/** Headers other than `Authorization` that carry a key. */
const keyHeaders = ['service_api_key', 'x-api-key', 'x-goog-api-key'] as const

/**
 * The dispatcher's authenticator, backed by the credentials of this installation. It also refuses tokens of a tenant
 * that is suspended or deleted, and of a user that is forgotten.
 */
export const authenticatorOf = (credentials: Credentials, tenants: Tenants, cookieName: string) => ({
  authenticate: (request: HttpRequest): Principal | Promise<Principal> => {
    const found = principalOf(credentials, request, cookieName)
    const served = (principal: Principal) => admitted(tenants, forResource(principal, request))
    return found instanceof Promise ? found.then(served) : served(found)
  },
  readmit: async (principal: Principal): Promise<Principal> => admitted(tenants, await credentials.served(principal)),
})

/** Refuses the access token of an app, and an ephemeral secret, anywhere but at the resource that it is for. */
const forResource = (principal: Principal, { path, isOfTool }: HttpRequest): Principal => {
  if ('realtimeSecret' in principal && !path.endsWith(realtimePath))
    throw new ServiceError('authentication_required', { message: `The secret is for ${realtimePath} only.` })
  const isForeign = principal.kind === 'secret_key' && principal.grant !== undefined
  if (!isForeign || isOfTool === true || path === toolServerPath) return principal
  throw new ServiceError('authentication_required', { message: `The token is for ${principal.grant?.resource} only.` })
}

/** Path of the resource that apps' access tokens are for. */
export const toolServerPath = '/mcp'

/** Path of the Realtime API, which ephemeral secrets are for. */
const realtimePath = '/v1/realtime'

/** Prefix of the subprotocol in which a browser sends its key, since it cannot set headers. */
const keyProtocol = 'openai-insecure-api-key.'

const keyOffered = (request: HttpRequest): string | null => {
  const offered = (request.header('sec-websocket-protocol') ?? '').split(',', 16).map((each) => each.trim())
  return offered.find((each) => each.startsWith(keyProtocol))?.slice(keyProtocol.length) ?? null
}

const admitted = (tenants: Tenants, principal: Principal): Principal | Promise<Principal> => {
  if (principal.kind !== 'client_token') return principal
  const answer = tenants.admitUser(principal.project, principal.tenant, principal.user)
  return answer === undefined ? principal : answer.then(() => principal)
}

/** @throws {ServiceError} `authentication_required` for another scheme, or none */
const bearerOf = (authorization: string): string => {
  const token = authorization.slice(0, 7).toLowerCase() === 'bearer ' ? authorization.slice(7).trim() : ''
  if (token !== '') return token
  throw new ServiceError('authentication_required', {
    message: 'The header Authorization has no bearer token. Send a key as Authorization: Bearer <key>.',
  })
}

const isUpgrade = (request: HttpRequest): boolean => request.header('upgrade')?.toLowerCase() === 'websocket'

/** Whether the request looks like one of a browser's EventSource, which only sends GET with this `Accept`. */
const isEventSource = (request: HttpRequest): boolean =>
  request.method === 'GET' && request.header('accept')?.trim() === 'text/event-stream'

const queryToken = (query: string): string | null => new URLSearchParams(query).get('token')

const cookieOf = (header: string, name: string): string | null => {
  for (const part of header.split(';')) {
    const at = part.indexOf('=')
    if (part.slice(0, at).trim() === name) return part.slice(at + 1).trim()
  }
  return null
}

const projectsPath = '/api/projects/'

/**
 * The project in the path, in `X-Project-Id`, or in `?project_id=` of an upgrade, where a page cannot set headers; null
 * for none.
 */
const namedProject = (request: HttpRequest): string | null => {
  if (!request.path.startsWith(projectsPath)) {
    const named = isUpgrade(request) ? new URLSearchParams(request.query).get('project_id') : null
    return request.header('x-project-id') ?? named
  }
  const rest = request.path.slice(projectsPath.length)
  const end = rest.indexOf('/')
  return (end < 0 ? rest : rest.slice(0, end)) || null
}
