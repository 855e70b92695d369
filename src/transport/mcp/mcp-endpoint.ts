import { isIP } from 'node:net'
import type { McpHttpHandler } from '@modelcontextprotocol/server'
import type { Logger } from 'pino'
import { resourceOf } from '#actors/accounts/oauth/authorization-request.ts'
import type { Principal } from '#actors/call/call.ts'
import { checkShape } from '#outgoing/shares/json-body.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Followed } from '#src/tool-server/followed-turn.ts'
import { type ToolMode, toolModes } from '#src/tool-server/offered-tools.ts'
import type { ToolRequest } from '#src/tool-server/tool-request.ts'
import type { ApiAnswer } from '#src/tool-server/tool-result.ts'
import type { OfferedTools } from '#src/tool-server/tool-server.ts'
import { type AdmittedBody, admittedBody, bytesInto } from '../api/body/admit-body.ts'
import type { BodyMemory } from '../api/body/body-memory.ts'
import type { Authenticator } from '../api/credentials/authenticator.ts'
import { toolServerPath } from '../api/credentials/request-credentials.ts'
import { envelop } from '../api/envelopes.ts'
import { headersOf, serviceErrorOf } from '../api/refuse.ts'
import { BodyTooLarge, ConnectionClosed, type Headers, type HttpRequest, type HttpResponse } from '../http/http-port.ts'
import { InnerResponse } from './inner-response.ts'
import { offeredTo, requireScope } from './offered-to.ts'
import { serverOrigin } from './server-origin.ts'

/** Dependencies of the MCP endpoint. */
export interface McpParts {
  readonly authenticator: Authenticator
  readonly bodies: BodyMemory
  /** Returns the client's address, which behind a proxy is not the address of the connection. */
  readonly clientAddress: (request: HttpRequest) => string
  /** The server's origin as browsers see it; null: the `Host` header of the request. */
  readonly publicOrigin: string | null
  /** Serves an API request as if it had arrived over the network. */
  readonly serve: (request: HttpRequest, response: HttpResponse) => void
  readonly log: Logger
}

/** Path of the tool server. */
export const mcpPath = toolServerPath

const metadataPath = '/.well-known/oauth-protected-resource'
const maxBodyBytes = 1024 * 1024

/** Maximum number of names, strings, objects and arrays in a request, since the SDK parses it in one go. */
const maxWeight = 20_000
const json = [['content-type', 'application/json']] as const

/**
 * Serves the tool server at `/mcp` over streamable HTTP, both the protocol revisions with sessions and the one without.
 * A request needs a key or an access token of this server in `Authorization`. Operations called by tools are checked
 * against that credential like any other request.
 */
export class McpEndpoint {
  readonly #parts: McpParts

  constructor(parts: McpParts) {
    this.#parts = parts
  }

  /** @returns whether the path belongs to this endpoint. */
  takes({ path }: Pick<HttpRequest, 'path'>): boolean {
    return path === mcpPath || path === metadataPath || path === `${metadataPath}${mcpPath}`
  }

  /** Answers a request whose path `takes` accepts. */
  async answer(request: HttpRequest, response: HttpResponse, requestId: string): Promise<void> {
    if (request.path !== mcpPath) return this.#metadata(request, response)
    let reservation: AdmittedBody | null = null
    try {
      checkMethod(request)
      this.#requireOrigin(request)
      const principal = await this.#requireCredential(request)
      const mode = modeOf(request.query)
      const offered = offeredTo(principal, mode)
      if (request.method === 'POST') reservation = await this.#reservation(request, principal)
      const body = reservation === null ? null : await bytesInto(reservation, request, maxBodyBytes)
      // the cost of the protocol's parsers grows with nesting: 800 kB of brackets would block the event loop for a
      // second
      if (body !== null) checkShape(body, maxWeight)
      if (body !== null) requireScope(principal, body, { mode, tools: offered.tools })
      await passedOn(await (await this.#handler(request, offered)).fetch(asFetched(request, body)), response)
    } catch (error) {
      if (error instanceof ConnectionClosed) return
      const refused = serviceErrorOf(error, { requestId, endpoint: null }, this.#parts.log)
      const { status, body } = envelop('platform', refused, requestId)
      const isChallenge = status === 401 || refused.code === 'insufficient_scope'
      const challenge = ['www-authenticate', this.#challenge(request, refused)] as const
      const more = isChallenge ? [challenge] : headersOf(refused)
      response.send(status, [...json, ...more], JSON.stringify(body))
    } finally {
      reservation?.reserved?.leave()
    }
  }

  /** Reserves memory for a long body. @throws {ServiceError} `overloaded` */
  #reservation(request: HttpRequest, principal: Principal): AdmittedBody | Promise<AdmittedBody> {
    const { bodies: memory, clientAddress } = this.#parts
    return admittedBody(request, { memory, principal, addressOf: () => clientAddress(request), max: maxBodyBytes })
  }

  /**
   * Refuses requests from pages of another site, whatever credentials the browser attaches. Without PUBLIC_URL, another
   * site's host name may resolve to this machine (DNS rebinding), so that only an IP address or `localhost` is accepted
   * as origin.
   * @throws {ServiceError} `forbidden`
   */
  #requireOrigin(request: HttpRequest): void {
    const origin = request.header('origin')
    if (origin === undefined) return
    const url = URL.parse(origin)
    const { publicOrigin } = this.#parts
    const isOwn =
      publicOrigin === null
        ? url !== null && url.host === request.header('host') && isAddress(url.hostname)
        : origin === publicOrigin
    if (!isOwn) throw new ServiceError('forbidden', { message: 'The origin is not the one of this server.' })
  }

  /**
   * Requires a credential in a header. The dashboard's cookie does not count, because browsers attach it by themselves.
   * @throws {ServiceError}
   */
  async #requireCredential(request: HttpRequest): Promise<Principal> {
    const names = ['authorization', 'x-api-key', 'service_api_key']
    if (names.every((name) => request.header(name) === undefined)) throw new ServiceError('authentication_required')
    const principal = await this.#parts.authenticator.authenticate(request)
    const resource = principal.kind === 'secret_key' ? principal.grant?.resource : undefined
    if (resource === undefined || resource === this.#resource(request)) return principal
    throw new ServiceError('authentication_required', { message: `The token is for ${resource}.` })
  }

  /** The handler of the MCP SDK, which is imported at the first request, since most installations never use it. */
  async #handler(request: HttpRequest, offered: OfferedTools): Promise<McpHttpHandler> {
    const [{ createMcpHandler }, { toolServer }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('#src/tool-server/tool-server.ts'),
    ])
    return createMcpHandler(() => toolServer(offered, (wanted, followed) => this.#call(request, wanted, followed)))
  }

  #call(outer: HttpRequest, wanted: ToolRequest, { signal, onPart }: Followed): Promise<ApiAnswer> {
    const response = new InnerResponse(onPart)
    signal.addEventListener('abort', () => response.abandon(), { once: true })
    this.#parts.serve(innerRequest(outer, wanted), response)
    return response.answer
  }

  /** Protected resource metadata (RFC 9728). Keys of a project are bearer tokens too, which no server has to issue. */
  #metadata(request: HttpRequest, response: HttpResponse): void {
    const document = {
      resource: this.#resource(request),
      authorization_servers: [this.#origin(request)],
      scopes_supported: ['read', 'write'],
      bearer_methods_supported: ['header'],
      resource_name: 'Troupe',
    }
    response.send(200, [...json, ['access-control-allow-origin', '*']], JSON.stringify(document))
  }

  /** Names the metadata, and the scopes that a token has to have (RFC 6750, section 3). */
  #challenge(request: HttpRequest, { code }: ServiceError): string {
    const isMore = code === 'insufficient_scope'
    const scope = isMore || new URLSearchParams(request.query).get('mode') === 'write' ? 'read write' : 'read'
    const error = isMore ? 'error="insufficient_scope", ' : ''
    return `Bearer ${error}scope="${scope}", resource_metadata="${this.#origin(request)}${metadataPath}${mcpPath}"`
  }

