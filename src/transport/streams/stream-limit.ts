import type { Principal } from '#actors/call/call.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** Maximum number of open streams per browser on a node. */
const maxStreams = 16

/**
 * Counts open streams per browser. A browser is identified by a credential that pages show together with the address
 * that uses it, since all visitors of a page share its public key. A stream keeps a socket, a timer and a subscription
 * to the log for as long as its reader stays.
 */
export class StreamLimit {
  readonly #taken = new Map<string, number>()

  /** Counts a stream. @returns a function that releases it, once. @throws {ServiceError} `too_many_streams` */
  take(browser: string): () => void {
    this.check(browser)
    this.#taken.set(browser, this.#of(browser) + 1)
    let held = true
    return () => {
      if (held) this.#leave(browser)
      held = false
    }
  }

  /** Checks that another stream is allowed. @throws {ServiceError} `too_many_streams` */
  check(browser: string): void {
    if (this.#of(browser) >= maxStreams) throw new ServiceError('too_many_streams')
  }

  #of(browser: string): number {
    return this.#taken.get(browser) ?? 0
  }

  #leave(browser: string): void {
    const left = this.#of(browser) - 1
    if (left > 0) this.#taken.set(browser, left)
    else this.#taken.delete(browser)
  }
}

/** Identifies the browser of a principal; null for credentials that stay on servers, and for members. */
export const browserOf = (principal: Principal, addressOf: () => string): string | null => {
  if (principal.kind === 'client_token')
    return [principal.project, principal.tenant, principal.user, addressOf()].join(' ')
  return principal.kind === 'agent_key' && principal.keyType === 'public' ? `${principal.keyId} ${addressOf()}` : null
}
