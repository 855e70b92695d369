import { decodeJwt } from 'jose'
import type { Principal } from '#actors/call/call.ts'
import type { HttpRequest } from '#transport/http/http-port.ts'
import type { Authenticator, LastingAuthenticator } from '../credentials/authenticator.ts'

interface Kept {
  readonly principal: Principal
  readonly expiresAtMs: number
}

/**
 * Authenticates the requests of open realtime sessions. An ephemeral secret opens sessions until it expires; those that
 * are open go on with it, until what it depends on ends: the key that minted it, its tenant, user, installation, project.
 */
export class LastingSecrets implements Authenticator {
  readonly #authenticator: LastingAuthenticator
  readonly #kept = new WeakMap<HttpRequest, Kept>()

  constructor(authenticator: LastingAuthenticator) {
    this.#authenticator = authenticator
  }

  authenticate(request: HttpRequest): Principal | Promise<Principal> {
    const kept = this.#kept.get(request)
    return kept !== undefined && kept.expiresAtMs <= Date.now()
      ? this.#authenticator.readmit(kept.principal)
      : this.#authenticator.authenticate(request)
  }

  /** Keeps the principal of a session that opens, if a secret opens it. */
  keep(request: HttpRequest, principal: Principal): void {
    if (!('realtimeSecret' in principal)) return
    const secret = /(?:^|[ .=])ek_([\w.-]+)/.exec(sentIn(request))?.[1]
    if (secret === undefined) return
    this.#kept.set(request, { principal, expiresAtMs: (decodeJwt(secret).exp ?? 0) * 1000 })
  }
}

const sentIn = (request: HttpRequest): string =>
  ['authorization', 'sec-websocket-protocol', 'x-api-key'].map((name) => request.header(name) ?? '').join(' ') +
  ` ${request.query}`
