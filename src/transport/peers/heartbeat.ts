import type { Clock } from '#runtime/index.ts'
import { peerLimits } from './peer-limits.ts'

/** A beat that is late by more than this, in ms, means that this process was not scheduled. */
const lateMs = 50
/** Half-life in ms of a measured delay. */
const forgetMs = 5_000
/** A live peer may take this many times the recent delay. */
const slowFactor = 4

/** Recent delays of the path to a peer, caused by either side. Kept across connections to one address. */
export class PeerPace {
  readonly #clock: Pick<Clock, 'steady'>
  #slowestMs = 0
  #at = 0

  constructor(clock: Pick<Clock, 'steady'>) {
    this.#clock = clock
  }

  /** Records a delay, in ms, of something that normally takes no time. */
  note(ms: number): void {
    const slowMs = Math.min(ms, peerLimits.maxSilenceMs / slowFactor)
    if (slowMs < this.#lately()) return
    this.#slowestMs = slowMs
    this.#at = this.#clock.steady()
  }

  /** Time in ms within which a live peer should answer: four times the recent delay, within bounds. */
  get patienceMs(): number {
    return Math.min(peerLimits.maxSilenceMs, Math.max(peerLimits.silenceMs, slowFactor * this.#lately()))
  }

  #lately(): number {
    return this.#slowestMs * 0.5 ** ((this.#clock.steady() - this.#at) / forgetMs)
  }
}

/** Dependencies of a heartbeat. */
export interface HeartbeatParts {
  readonly clock: Clock
  readonly pace: PeerPace
  /** Whether any answer of the peer is outstanding; if none is, its silence means nothing. */
  readonly isAwaited: () => boolean
  /** Sends a ping, which every peer answers at once. */
  readonly ping: () => void
  /**
   * Called once when the peer is silent, with the time of the ping that it has not answered: it may have had nothing to
   * send before.
   */
  readonly silent: (since: number) => void
}

/**
 * Detects a dead peer while answers from it are outstanding (specs/decisions/0062-peers.md). Silence is counted
 * in beats of this process: if the process itself was paused, it first reads what has arrived in the meantime.
 */
export class Heartbeat {
  readonly #parts: HeartbeatParts
  #cancel: (() => void) | undefined
  #dueAt = 0
  #hasHeard = false
  #pingedAt: number | undefined
  #silentMs = 0

  constructor(parts: HeartbeatParts) {
    this.#parts = parts
  }

  /** Called when a request has been sent. */
  sent(): void {
    if (this.#cancel !== undefined) return
    this.#hasHeard = false
    this.#pingedAt = undefined
    this.#plan()
  }

  /** Called when anything has been received from the peer. */
  heard(): void {
    this.#hasHeard = true
    if (this.#pingedAt === undefined) return
    this.#parts.pace.note(this.#parts.clock.steady() - this.#pingedAt)
    this.#pingedAt = undefined
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #plan(): void {
    this.#dueAt = this.#parts.clock.steady() + peerLimits.beatMs
    this.#cancel = this.#parts.clock.after(peerLimits.beatMs, () => this.#beat())
  }

  #beat(): void {
    const { clock, pace, isAwaited, ping, silent } = this.#parts
    this.#cancel = undefined
    const now = clock.steady()
    if (now - this.#dueAt > lateMs) pace.note(now - this.#dueAt)
    if (!isAwaited()) return
    if (this.#hasHeard) this.#hasHeard = false
    else if (this.#pingedAt === undefined) {
      this.#pingedAt = now
      this.#silentMs = 0
      ping()
    } else {
      this.#silentMs += peerLimits.beatMs
    }
    if (this.#pingedAt !== undefined && this.#silentMs >= pace.patienceMs) silent(this.#pingedAt)
    else this.#plan()
  }
}
