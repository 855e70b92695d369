import type { Principal } from '#actors/call/call.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** Streams that one browser may have open on a node. */
const maxStreams = 16

/**
 * Open streams by browser: by a credential that pages show, together with the address that uses it, since all visitors of
 * a page share its public key. A stream keeps a socket, a timer and a place in the log's feed as long as its reader wants.
 */
export class StreamSeats {
  readonly #taken = new Map<string, number>()

  /** @returns what gives the seat back, once. @throws {ServiceError} `too_many_streams` */
  take(browser: string): () => void {
    this.check(browser)
    this.#taken.set(browser, this.#of(browser) + 1)
    let held = true
    return () => {
      if (held) this.#leave(browser)
      held = false
    }
  }

  /** @throws {ServiceError} `too_many_streams` */
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

/** Who holds a seat; null for credentials that stay on servers, and for members. */
export const browserOf = (principal: Principal, addressOf: () => string): string | null => {
  if (principal.kind === 'client_token')
    return [principal.project, principal.tenant, principal.user, addressOf()].join(' ')
  return principal.kind === 'agent_key' && principal.keyType === 'public' ? `${principal.keyId} ${addressOf()}` : null
}
