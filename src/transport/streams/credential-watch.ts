import { errors, ServiceError } from '#specs/errors/errors.ts'
import type { StreamEndReason } from '#specs/events/events.ts'

/** Checks that the credential that opened a stream is still valid for it; throws or rejects as a new request would. */
export type Recheck = () => unknown

/**
 * Check interval in ticks: a stream outlives its credential by at most these seconds plus the one for which credentials
 * are cached.
 */
const everyTicks = 3

/**
 * Monitors the credential of one open stream: a revoked key, a removed member, an expired token or a suspended tenant
 * ends it, and so does a tenant that is being deleted. An internal failure (the store is unavailable) does not, since it
 * says nothing about the credential.
 */
export class CredentialWatch {
  readonly #recheck: Recheck
  readonly #onRefused: (reason: StreamEndReason) => void
  #ticks = 0
  #rechecking = false

  constructor(recheck: Recheck, onRefused: (reason: StreamEndReason) => void) {
    this.#recheck = recheck
    this.#onRefused = onRefused
  }

  /** Called once a second. */
  tick(): void {
    if (++this.#ticks < everyTicks || this.#rechecking) return
    this.#ticks = 0
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
    }
  }
}

const reasonOf = (error: unknown): StreamEndReason | null => {
  if (!(error instanceof ServiceError) || ![401, 403].includes(errors[error.code].status)) return null
  return error.code === 'tenant_deleting' ? 'deleted' : 'credential_ended'
}
