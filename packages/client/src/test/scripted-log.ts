import type { SessionEvent } from '../events.ts'
import { asFields } from '../schema.ts'

/** The log of one session: it numbers events, and streams them to readers. */
export class ScriptedLog {
  readonly #events: SessionEvent[] = []
  readonly #readers = new Set<() => void>()

  get last(): number {
    return this.#events.length
  }

  add(event: SessionEvent['event'], data: object): void {
    this.#events.push(asFields({ event, id: this.#events.length + 1, data }))
    for (const read of [...this.#readers]) read()
  }

  /** A response with the events after a sequence, and later ones until the reader leaves. */
  stream(after: number, signal?: AbortSignal | null): Response {
    const encoder = new TextEncoder()
    let [last, leave] = [after, () => {}]
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const read = () => {
          for (const event of this.#events.slice(last)) controller.enqueue(encoder.encode(frameOf(event)))
          last = this.#events.length
        }
        controller.enqueue(encoder.encode(': open\n\n'))
        read()
        this.#readers.add(read)
        leave = () => void this.#readers.delete(read)
        signal?.addEventListener('abort', () => {
          if (this.#readers.delete(read)) controller.error(signal.reason)
        })
      },
      cancel: () => leave(),
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
}

const frameOf = ({ event, id, data }: SessionEvent): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`
