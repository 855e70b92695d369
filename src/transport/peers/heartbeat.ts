import type { Clock } from '#runtime/clock.ts'
import { peerLimits } from './peer-limits.ts'

/** A beat that comes so much late says that this process did not get to run, in ms. */
const lateMs = 50
/** What was slow once counts half after so long, in ms. */
const forgetMs = 5_000
/** A peer that is there may take so many times what was slow lately. */
const slowFactor = 4

/** How slow the way to a peer has been lately, either side's fault; kept over connections to one address. */
export class PeerPace {
  readonly #clock: Pick<Clock, 'steady'>
  #slowestMs = 0
  #at = 0

  constructor(clock: Pick<Clock, 'steady'>) {
    this.#clock = clock
  }

  /** Something took so long that should take no time, in ms. */
  note(ms: number): void {
    const slowMs = Math.min(ms, peerLimits.silenceMostMs / slowFactor)
    if (slowMs < this.#lately()) return
    this.#slowestMs = slowMs
    this.#at = this.#clock.steady()
  }

  /** How long a peer that is there may take to say so, in ms: four times what was slow lately, within bounds. */
  get patienceMs(): number {
    return Math.min(peerLimits.silenceMostMs, Math.max(peerLimits.silenceMs, slowFactor * this.#lately()))
  }

  #lately(): number {
    return this.#slowestMs * 0.5 ** ((this.#clock.steady() - this.#at) / forgetMs)
  }
}

/** What a heartbeat needs of its connection. */
export interface HeartbeatParts {
  readonly clock: Clock
  readonly pace: PeerPace
  /** Whether answers of the peer are awaited; without any its silence says nothing, and costs nothing. */
  readonly isAwaited: () => boolean
  /** Sends what every peer answers at once. */
  readonly ping: () => void
  /** Called once, with when the ping was sent to which the peer has said nothing: before that it may only have had nothing to say. */
  readonly silent: (since: number) => void
}

/**
 * Finds out whether a peer is still there while answers of it are awaited (specs/decisions/0204-silent-peers.md). Silence is
 * counted in beats of this process: when it stood still itself, what came meanwhile is read before anything is concluded.
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

  /** A question was sent. */
  sent(): void {
    if (this.#cancel !== undefined) return
    this.#hasHeard = false
    this.#pingedAt = undefined
    this.#plan()
  }

  /** Something came from the peer. */
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
