import type { Route } from '../routes.ts'

/** A request before its authorization is added. */
export interface UnsignedRequest {
  readonly method: string
  readonly url: URL
  readonly body: string | Uint8Array
}

/** How a service that issues tokens is called. */
export interface TokenRequest {
  /** The same for all requests that may share a token. */
  readonly key: string
  readonly url: string
  /** The fields of the form that it is sent. */
  readonly form: () => Promise<Readonly<Record<string, string>>>
}

/** Returns a valid token, from the cache where there is one. @throws {AttemptFailed} */
type TokenOf = (request: TokenRequest) => Promise<string>

/** Returns the headers that authorize a request. @throws {AttemptFailed} when no token is issued. */
export type Authorize = (
  route: AuthorizedRoute,
  request: UnsignedRequest,
  tokenOf: TokenOf,
) => Promise<Readonly<Record<string, string>>>

/** The parts of a route that its authorization depends on. */
export type AuthorizedRoute = Pick<Route, 'apiKey' | 'baseUrl' | 'settings'>
