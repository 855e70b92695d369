import type { RealtimeClient } from './realtime-client.ts'

/** Events to a client, with the wait for one that reads slowly. */
export class Outlet {
  readonly #client: RealtimeClient
  #waiting: (() => void)[] = []
  #isBlocked = false
  #isOver = false

  constructor(client: RealtimeClient) {
    this.#client = client
  }

  /** Whether the client has to read before more is sent. */
  get isBlocked(): boolean {
    return this.#isBlocked
  }

  readonly send = (event: string): void => {
    if (!this.#isOver && !this.#client.send(event)) this.#isBlocked = true
  }

  /** Resolves when more may be sent. */
  free(): Promise<void> {
    return this.#isBlocked ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve()
  }

  drained(): void {
    this.#isBlocked = false
    for (const go of this.#waiting.splice(0)) go()
  }

  /** Sends a last event and closes the socket. */
  close(event: string, code: number, reason: string): void {
    this.send(event)
    this.end()
    this.#client.close(code, reason)
  }

  /** Nothing is sent any more. */
  end(): void {
    this.#isOver = true
    this.drained()
  }
}
