import { type Troupe, TroupeError } from '../index.ts'
import { mintToken, type TokenRequest } from './mint-token.ts'

/** Says who is signed in with a request, and what their page may do; null if no one is. */
export type SignedIn<R> = (request: R) => TokenRequest | null | Promise<TokenRequest | null>

/** A route for tokens, of Hono, Next and whatever passes a `Request`. */
export const tokenHandler =
  (client: Troupe, signedIn: SignedIn<Request>): ((request: Request) => Promise<Response>) =>
  async (request) => {
    const { status, body } = await answered(client, () => signedIn(request))
    return Response.json(body, { status, headers: uncached })
  }

/** The part of Express's request that is passed on. */
export interface ExpressRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** The part of Express's response that is used. */
export interface ExpressResponse {
  set(headers: Readonly<Record<string, string>>): unknown
  status(code: number): unknown
  json(body: unknown): unknown
}

/** A route for tokens, of Express. */
export const expressToken =
  <R extends ExpressRequest>(
    client: Troupe,
    signedIn: SignedIn<R>,
  ): ((request: R, response: ExpressResponse) => Promise<void>) =>
  async (request, response) => {
    const { status, body } = await answered(client, () => signedIn(request))
    response.set(uncached)
    response.status(status)
    response.json(body)
  }

/** A token must not be found in any cache. */
const uncached = { 'cache-control': 'no-store' }

/** Errors of the server are not shown to pages: they are about the operator's key. */
const answered = async (
  client: Troupe,
  signedIn: () => TokenRequest | null | Promise<TokenRequest | null>,
): Promise<{ readonly status: number; readonly body: unknown }> => {
  const request = await signedIn()
  if (request === null) return { status: 401, body: { error: 'not signed in' } }
  try {
    return { status: 201, body: await mintToken(client, request) }
  } catch (error) {
    const code = error instanceof TroupeError ? error.code : 'unknown'
    return { status: 502, body: { error: `no token: ${code}` } }
  }
}