  #resource(request: HttpRequest): string {
    return resourceOf(this.#origin(request))
  }

  #origin(request: HttpRequest): string {
    return serverOrigin(request, this.#parts.publicOrigin)
  }
}

const isAddress = (host: string): boolean => host === 'localhost' || isIP(host.replace(/^\[|\]$/g, '')) !== 0

/** @returns the mode that the URL names; null for none. @throws {ServiceError} `invalid_query` */
const modeOf = (query: string): ToolMode | null => {
  const wanted = new URLSearchParams(query).get('mode')
  if (wanted === null) return null
  const mode = toolModes.find((each) => each === wanted)
  if (mode === undefined) throw new ServiceError('invalid_query', { param: 'mode' })
  return mode
}

/**
 * Refuses methods that the protocol does not define; `Request` throws for some of them.
 * @throws {ServiceError} `method_not_allowed`
 */
const checkMethod = ({ method }: HttpRequest): void => {
  if (!['POST', 'GET', 'DELETE'].includes(method))
    throw new ServiceError('method_not_allowed', { headers: [['allow', 'POST']] })
}

/** Headers that the MCP SDK reads. */
const protocolHeaders = ['content-type', 'accept', 'mcp-protocol-version', 'mcp-session-id', 'last-event-id']

const asFetched = (request: HttpRequest, body: Buffer | null): Request => {
  const named = [...protocolHeaders, 'mcp-method', 'mcp-name']
  const headers = named.flatMap((name): [string, string][] => {
    const value = request.header(name)
    return value === undefined ? [] : [[name, value]]
  })
  const url = `http://localhost${mcpPath}?${request.query}`
  return new Request(url, { method: request.method, headers, ...(body !== null && { body: new Uint8Array(body) }) })
}

const passedOn = async (answer: Response, response: HttpResponse): Promise<void> => {
  const headers: Headers = [...answer.headers].filter(([name]) => name !== 'content-length')
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (!isStream || answer.body === null) return response.send(answer.status, headers, await answer.text())
  const reader = answer.body.getReader()
  let goOn = (): void => {}
  response.onClose(() => {
    goOn()
    void reader.cancel().catch(() => {})
  })
  const writer = response.stream(answer.status, headers)
  writer.onDrain(() => goOn())
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (writer.write(next.value)) continue
    const { promise, resolve } = Promise.withResolvers<void>()
    goOn = resolve
    if (!response.closed) await promise
  }
  writer.end()
}

/** Headers passed on to the inner request: the credential and the tenant and user it acts for, but no cookies. */
const passedHeaders = ['authorization', 'x-api-key', 'service_api_key', 'x-tenant-id', 'x-external-user-id']

const innerRequest = (outer: HttpRequest, { method, path, body }: ToolRequest): HttpRequest => {
  const [place = '', query = ''] = path.split('?', 2)
  const bytes = Buffer.from(body ?? '')
  const own: Readonly<Record<string, string>> = {
    accept: 'application/json',
    ...(body !== null && { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
  }
  return {
    ...{ method, path: place, query, remoteAddress: outer.remoteAddress, isOfTool: true },
    header: (name) => own[name] ?? (passedHeaders.includes(name) ? outer.header(name) : undefined),
    body: (maxBytes) => (bytes.length > maxBytes ? Promise.reject(new BodyTooLarge()) : Promise.resolve(bytes)),
  }
}
