import { realtimeSocket } from '#specs/resources/gateway/realtime.ts'
import { noteCalled } from '#test/support/called-operations.ts'

type Event = { readonly type: string; readonly [field: string]: ReturnType<typeof JSON.parse> }

/** A client of the Realtime API over Node's WebSocket, with the events that it received. */
export class RealtimeConnection {
  readonly events: Event[] = []
  readonly opened: Promise<boolean>
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  readonly #socket: WebSocket
  readonly #waiting = new Set<() => void>()
  #isClosed = false

  constructor(url: string, options: { readonly key?: string; readonly protocols?: string[] }) {
    const headers = options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }
    this.#socket = new WebSocket(url.replace(/^http/, 'ws'), { headers, protocols: options.protocols ?? [] })
    this.#socket.onmessage = ({ data }) => {
      this.events.push(JSON.parse(data))
      for (const read of [...this.#waiting]) read()
    }
    this.opened = new Promise((resolve) => {
      this.#socket.onopen = () => {
        noteCalled([realtimeSocket.id])
        resolve(true)
      }
      this.#socket.onerror = () => resolve(false)
    })
    this.closed = new Promise((resolve) => {
      this.#socket.onclose = ({ code, reason }) => {
        this.#isClosed = true
        resolve({ code, reason })
        for (const read of [...this.#waiting]) read()
      }
    })
  }

  get protocol(): string {
    return this.#socket.protocol
  }

  get types(): readonly string[] {
    return this.events.map(({ type }) => type)
  }

  send(event: object | string): void {
    this.#socket.send(typeof event === 'string' ? event : JSON.stringify(event))
  }

  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    this.#socket.send(bytes)
  }

  /** Resolves with the first event after `from` that is of a type, or that a function accepts; rejects when none can come. */
  until(wanted: string | ((event: Event) => boolean), from = 0): Promise<Event> {
    const fits = typeof wanted === 'string' ? ({ type }: Event) => type === wanted : wanted
    return new Promise((resolve, reject) => {
      const read = (): void => {
        const found = this.events.slice(from).find(fits)
        if (found === undefined && !this.#isClosed) return
        this.#waiting.delete(read)
        if (found !== undefined) resolve(found)
        else reject(new Error(`closed before ${wanted}, after ${JSON.stringify(this.events.slice(from))}`))
      }
      this.#waiting.add(read)
      read()
    })
  }

  /** Sends an event, when the session is open, and resolves with the first of a type that comes after. */
  async exchange(event: object | string, answer: string): Promise<Event> {
    await this.until('session.created')
    const from = this.events.length
    this.send(event)
    return this.until(answer, from)
  }

  /** Sends an event and resolves with the error that answers it. */
  async refused(event: object | string): Promise<Event['error']> {
    return (await this.exchange(event, 'error')).error
  }

  close(): void {
    this.#socket.close()
  }
}

/** Adds a message of the user. */
export const userSays = (text: string) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
})
