import { type Frame, frames } from '../quickstart/sse-lines.ts'
import type { NodeClient } from './node-client.ts'

/** Follows a session from its first event, on one node after the other, and records the frames. */
export class Watcher {
  readonly frames: Frame[] = []
  readonly #path: string
  readonly #client: NodeClient
  #until: number | undefined

  constructor(session: string, client: NodeClient) {
    this.#path = `/v1/sessions/${session}/stream?restarts=true`
    this.#client = client
  }

  /** Follows until the event set by `finish`, or until the service sends no more. */
  async watch(): Promise<void> {
    while (!this.#isDone) {
      const lastEventId = this.frames.at(-1)?.id ?? '0'
      await this.#client.attempt({ method: 'GET', path: this.#path, lastEventId }, async ({ body }, alive) => {
        for await (const frame of frames(body ?? new ReadableStream())) {
          alive()
          this.frames.push(frame)
          if (this.#isDone) return
        }
      })
    }
  }

  /** Sets the sequence of the session's last event. */
  finish(sequence: number): void {
    this.#until = sequence
  }

  get #isDone(): boolean {
    return this.#until !== undefined && Number(this.frames.at(-1)?.id ?? 0) >= this.#until
  }
}
