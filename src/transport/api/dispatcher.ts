import type { Logger } from 'pino'
import type { Call, Idempotency, Principal } from '#actors/call/call.ts'
import { requireStillReached } from '#actors/call/reach.ts'
import { readerOf } from '#actors/call/speaker.ts'
import type { IdempotentRequests } from '#records/idempotent.ts'
import { eventsOf, maxBytesOf } from '#specs/dsl/answer.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { idTextRule, isIdText } from '#specs/dsl/id-text.ts'
import { errors, ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import type { Telemetry } from '#telemetry/telemetry.ts'
import { readTraceparent } from '#telemetry/trace-context.ts'
import { isPreflight, originIn, preflightHeaders } from '../cors.ts'
import { Containment } from '../http/containment.ts'
import type { HttpHandler, HttpRequest, HttpResponse, UpgradeDecision } from '../http/http-port.ts'
import { requestId } from '../request-id.ts'
import type { StreamTicker } from '../streams/credential-watch.ts'
import type { SseStreams } from '../streams/sse.ts'
import { browserOf, type StreamLimit } from '../streams/stream-limit.ts'
import { answer, replayedHeaders } from './answer.ts'
import { attributionOf } from './attribution.ts'
import { type AdmittedBody, admitBody } from './body/admit-body.ts'
import type { BodyMemory } from './body/body-memory.ts'
import { memoryOwner } from './body/memory-owner.ts'
import { type ReadBody, readBody } from './body/read-body.ts'
import { SentAnswerMemory } from './body/sent-answer-memory.ts'
import { checkFields } from './check-fields.ts'
import type { Authenticator, Origins } from './credentials/authenticator.ts'
import { authorise, scopeFor } from './credentials/authorise.ts'
import { refuseCrossSite } from './credentials/csrf.ts'
import { aboutOf, aboutOfCall, type Tenants } from './credentials/named-tenant.ts'
import { admitReached, limitedScope } from './credentials/reached-tenant.ts'
import type { Endpoint } from './endpoint.ts'
import { checkEventNames } from './event-names.ts'
import { addHeaders, type Exchange } from './exchange.ts'
import { idempotencyOf } from './idempotency-key.ts'
import { kept } from './kept.ts'
import { lastEventId } from './last-event-id.ts'
import { LimitedResponse, wantsStream } from './limited-response.ts'
import { nearestPath } from './nearest-path.ts'
import { headersFor, newExchange } from './new-exchange.ts'
import { watchOwner } from './owner-watch.ts'
import { PathFamilies } from './path-families.ts'
import { refuse } from './refuse.ts'
import { type Match, Router } from './router.ts'
import { asStreamed, placeOfStream } from './schema.ts'
import { ServedCall } from './served-call.ts'

export interface ApiParts {
  readonly endpoints: readonly Endpoint[]
  readonly authenticator: Authenticator
  readonly origins: Origins
  readonly tenants: Tenants
  readonly idempotent: Pick<IdempotentRequests, 'run'>
  readonly streams: SseStreams
  readonly streamLimit: StreamLimit
  /** Ticks every second, and when a credential or tenant has ended. */
  readonly ticker: StreamTicker
  readonly bodies: BodyMemory
  /** The server's origin as browsers see it, e.g. `https://agents.example`; null: the `Host` header of the request. */
  readonly publicOrigin: string | null
  /** Returns the client's address, which behind a proxy is not the address of the connection. */
  readonly clientAddress: (request: HttpRequest) => string
  readonly log: Logger
  /** Traces and metrics for operators; absent: none are recorded. */
  readonly telemetry?: Telemetry | undefined
  /** Called with every answer: operation id (`none` when no route matched), status, and ms until the hand-over. */
  readonly observe: (operation: string, status: number, ms: number) => void
  /** Answers paths that are not operations (pages, health); false when the path is unknown. */
  readonly pages: (request: HttpRequest, response: HttpResponse, requestId: string) => boolean
  /** Decides whether a WebSocket upgrade is accepted. */
  readonly upgrade: (request: HttpRequest) => Promise<UpgradeDecision>
  /** Whether the process is shutting down and opens no more streams; absent: never. */
  readonly isDraining?: () => boolean
}

/** Input of a call, with the principal of its credential. */
interface CallInput {
  readonly principal: Principal
  readonly query: unknown
  readonly body: unknown
}

const publicPrincipal: Principal = { kind: 'public' }

/** Serves each operation in the same order: route, CORS, credential, access, body, validation, use-case, answer. */
export class Dispatcher implements HttpHandler {
  readonly #parts: ApiParts
  readonly #containment: Containment
  readonly #families: PathFamilies
  readonly #router = new Router<Endpoint>()
  readonly #nearestPath: (path: string) => string | null

  constructor(parts: ApiParts) {
    this.#parts = parts
    this.#containment = new Containment(parts.log)
    this.#families = new PathFamilies(parts.endpoints.map(({ operation }) => operation))
    this.#nearestPath = nearestPath(parts.endpoints.flatMap(({ operation }) => operation.paths))
    for (const endpoint of parts.endpoints) {
      const { method, paths, slashesInLast } = endpoint.operation
      for (const path of paths) this.#router.add(method, path, { target: endpoint, slashesInLast })
    }
  }

  request(request: HttpRequest, response: HttpResponse): void {
    const id = requestId(request.header('x-request-id'))
    const match = this.#router.find(request.path)
    if (match === null) {
      if (!this.#parts.pages(request, response, id))
        this.#nowhere(
          newExchange(request, response, { id, endpoint: null, envelope: this.#families.envelopeFor(request) }),
          new ServiceError('not_found', { message: unknownPath(this.#nearestPath(request.path)) }),
        )
      return
    }
    const endpoint = endpointFor(request.method, match.methods)
    if (endpoint !== undefined)
      void this.#traced(newExchange(request, response, { id, endpoint }), endpoint, match.params)
    else this.#withoutMethod(request, response, { id, match })
  }

  upgrade(request: HttpRequest): Promise<UpgradeDecision> {
    return this.#parts.upgrade(request)
  }

  /** Serves the request in its own span, a child of the caller's `traceparent`, if tracing is on. */
  #traced(exchange: Exchange, endpoint: Endpoint, params: readonly string[]): Promise<unknown> {
    const tracer = this.#parts.telemetry?.tracer
    if (tracer === undefined || tracer === null) return this.#serve(exchange, endpoint, params)
    const { method, paths, id } = endpoint.operation
    const attributes = {
      'http.request.method': method,
      'http.route': paths[0],
      'troupe.operation': id,
      'troupe.request_id': exchange.requestId,
    }
    const parent = readTraceparent(exchange.request.header('traceparent'))
    return tracer.run(`${method} ${paths[0]}`, { kind: 'server', attributes, parent }, async (span) => {
      const status = await this.#serve(exchange, endpoint, params)
      span.set({ 'http.response.status_code': status })
      if (status >= 500) span.end(String(status))
    })
  }

  /** @returns the status; 0 when the peer has disconnected. */
  async #serve(exchange: Exchange, endpoint: Endpoint, params: readonly string[]): Promise<number> {
    let status: number
    try {
      status = await this.#run(exchange, endpoint, params)
    } catch (error) {
      const { telemetry, clientAddress } = this.#parts
      if (endpoint.operation.id === 'auth.login' && error instanceof ServiceError)
        telemetry?.loginRefused(exchange.requestId, clientAddress(exchange.request), error.code)
      status = exchange.isCut ? errors.tenant_deleting.status : refuse(exchange, error, this.#parts.log)
    }
    exchange.reservation?.done()
    if (status !== 0) this.#observe(exchange, endpoint.operation.id, status)
    return status
  }

  /** Records an answered request. A failure here is only logged. */
  #observe({ requestId, startedMs }: Exchange, operation: string, status: number): void {
    const { log, observe } = this.#parts
    const record = (): void => {
      const ms = performance.now() - startedMs
      observe(operation, status, ms)
      if (log.isLevelEnabled('debug')) log.debug({ requestId, operation, status, ms }, 'request answered')
    }
    this.#containment.run('observe', record, () => {})
  }

  async #run(exchange: Exchange, endpoint: Endpoint, values: readonly string[]): Promise<number> {
    const { operation, validator } = endpoint
    const { request } = exchange
    const found = this.#principal(request, endpoint)
    const principal = found instanceof Promise ? await found : found
    if (operation.cors && originIn(request.header('origin')) !== undefined) await this.#checkOrigin(exchange, principal)
    this.#checkAccess(request, endpoint, principal)
    if (eventsOf(operation.answer) !== null) exchange.recheck = () => this.#recheck(request, endpoint)
    const query = validator.query(request.query)
    const {
      value: body,
      files,
      bytes,
      isLong = false,
    }: ReadBody = operation.body === null ? noBody : await this.#read(exchange, operation, principal)
    // each stage of a long body is short enough for the event loop, but all stages together are not
    if (isLong) await nextSlice()
    validator.body(body)
    if (isLong) await nextSlice()
    const params = named(operation.params, values)
    const reserved = checkFields(operation, principal, { body, params })
    const about = aboutOf(params, body)
    const naming = { principal, request, params, query, body, about }
    this.#admitStream(exchange, operation, naming)
    const admitted = admitReached(this.#parts.tenants, operation, naming)
    if (admitted !== undefined) await admitted
    const attributed = attributionOf(this.#parts.tenants, operation, naming)
    const attribution = attributed instanceof Promise ? await attributed : attributed
    const scope = limitedScope(operation, naming, scopeFor(operation, principal, attribution))
    checkEventNames(operation, request)
    const content = { params, query, body, files }
    const keyed = idempotencyOf(operation, { request, principal, scope, attribution }, content)
    const idempotency = keyed instanceof Promise ? await keyed : keyed
    if (isLong) await nextSlice()
    const call = new ServedCall(exchange, {
      principal,
      scope,
      params,
      query,
      body,
      bytes,
      files,
      idempotency,
      after: lastEventId(operation, request, query),
      attribution,
      reserved,
      clientAddress: this.#parts.clientAddress,
    })
    const waits = this.#reserve(exchange, operation, naming)
    if (waits !== undefined) await waits
    const result = await this.#result(exchange, endpoint, call)
    if (exchange.recheck !== undefined) await this.#watchPlace(exchange, endpoint, { principal, result })
    return answer(exchange, operation, { result, query, reader: readerOf(principal), streams: this.#parts.streams })
  }

  /** Reserves memory for the answer; a long one waits for it. @throws {ServiceError} (or rejects) `overloaded` */
  #reserve(exchange: Exchange, operation: Operation, input: CallInput): Promise<void> | undefined {
    const { principal } = input
    const ownerOf = () => memoryOwner(principal, () => this.#parts.clientAddress(exchange.request))
    const memory = new SentAnswerMemory(this.#parts.bodies, ownerOf, exchange.response)
    exchange.answerMemory = memory
    const max = maxBytesOf(operation.answer)
    if (max === 0 || wantsStream(operation, exchange.request, input)) return undefined
    return memory.reserve(max)
  }

  /** Reads the body. A long body waits for memory, which it holds until it is answered and no work runs for it. */
  #read(exchange: Exchange, operation: Operation, principal: Principal): Promise<ReadBody> {
    const { bodies: memory, clientAddress } = this.#parts
    const addressOf = () => clientAddress(exchange.request)
    const admitted = admitBody(exchange, { memory, principal, addressOf, max: operation.maxBodyBytes })
    const read = (reservation: AdmittedBody) => readBody(operation, exchange.request, reservation)
    return admitted instanceof Promise ? admitted.then(read) : read(admitted)
  }

  /**
   * Counts a browser's stream against its limit until the answer has ended.
   *
   * @throws {ServiceError} `too_many_streams`; `shutting_down` for a stream that the end of the process would cut
   */
  #admitStream(exchange: Exchange, operation: Operation, input: CallInput): void {
    const { request, response } = exchange
    if (!wantsStream(operation, request, input)) return
    if (this.#parts.isDraining?.() === true) throw new ServiceError('shutting_down', { retryAfterS: 1 })
    const browser = browserOf(input.principal, () => this.#parts.clientAddress(request))
    if (browser !== null) exchange.response = new LimitedResponse(response, this.#parts.streamLimit.take(browser))
  }

  #principal(request: HttpRequest, { operation }: Endpoint): Principal | Promise<Principal> {
    return operation.access.kinds.includes('public') ? publicPrincipal : this.#parts.authenticator.authenticate(request)
  }

  /** Repeats authentication and authorisation, as for a new request with this credential. */
  async #recheck(request: HttpRequest, endpoint: Endpoint): Promise<Principal> {
    const principal = await this.#principal(request, endpoint)
    authorise(endpoint.operation, principal)
    return principal
  }

  /**
   * Closes open streams of a suspended tenant, for every reader, and those of a tenant or installation that the
   * credential no longer reaches.
   *
   * @throws {ServiceError} `tenant_suspended`, `forbidden`
   */
  async #watchPlace(
    exchange: Exchange,
    endpoint: Endpoint,
    { principal: first, result }: { readonly principal: Principal; readonly result: unknown },
  ): Promise<void> {
    const place = placeOfStream(result)
    if ((place.tenant === null && place.installation === null) || first.kind === 'public') return
    const admit = async (principal: Principal) => {
      if (principal.kind === 'public') return
      if (place.tenant !== null) await this.#parts.tenants.admit(principal.project, place.tenant)
      await requireStillReached(principal, place)
    }
    await admit(first)
    exchange.recheck = async () => admit(await this.#recheck(exchange.request, endpoint))
  }

  #checkAccess(request: HttpRequest, { operation }: Endpoint, principal: Principal): void {
    authorise(operation, principal)
    if (operation.method === 'GET') return
    if (principal.kind === 'dashboard' || (principal.kind === 'public' && !operation.cors))
      refuseCrossSite(request, this.#parts.publicOrigin)
  }

  /** Restricts the answer to the project's allowed origins; until the project is known, every origin may read it. */
  async #checkOrigin(exchange: Exchange, principal: Principal): Promise<void> {
    const origin = originIn(exchange.request.header('origin')) ?? ''
    // authentication has already checked the origin against the key's own list
    if (principal.kind === 'agent_key' && principal.allowedDomains.length > 0) return
    if (principal.kind === 'public' || (await this.#parts.origins.allows(origin, principal.project))) return
    exchange.headers = headersFor(exchange.requestId, { answers: true, origin, allowed: false })
  }

  /** Runs the use-case, or repeats the answer to the first request with this idempotency key. */
  #result(exchange: Exchange, { operation, useCase }: Endpoint, call: ServedCall): Promise<unknown> {
    const { idempotency } = call
    watchOwner(exchange, { operation, call, parts: this.#parts })
    if (idempotency === null || operation.idempotency !== 'stored' || isEvents(operation, call)) return useCase(call)
    return this.#onceOnly(exchange, { operation, useCase }, { call, idempotency })
  }

  async #onceOnly(
    exchange: Exchange,
    { operation, useCase }: Pick<Endpoint, 'operation' | 'useCase'>,
    { call, idempotency }: { readonly call: ServedCall; readonly idempotency: Idempotency },
  ): Promise<unknown> {
    const { scope } = call
    const secret = operation.answer.kind === 'json' && operation.answer.secret
    const outcome = await this.#parts.idempotent.run(
      { operation: operation.id, scope, idempotency, secret, about: aboutOfCall(call) },
      (seeded) => kept(exchange, { operation, useCase, call }, seeded),
    )
    if (outcome.replayed) addHeaders(exchange, replayedHeaders)
    if ('error' in outcome) throw outcome.error
    return outcome.result
  }

  /** Answers a known path whose method has no operation: a preflight, OPTIONS, or `method_not_allowed`. */
  #withoutMethod(
    request: HttpRequest,
    response: HttpResponse,
    { id, match: { methods } }: { readonly id: string; readonly match: Match<Endpoint> },
  ): void {
    const allow = allowed(methods)
    const requested = methods.get(request.header('access-control-request-method') ?? '')
    const question = {
      answers: requested?.operation.cors ?? false,
      origin: originIn(request.header('origin')),
      allowed: true,
    }
    const preflight = isPreflight(request.method, (name) => request.header(name))
    const wanted = request.header('access-control-request-headers')
    const answers = preflight ? preflightHeaders(question, allow, wanted) : request.method === 'OPTIONS' ? [] : null
    if (answers !== null) {
      response.send(204, [['x-request-id', id], ['allow', allow.join(', ')], ...answers], '')
      return
    }
    const [any] = methods.values()
    const exchange = newExchange(request, response, { id, endpoint: any ?? null })
    addHeaders(exchange, [['allow', allow.join(', ')]])
    const message = `The path does not support this method. It supports ${[...methods.keys()].join(', ')}.`
    this.#nowhere(exchange, new ServiceError('method_not_allowed', { message }))
  }

  #nowhere(exchange: Exchange, error: ServiceError): void {
    this.#observe(exchange, 'none', refuse(exchange, error, this.#parts.log))
  }
}

const unknownPath = (meant: string | null): string =>
  `No operation has this path. ${meant === null ? 'If a newer client called it, upgrade the server. ' : `Did you mean ${meant}? `}The page /docs of this server lists all operations.`

/** Whether the answer is an actor's event stream. The actor's log has its events, and its commit keeps the key. */
const isEvents = ({ answer }: Operation, { body }: Call<unknown, unknown, unknown>): boolean =>
  eventsOf(answer) !== null && asStreamed(body)?.stream === true

/** HEAD is answered as GET, except for streams, whose answer is nothing but its body. */
const endpointFor = (method: string, methods: ReadonlyMap<string, Endpoint>): Endpoint | undefined => {
  if (method !== 'HEAD') return methods.get(method)
  const found = methods.get('GET')
  return found?.operation.answer.kind === 'events' ? undefined : found
}

const noBody = { value: undefined, files: [] }

const allowed = (methods: ReadonlyMap<string, Endpoint>): readonly string[] => [
  ...methods.keys(),
  ...(endpointFor('HEAD', methods) === undefined ? [] : ['HEAD']),
  'OPTIONS',
]

const noParams = Object.freeze({})

const named = (names: readonly string[], values: readonly string[]): object => {
  if (names.length === 0) return noParams
  const params: Record<string, string> = {}
  for (const [at, name] of names.entries()) {
    const value = values[at] ?? ''
    if (!isIdText(value)) throw invalidField(name, `${name} ${idTextRule}.`)
    params[name] = value
  }
  return params
}
