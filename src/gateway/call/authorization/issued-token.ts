import { countOf, objectOf, textOf } from '#outgoing/wire.ts'
import type { TokenRequest } from './authorization.ts'
import { sendUpstream, type UpstreamReach, type UpstreamReply } from './small-request.ts'

/** A token, and its lifetime. */
export interface IssuedToken {
  readonly token: string
  readonly lifetimeMs: number
}

/** No token was issued. */
export class NoToken extends Error {
  override readonly name = 'NoToken'
  readonly reply: UpstreamReply
  constructor(reply: UpstreamReply) {
    super('no access token was issued')
    this.reply = reply
  }
}

/** Lifetime in ms of a token whose answer states none; it is the shortest that the clouds issue. */
const usualLifetimeMs = 5 * 60_000

/** Requests an access token by OAuth 2.0. @throws {NoToken} */
export const issuedToken = async (reach: UpstreamReach, { url, form }: TokenRequest): Promise<IssuedToken> => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  const body = new URLSearchParams(await form()).toString()
  const reply = await sendUpstream(reach, { url, method: 'POST', headers, body })
  const { access_token, expires_in } = objectOf(reply.kind === 'answer' && reply.status === 200 ? reply.json : null)
  if (textOf(access_token) === '') throw new NoToken(reply)
  return { token: textOf(access_token), lifetimeMs: countOf(Number(expires_in)) * 1000 || usualLifetimeMs }
}
