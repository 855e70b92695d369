import type { Clock } from '../clock.ts'
import type { Host } from '../host.ts'
import type { Resident } from '../resident.ts'
import { Rounds } from '../rounds.ts'
import { OverdueWatch } from '../stuck/stuck-notes.ts'

const everyMs = 1000
/** Idle time after which an actor's last commits are closed, in ms. */
const quietMs = 1000

/** Limits of actors in memory: their number, and their idle time in ms. */
export interface Residency {
  readonly max: number
  readonly idleMs: number
}

/** Maintains idle actors: closes their last commits, and evicts them from memory. */
export class Janitor {
  readonly #host: Host
  readonly #clock: Clock
  readonly #residency: Residency
  readonly #overdue: OverdueWatch
  readonly #rounds: Rounds

  constructor(host: Host, clock: Clock, residency: Residency) {
    this.#host = host
    this.#clock = clock
    this.#residency = residency
    this.#overdue = new OverdueWatch(host.stuck, host.effects)
    this.#rounds = new Rounds({ clock, everyMs, round: () => this.round() })
  }

  start(): void {
    this.#rounds.start()
  }

  stop(): void {
    void this.#rounds.stop()
  }

  /** Checks every actor in memory once. */
  round(): void {
    this.#overdue.round()
    const now = this.#clock.now()
    let spare = this.#host.live - this.#residency.max
    for (const resident of this.#host.residents()) {
      // the wall clock was set back: an actor used before that counts as used now
      if (resident.usedAt > now) resident.usedAt = now
      const idleMs = now - resident.usedAt
      if (idleMs < quietMs || !this.#quiet(resident)) continue
      resident.forgetTail()
      if (idleMs < this.#residency.idleMs && spare <= 0) continue
      if (this.#host.passivate(resident)) spare--
    }
  }

  /** Closes the newest commits once everything that they imply is done. Returns false while something is not. */
  #quiet(resident: Resident): boolean {
    const { seq, inFlight } = resident.state
    if (resident.working || resident.undelivered > 0 || this.#host.rows.waits(resident.id)) return false
    if (Object.keys(inFlight).length > 0 || resident.unfinished !== undefined) return false
    this.#host.settler.retire(resident)
    if (resident.closedSeq === seq) return true
    resident.closedSeq = seq
    this.#host.settler.close({ actor: resident.id, seq })
    if (seq > 1) {
      this.#host.settler.close({ actor: resident.id, seq: seq - 1 })
      this.#host.settler.undue({ actor: resident.id, seq: seq - 1 })
    }
    return true
  }
}
