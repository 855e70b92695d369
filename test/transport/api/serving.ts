import pino from 'pino'
import type { Principal } from '#actors/call/call.ts'
import type { AnyUseCases } from '#actors/call/use-cases.ts'
import { IdempotentRequests, idempotencyKeys } from '#records/idempotent.ts'
import { systemClock } from '#runtime/clock.ts'
import { Ticker } from '#runtime/ticker.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { TrustedProxies } from '#src/config.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { wholeReach } from '#test/support/whole-reach.ts'
import { BodyMemory } from '#transport/api/body/body-memory.ts'
import { type ApiParts, Dispatcher } from '#transport/api/dispatcher.ts'
import { endpointsOf } from '#transport/api/endpoint.ts'
import { clientAddressReader } from '#transport/client-address.ts'
import {
  BodyTooLarge,
  type BodyWriter,
  type Headers,
  type HttpRequest,
  type HttpResponse,
} from '#transport/http/http-port.ts'
import { SseStreams } from '#transport/streams/sse.ts'
import { StreamLimit } from '#transport/streams/stream-limit.ts'

/** A request as a test writes it. A `body` that is not a string is sent as JSON. */
export interface Sent {
  readonly method?: string
  /** Path and query. */
  readonly target: string
  readonly as?: Principal | 'nobody'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** When the peer disconnects. */
  readonly gone?: Promise<void>
}

/** The response with its body as text, and parsed if it is JSON. */
export interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly json: unknown
}

/** A credential of each kind. */
export const principals = {
  secret_key: { kind: 'secret_key', project: 'prj_1', keyId: 'key_1' },
  agent_key: {
    kind: 'agent_key',
    project: 'prj_1',
    keyId: 'key_2',
    agentId: 'agt_1',
    keyType: 'secret',
    allowedDomains: [],
    reach: wholeReach,
  },
  client_token: {
    kind: 'client_token',
    project: 'prj_1',
    tenant: 'ten_1',
    user: 'ada',
    permissions: ['sessions:turn'],
    sessionId: null,
    installationIds: [],
  },
  dashboard: {
    kind: 'dashboard',
    organization: 'org_1',
    memberId: 'usr_1',
    sessionId: 'ds_1',
    role: 'owner',
    project: 'prj_1',
  },
  public: { kind: 'public' },
} as const satisfies Record<Principal['kind'], Principal>

interface ServeOptions {
  readonly origins?: readonly string[]
  readonly trustedProxies?: TrustedProxies
  /** Parts that replace those below, for requests over a real socket. */
  readonly parts?: Partial<ApiParts>
}

/** The dispatcher over these operations and use cases; requests and responses do not use a socket. */
export const serve = (declared: readonly Operation[], useCases: AnyUseCases, options: ServeOptions = {}) => {
  const log = pino({ level: 'silent' })
  const storage = openMemoryStorage()
  const box = { seal: (text: string) => `sealed:${text}`, open: (sealed: string) => sealed.slice('sealed:'.length) }
  const observed: string[] = []
  const dispatcher = new Dispatcher({
    endpoints: endpointsOf(declared, useCases),
    authenticator: { authenticate: (request) => principalIn(request) },
    tenants: { admit: () => {}, admitUser: () => {}, check: () => {}, remains: async () => {} },
    origins: { allows: (origin) => options.origins?.includes(origin) ?? false },
    idempotent: new IdempotentRequests({ records: storage.records, box, clock: systemClock, log }),
    streams: new SseStreams(new Ticker(1000), { openStreams: 0, eventsSent: 0 }, log),
    streamLimit: new StreamLimit(),
    ticker: new Ticker(1000),
    bodies: new BodyMemory(),
    publicOrigin: 'https://agents.example',
    clientAddress: clientAddressReader(options.trustedProxies ?? null),
    log,
    observe: (operation, status) => observed.push(`${operation} ${status}`),
    pages: () => false,
    upgrade: () => Promise.reject(new Error('no upgrades here')),
    ...options.parts,
  })
  const send = (sent: Sent): Promise<Received> =>
    new Promise((resolve) => {
      const request = requestOf(sent)
      dispatcher.request(request, responseInto(resolve, sent.gone))
    })
  return { dispatcher, send, observed, records: storage.records, kind: idempotencyKeys }
}

const principalOf = new WeakMap<HttpRequest, Principal | 'nobody'>()

const principalIn = (request: HttpRequest): Principal => {
  const principal = principalOf.get(request) ?? 'nobody'
  if (principal === 'nobody') throw new ServiceError('authentication_required')
  return principal
}

const requestOf = ({ method = 'GET', target, as = 'nobody', headers = {}, body }: Sent): HttpRequest => {
  const [path = '', query = ''] = target.split('?')
  const bytes = body instanceof Buffer ? body : Buffer.from(body === undefined ? '' : textOf(body))
  const all: Record<string, string> = {
    host: 'agents.example',
    ...(bytes.length > 0 ? { 'content-type': 'application/json' } : {}),
    ...headers,
  }
  const request: HttpRequest = {
    method,
    path,
    query,
    header: (name) => all[name],
    remoteAddress: '127.0.0.1',
    body: (maxBytes) => (bytes.length > maxBytes ? Promise.reject(new BodyTooLarge()) : Promise.resolve(bytes)),
  }
  principalOf.set(request, as)
  return request
}

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body))

const responseInto = (resolve: (received: Received) => void, gone?: Promise<void>): HttpResponse => {
  let closed = false
  let listener = (): void => {}
  void gone?.then(() => {
    closed = true
    listener()
  })
  let writer: BodyWriter | null = null
  const done = (status: number, headers: Headers, text: string) =>
    resolve({ status, headers: Object.fromEntries(headers), text, json: jsonIn(text) })
  return {
    send: (status, headers, body) => done(status, headers, Buffer.from(body).toString('utf8')),
    stream: (status, headers) => {
      writer = writerInto((text) => done(status, headers, text))
      return writer
    },
    onClose: (next) => {
      listener = next
    },
    onOver: () => {},
    get closed() {
      return closed
    },
    get begun() {
      return writer !== null
    },
    fail: () => {
      if (writer === null) done(500, [], '')
      else writer.abort()
    },
  }
}

const writerInto = (done: (text: string) => void): BodyWriter => {
  let text = ''
  const take = (part: string | Uint8Array = '') => {
    text += Buffer.from(part).toString('utf8')
    return true
  }
  return {
    write: take,
    onDrain: () => {},
    bufferedBytes: 0,
    end: (part) => {
      take(part)
      done(text)
    },
    abort: () => done(`${text}<broken off>`),
  }
}

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
