import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { vi } from 'vitest'
import { patience } from './patience.ts'
import { type Frame, StreamReader } from './stream-reader.ts'

/** A JSON answer. */
export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly body: ReturnType<typeof JSON.parse>
}

/** One row of a session's log. */
export interface Row {
  readonly sequence: number
  readonly turn_number: number
  readonly event_type: string
  readonly payload: Frame['data']
}

/** Headers and method of a request. */
export interface Extra {
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
}

/** Method and declared length of a request whose body is not sent. */
export interface Announced {
  readonly method: string
  readonly contentLength: number
}

/** An HTTP client with one credential. `fetch` takes three times the CPU, and is for answers that a test reads itself. */
export class Api {
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.#url = url
    this.#headers = headers
  }

  /** A client with the same credential and these additional headers. */
  with(headers: Readonly<Record<string, string>>): Api {
    return new Api(this.#url, { ...this.#headers, ...headers })
  }

  /** A WebSocket under this credential. */
  socket(path: string): WebSocket {
    return new WebSocket(`${this.#url.replace('http', 'ws')}${path}`, { headers: this.#headers })
  }

  fetch(path: string, body?: unknown, { headers, method }: Extra = {}, signal?: AbortSignal): Promise<Response> {
    return fetch(`${this.#url}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...this.#headers,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    })
  }

  /** Sends bytes as they are. */
  upload(path: string, body: Uint8Array<ArrayBuffer>, contentType: string): Promise<Response> {
    const headers = { ...this.#headers, 'content-type': contentType }
    return fetch(`${this.#url}${path}`, { method: 'POST', headers, body })
  }

  /** Sends a request and returns the beginning of the answer. */
  async send(path: string, body?: unknown, { headers, method }: Extra = {}): Promise<IncomingMessage> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const sent = request(`${this.#url}${path}`, {
      method: method ?? (text === undefined ? 'GET' : 'POST'),
      headers: {
        accept: '*/*',
        'user-agent': 'node',
        ...this.#headers,
        ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        ...headers,
      },
    })
    // a connection that breaks after the beginning of the answer ends the answer
    sent.on('error', () => undefined).end(text)
    const [response]: IncomingMessage[] = await once(sent, 'response')
    if (response === undefined) throw new Error('no response')
    return response
  }

  /** Declares the length of a body and sends none of it. @returns the answer. */
  async announce(path: string, { method, contentLength }: Announced): Promise<Answered> {
    const headers = { ...this.#headers, 'content-type': 'application/json', 'content-length': contentLength }
    const sent = request(`${this.#url}${path}`, { method, headers })
    sent.flushHeaders()
    const [response]: IncomingMessage[] = await once(sent, 'response')
    if (response === undefined) throw new Error('no response')
    const answer = await answered(response)
    sent.destroy()
    return answer
  }

  async get(path: string, extra: Extra = {}): Promise<Answered> {
    return answered(await this.send(path, undefined, extra))
  }

  async post(path: string, body: unknown = {}, extra: Extra = {}): Promise<Answered> {
    return answered(await this.send(path, body, extra))
  }

  /** Opens a stream. @throws {Refused} when the answer is no stream. */
  async stream(path: string, body?: unknown, extra: Extra = {}): Promise<StreamReader> {
    const response = await this.send(path, body, extra)
    const { statusCode = 0 } = response
    const headers = headersOf(response)
    if (statusCode >= 300) throw new Refused(statusCode, await textOf(response), headers)
    return new StreamReader(response, headers, () => response.destroy())
  }

  async createSession(body: object = {}): Promise<string> {
    const { status, headers, body: session } = await this.post('/v1/sessions', body)
    if (status !== 201) throw new Refused(status, JSON.stringify(session), headers)
    return session.id
  }

  turn(session: string, body: object, extra: Extra = {}): Promise<StreamReader> {
    return this.stream(`/v1/sessions/${session}/turns`, body, extra)
  }

  approve(session: string, action: unknown, extra: Extra = {}): Promise<StreamReader> {
    return this.stream(`/v1/sessions/${session}/approve`, { action_id: action }, extra)
  }

  /** Follows the session from the event after `lastEventId`, as a reconnecting client does. */
  follow(session: string, lastEventId: string, query: Readonly<Record<string, string>> = {}): Promise<StreamReader> {
    return this.stream(`/v1/sessions/${session}/stream?${new URLSearchParams(query)}`, undefined, {
      headers: { 'last-event-id': lastEventId },
    })
  }

  /** The whole log of a session. */
  async log(session: string): Promise<readonly Row[]> {
    const rows: Row[] = []
    for (let page = 1; ; page++) {
      const { status, headers, body } = await this.get(`/v1/sessions/${session}/events?limit=100&page=${page}`)
      if (status !== 200) throw new Refused(status, JSON.stringify(body), headers)
      rows.push(...body.data)
      if (page >= body.pagination.total_pages) return rows
    }
  }
}

/** A request that was answered with an error status. */
export class Refused extends Error {
  readonly status: number
  readonly headers: Headers

  constructor(status: number, text: string, headers: Headers) {
    super(`${status} ${text}`)
    this.status = status
    this.headers = headers
  }
}

/**
 * Retries a call while the answer is 503, as well-behaved clients do: while another node takes over, or a store comes back.
 *
 * @param call receives the Idempotency-Key that all attempts share.
 */
export const served = async <T>(call: (keyed: Extra) => Promise<T>): Promise<T> => {
  const keyed = { headers: { 'idempotency-key': randomUUID() } }
  const attempt = async () => {
    try {
      return { value: await call(keyed) }
    } catch (error) {
      if (error instanceof Refused && error.status === 503) throw error
      return { error }
    }
  }
  const outcome = await vi.waitFor(attempt, patience)
  if ('error' in outcome) throw outcome.error
  return outcome.value
}

const answered = async (response: IncomingMessage): Promise<Answered> => {
  const { statusCode = 0 } = response
  const headers = headersOf(response)
  const text = await textOf(response)
  const json = headers.get('content-type')?.includes('json') === true
  return { status: statusCode, headers, body: json ? JSON.parse(text) : text }
}

/** The whole text of an answer. */
export const textOf = async (response: IncomingMessage): Promise<string> => (await buffer(response)).toString()

const headersOf = ({ headersDistinct }: IncomingMessage): Headers =>
  new Headers(Object.entries(headersDistinct).flatMap(([name, values = []]) => values.map((value) => [name, value])))
