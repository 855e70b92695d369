import type { Principal } from '#actors/call/call.ts'
import type { HttpRequest } from '#transport/http/http-port.ts'

/** Authenticates requests. Returns without a promise where it can, since every request passes through it. */
export interface Authenticator {
  /** @throws {ServiceError} (or rejects with) `authentication_required` for a missing, unknown, expired or revoked credential. */
  authenticate(request: HttpRequest): Principal | Promise<Principal>
}

/** Authenticates, and checks again principals whose credentials may have expired since. */
export interface LastingAuthenticator extends Authenticator {
  /** @throws {ServiceError} as for a new request, except that the credential itself has expired. */
  readmit(principal: Principal): Principal | Promise<Principal>
}

/** Origins that browsers may call from. */
export interface Origins {
  /** Whether pages of `origin` may read answers to calls with client tokens of this project. */
  allows(origin: string, project: string): boolean | Promise<boolean>
}
