import { errors, ServiceError } from '#specs/errors/errors.ts'

/** Checks that the credential that opened a stream is still valid for it; throws or rejects as a new request would. */
export type LookAgain = () => unknown

/**
 * Check interval in ticks: a stream outlives its credential by at most these seconds plus the one for which credentials
 * are cached.
 */
const everyTicks = 3

/** Frame that ends a stream whose credential has ended: the client can resume after its last event with a new one. */
export const endedEvent = { event: 'stream.ended', data: { reason: 'credential_ended' } } as const

/**
 * Monitors the credential of one open stream: a revoked key, a removed member, an expired token or a suspended tenant
 * ends it. An internal failure (the store is unavailable) does not, since it says nothing about the credential.
 */
export class CredentialWatch {
  readonly #look: LookAgain
  readonly #onRefused: () => void
  #ticks = 0
  #looking = false

  constructor(look: LookAgain, onRefused: () => void) {
    this.#look = look
    this.#onRefused = onRefused
  }

  /** Called once a second. */
  tick(): void {
    if (++this.#ticks < everyTicks || this.#looking) return
    this.#ticks = 0
    this.#looking = true
    void this.#check()
  }

  async #check(): Promise<void> {
    try {
      await this.#look()
    } catch (error) {
      if (isRefusal(error)) this.#onRefused()
    } finally {
      this.#looking = false
    }
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof ServiceError && [401, 403].includes(errors[error.code].status)
