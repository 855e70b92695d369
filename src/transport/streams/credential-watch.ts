import type { Ticker, Ticking } from '#runtime/internal.ts'
import { errors, ServiceError } from '#specs/errors/errors.ts'
import type { StreamEndReason } from '#specs/events/events.ts'

/** Checks that the credential that opened a stream is still valid for it; throws or rejects as a new request would. */
export type Recheck = () => unknown

/** An open stream whose credential can be checked at once. */
interface WatchedStream extends Ticking {
  recheck(): void
}

/** The open streams of a process, which tick every second. */
export type StreamTicker = Ticker<WatchedStream>

/**
 * Interval in ticks of the checks that no notice causes: for a credential that expires, and for a notice of another node
 * that was lost. A stream then outlives its credential by at most these seconds plus the one for which credentials are
 * cached.
 */
const everyTicks = 3

/**
 * Monitors the credential of one open stream: a revoked key, a removed member, an expired token or a suspended tenant
 * ends it, and so does a tenant that is being deleted, or no longer exists. An internal failure (the store is unavailable) does not, since it
 * says nothing about the credential.
 */
export class CredentialWatch {
  readonly #recheck: Recheck
  readonly #onRefused: (reason: StreamEndReason) => void
  #ticks = 0
  #rechecking = false
  #again = false

  constructor(recheck: Recheck, onRefused: (reason: StreamEndReason) => void) {
    this.#recheck = recheck
    this.#onRefused = onRefused
  }

  /** Called once a second. */
  tick(): void {
    if (++this.#ticks >= everyTicks && !this.#rechecking) this.recheck()
  }

  /** Checks at once: a credential has ended, perhaps this one. */
  recheck(): void {
    this.#ticks = 0
    this.#again = this.#rechecking
    if (this.#rechecking) return
    this.#rechecking = true
    void this.#check()
  }

  async #check(): Promise<void> {
    try {
      await this.#recheck()
    } catch (error) {
      const reason = reasonOf(error)
      if (reason !== null) this.#onRefused(reason)
    } finally {
      this.#rechecking = false
      if (this.#again) this.recheck()
    }
  }
}

const reasonOf = (error: unknown): StreamEndReason | null => {
  if (!(error instanceof ServiceError) || ![401, 403, 404].includes(errors[error.code].status)) return null
  return error.code === 'tenant_deleting' || error.code === 'not_found' ? 'deleted' : 'credential_ended'
}
