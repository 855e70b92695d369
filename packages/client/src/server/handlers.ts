import { type Troupe, TroupeError } from '../index.ts'
import { asFields } from '../schema.ts'
import { type DecisionRequest, decide } from './decide.ts'
import { mintToken, type TokenRequest } from './mint-token.ts'

/** Says who is signed in with a request, and what their page may do; null if no one is. */
export type SignedIn<R> = (request: R) => TokenRequest | null | Promise<TokenRequest | null>

/** A route of Hono, Next and whatever passes a `Request`. */
export type Handler = (request: Request) => Promise<Response>

/** A route of Express. */
export type ExpressHandler<R> = (request: R, response: ExpressResponse) => Promise<void>

/** The part of Express's request that is passed on. A decision needs `express.json()` before it. */
export interface ExpressRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body?: unknown
}

/** The part of Express's response that is used. */
export interface ExpressResponse {
  set(headers: Readonly<Record<string, string>>): unknown
  status(code: number): unknown
  json(body: unknown): unknown
}

/** A route for tokens, of Hono, Next and whatever passes a `Request`. */
export const tokenHandler = (client: Troupe, signedIn: SignedIn<Request>): Handler =>
  fetched(signedIn, (user) => minted(client, user))

/** A route for tokens, of Express. */
export const expressToken = <R extends ExpressRequest>(client: Troupe, signedIn: SignedIn<R>): ExpressHandler<R> =>
  expressed(signedIn, (user) => minted(client, user))

/** A route for decisions `{ decision, session_id, action_id }` of who is signed in, of Hono, Next and the like. */
export const decisionHandler = (client: Troupe, signedIn: SignedIn<Request>): Handler =>
  fetched(signedIn, async (user, request) => decided(client, user, await request.json().catch(() => null)))

/** A route for decisions `{ decision, session_id, action_id }` of who is signed in, of Express. */
export const expressDecision = <R extends ExpressRequest>(client: Troupe, signedIn: SignedIn<R>): ExpressHandler<R> =>
  expressed(signedIn, (user, request) => decided(client, user, request.body))

interface Answer {
  readonly status: number
  readonly body: unknown
}

type Work<R> = (user: TokenRequest, request: R) => Promise<Answer>

/** A token must not be found in any cache. */
const uncached = { 'cache-control': 'no-store' }

const fetched =
  (signedIn: SignedIn<Request>, work: Work<Request>): Handler =>
  async (request) => {
    const { status, body } = await answered(signedIn, work, request)
    return Response.json(body, { status, headers: uncached })
  }

const expressed =
  <R>(signedIn: SignedIn<R>, work: Work<R>): ExpressHandler<R> =>
  async (request, response) => {
    const { status, body } = await answered(signedIn, work, request)
    response.set(uncached)
    response.status(status)
    response.json(body)
  }

/** Errors of the server are not shown to pages: they are about the operator's key. */
const answered = async <R>(signedIn: SignedIn<R>, work: Work<R>, request: R): Promise<Answer> => {
  const user = await signedIn(request)
  if (user === null) return { status: 401, body: { error: 'not signed in' } }
  try {
    return await work(user, request)
  } catch (error) {
    const { code, status } = error instanceof TroupeError ? error : { code: 'unknown', status: 0 }
    // the operator's own mistake, such as no key, which the log of their framework shows
    if (code === 'usage') throw error
    // what is not there is not theirs either
    if (code === 'forbidden' || (code === 'not_found' && status === 404))
      return { status: 403, body: { error: 'forbidden' } }
    return { status: 502, body: { error: `refused: ${code}` } }
  }
}

const minted = async (client: Troupe, user: TokenRequest): Promise<Answer> => ({
  status: 201,
  body: await mintToken(client, user),
})

const decided = async (client: Troupe, user: TokenRequest, body: unknown): Promise<Answer> => {
  const { decision, session_id, action_id, tool_results } = asFields<Partial<DecisionRequest>>(body)
  const isWhole = typeof session_id === 'string' && typeof action_id === 'string'
  if (!isWhole || (decision !== 'approve' && decision !== 'reject'))
    return { status: 422, body: { error: 'send { decision, session_id, action_id }' } }
  const { tenant_id, external_user_id } = user
  const results = Array.isArray(tool_results) ? { tool_results } : {}
  const request = { decision, session_id, action_id, tenant_id, external_user_id, ...results }
  return { status: 200, body: { resolution: await decide(client, request) } }
}
