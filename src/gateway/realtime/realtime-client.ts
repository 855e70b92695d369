import type { WireObject } from '#outgoing/wire.ts'

/** The socket of a client, as far as a session uses it. Calls after its end do nothing. */
export interface RealtimeClient {
  /** Sends an event. False when the client reads too slowly: wait for `drained`. It is accepted in any case. */
  send(event: string): boolean
  close(code: number, reason: string): void
}

/** One session of the Realtime API, behind the socket of a client. */
export interface RealtimeSession {
  /**
   * Takes an event of the client, in order: the next one comes when the promise has resolved. A rejection is reported to
   * the client as an error about the event.
   *
   * @param text the event as received.
   */
  take(event: WireObject, text: string): void | Promise<void>
  /** The client has read what was sent. */
  drained(): void
  /** Called every second. */
  tick(): void
  /** The client has left, or its socket was closed. Called once. */
  leave(): void
}
