import type { WebSocketPeer } from '../http/http-port.ts'
import { wireLimits } from '../http/wire-limits.ts'

/** Frames that a socket sends, bounded by what its reader leaves unread and by how long it reads nothing. */
export class OutboundFrames {
  readonly #peer: WebSocketPeer
  readonly #giveUp: () => void
  #isBlocked = false
  #blockedTicks = 0

  /** @param giveUp closes the socket of a reader that is too slow. */
  constructor(peer: WebSocketPeer, giveUp: () => void) {
    this.#peer = peer
    this.#giveUp = giveUp
  }

  /** Whether the reader has left frames unread. */
  get isBlocked(): boolean {
    return this.#isBlocked
  }

  send(frame: string): void {
    if (this.#peer.send(frame) || this.#isBlocked) return
    this.#isBlocked = true
    this.#blockedTicks = 0
  }

  /** Gives up if too much is unread; call it after sending. */
  bound(): void {
    if (this.#isBlocked && this.#peer.bufferedBytes > wireLimits.bufferedMaxBytes) this.#giveUp()
  }

  /** Call it when the reader has read everything. */
  drained(): void {
    this.#isBlocked = false
  }

  /** Call it every second. */
  tick(): void {
    if (this.#isBlocked && ++this.#blockedTicks > wireLimits.blockedMaxTicks) this.#giveUp()
  }
}
