import type { Principal } from '#actors/call/call.ts'
import type { HttpRequest } from '#transport/http/http-port.ts'

/** Finds out who sends a request. Answers without a promise where it can: this is on the path of every request. */
export interface Authenticator {
  /** @throws {ServiceError} (or rejects with) `authentication_required` for a missing, unknown, expired or revoked credential. */
  authenticate(request: HttpRequest): Principal | Promise<Principal>
}

/** Which origins browsers may call from. */
export interface Origins {
  /** Whether pages of `origin` may read what calls with this project's client tokens are answered. */
  allows(origin: string, project: string): boolean | Promise<boolean>
}
