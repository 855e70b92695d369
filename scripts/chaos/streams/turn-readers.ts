import { type Frame, frames } from '#scripts/quickstart/sse-lines.ts'
import { isEnd, type Seen } from './stream-verdict.ts'

/** What is read, and the credential by which it is requested and read. */
export interface ReaderOptions {
  readonly url: string
  /** Id of the session, response or run. */
  readonly id: string
  /** Bearer token; of an end user for `eventsource`, which sends it in the URL as a browser does. */
  readonly token: string
  readonly restarts: boolean
}

const turn = { input: 'hello', model: 'gpt-4o-mini' }

/** Pause in ms before a connection that ended is opened again. */
const pauseMs = 100

/**
 * The reader of one turn: it requests the turn, and receives its events across any number of broken connections, as
 * clients of this kind do.
 */
export abstract class TurnReader {
  readonly frames: Seen[] = []
  /** Refusals and broken connections, for the report of a reader that received no end. */
  readonly troubles: string[] = []
  protected readonly options: ReaderOptions
  protected readonly abort = new AbortController()

  constructor(options: ReaderOptions) {
    this.options = options
  }

  /** Requests the turn and reads until its end, or until `stop`. */
  async run(): Promise<void> {
    while (!this.isDone) {
      try {
        await this.connect()
      } catch (error) {
        this.troubles.push(`${Math.round(performance.now())} ${String(Object(error).cause ?? error)}`)
      }
      if (!this.isDone) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  stop(): void {
    this.abort.abort()
  }

  get ended(): boolean {
    return this.frames.some(isEnd)
  }

  protected get isDone(): boolean {
    return this.ended || this.abort.signal.aborted
  }

  protected get last(): string {
    return this.frames.at(-1)?.id ?? '0'
  }

  /** Reads from one connection; resolves when it has ended. @throws when it was refused, or broke. */
  protected abstract connect(): Promise<void>

  protected query(more: Readonly<Record<string, string>> = {}): URLSearchParams {
    return new URLSearchParams({ ...more, ...(this.options.restarts && { restarts: 'true' }) })
  }

  /** Requests the turn; the same key each time. */
  protected request(): Promise<Response> {
    const { url, id: session, token } = this.options
    return this.#answered(`${url}/v1/sessions/${session}/turns?${this.query()}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': `turn-${session}`,
      },
      body: JSON.stringify(turn),
    })
  }

  /** Opens the session's stream after the last event. */
  protected follow(query: URLSearchParams, headers: Readonly<Record<string, string>>): Promise<Response> {
    return this.open(`sessions/${this.options.id}/stream?${query}`, headers)
  }

  /** Opens a stream of the API. */
  protected open(path: string, headers: Readonly<Record<string, string>>): Promise<Response> {
    return this.#answered(`${this.options.url}/v1/${path}`, { headers: { accept: 'text/event-stream', ...headers } })
  }

  protected async read({ body }: Response): Promise<void> {
    for await (const frame of frames(body ?? new ReadableStream())) {
      this.take(frame)
      if (this.isDone) return
    }
  }

  protected take(frame: Frame): void {
    if (!this.ended) this.frames.push({ ...frame, at: performance.now() })
  }

  async #answered(url: string, init: RequestInit): Promise<Response> {
    const response = await fetch(url, { ...init, signal: this.abort.signal })
    if (!response.ok) throw new Error(`${response.status} ${(await response.text()).slice(0, 200)}`)
    return response
  }
}

/** Reads the answer to its request, and resumes by the session's stream. */
class SseReader extends TurnReader {
  protected async connect(): Promise<void> {
    const authorization = `Bearer ${this.options.token}`
    const headers = { authorization, 'last-event-id': this.last }
    await this.read(this.last === '0' ? await this.request() : await this.follow(this.query(), headers))
  }
}

/**
 * Follows the session as the EventSource of a page does: a connection that breaks is opened again at the same URL, with
 * `Last-Event-ID`; one that is refused is over, and the page opens another from its last event.
 */
class EventSourceReader extends TurnReader {
  #opened: URLSearchParams | undefined
  #isRequested = false

  protected async connect(): Promise<void> {
    if (!this.#isRequested) void this.#begin()
    this.#isRequested = true
    const isAgain = this.#opened !== undefined
    this.#opened ??= this.query({ token: this.options.token, after: this.last })
    try {
      const response = await this.follow(this.#opened, isAgain ? { 'last-event-id': this.last } : {})
      await this.read(response)
    } catch (error) {
      if (/^Error: \d/.test(String(error))) this.#opened = undefined
      throw error
    }
  }

  /** Requests the turn until the server has it. Its answer is not read: the events come by the other connection. */
  async #begin(): Promise<void> {
    while (!this.isDone) {
      const answer = await this.request().catch(() => undefined)
      if (answer !== undefined) return answer.body?.cancel()
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

/** Sends the turn over a WebSocket, and opens another after the last event when it closes. */
class WebSocketReader extends TurnReader {
  protected connect(): Promise<void> {
    const { url, id: session, token } = this.options
    const path = `/v1/sessions/${session}/ws?${this.query({ after: this.last })}`
    const socket = new WebSocket(url.replace('http', 'ws') + path, { headers: { authorization: `Bearer ${token}` } })
    this.abort.signal.addEventListener('abort', () => socket.close(), { once: true })
    socket.onopen = () => {
      if (this.last === '0') socket.send(JSON.stringify({ type: 'turn', ...turn }))
    }
    socket.onmessage = ({ data }) => {
      const { event, id, data: payload }: Omit<Frame, 'id'> & { readonly id?: number } = JSON.parse(String(data))
      if (id === undefined) this.troubles.push(String(data).slice(0, 200))
      else this.take({ event, id: String(id), data: payload })
      // a turn that was refused is sent again by the next connection
      if (this.ended || (id === undefined && this.last === '0')) socket.close()
    }
    return new Promise((resolve, reject) => {
      socket.onclose = ({ code }) => (this.isDone ? resolve() : reject(new Error(`closed with ${code}`)))
      // Node closes a socket that was refused without saying so
      socket.onerror = () => reject(new Error('refused'))
    })
  }
}

/** Follows what was requested before, from its first event. */
abstract class Follower extends TurnReader {
  protected async connect(): Promise<void> {
    const headers = { authorization: `Bearer ${this.options.token}`, 'last-event-id': this.last }
    await this.read(await this.open(this.path(), headers))
  }

  protected abstract path(): string
}

/** Reads what a turn has left in the log of its session. */
class LogReader extends Follower {
  protected path(): string {
    return `sessions/${this.options.id}/stream?${this.query()}`
  }
}

class RunReader extends Follower {
  protected path(): string {
    return `runs/${this.options.id}/events`
  }
}

/** Reads a response in the background; its events are numbered from 0, here from 1. */
class ResponseReader extends Follower {
  protected path(): string {
    const after = this.last === '0' ? '' : `&starting_after=${Number(this.last) - 1}`
    return `responses/${this.options.id}?stream=true${after}`
  }

  protected override take(frame: Frame): void {
    super.take({ ...frame, id: String(Number(frame.data.sequence_number) + 1) })
  }
}

const kinds = {
  sse: SseReader,
  eventsource: EventSourceReader,
  websocket: WebSocketReader,
  log: LogReader,
  run: RunReader,
  response: ResponseReader,
} as const

/** How a reader is connected, and what it reads: `log` an ended turn, `run` and `response` what was requested before. */
export type ReaderKind = keyof typeof kinds

export const openReader = (kind: ReaderKind, options: ReaderOptions): TurnReader => new kinds[kind](options)
