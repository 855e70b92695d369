import { errors, ServiceError } from '#specs/errors/errors.ts'

/** Checks that the credential that opened a stream still opens it; throws or rejects as a new request would. */
export type LookAgain = () => unknown

/** A stream outlives its credential by this many seconds at most, and by the second that credentials are cached for. */
const everyTicks = 3

/** Frame of a stream that ends because its credential does: a client resumes after its last event with a new one. */
export const endedEvent = { event: 'stream.ended', data: { reason: 'credential_ended' } } as const

/**
 * Looks after one open stream: a revoked key, a removed member, an expired token or a suspended tenant ends it. Trouble on
 * our side (the store is away) ends nothing: it says nothing about the credential.
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

  /** Once a second. */
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
