/*
 * What the server of a page does: it mints tokens for who is signed in, and decides in their place.
 *
 * app.post('/token', expressToken(troupe, (request) => ({ tenant_id: 'acme', external_user_id: request.user.id })))
 * app.post('/token', (c) => tokenHandler(troupe, user)(c.req.raw)) // Hono
 * export const POST = tokenHandler(troupe, user) // Next
 */
export type { DecisionRequest } from './decide.ts'
export { decide } from './decide.ts'
export type { ExpressHandler, ExpressRequest, ExpressResponse, Handler, SignedIn } from './handlers.ts'
export { decisionHandler, expressDecision, expressToken, tokenHandler } from './handlers.ts'
export type { TokenRequest } from './mint-token.ts'
export { mintToken } from './mint-token.ts'
