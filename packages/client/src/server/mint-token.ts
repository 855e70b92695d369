import type { ClientToken, Troupe } from '../index.ts'
import { asFields } from '../schema.ts'

/** Whose token it is, and what it permits: the body of `client_tokens.create`. */
export interface TokenRequest {
  readonly tenant_id: string
  /** Your own id of the user who is signed in. */
  readonly external_user_id: string
  /** Default: `sessions:turn` alone. */
  readonly permissions?: readonly ('sessions:turn' | 'sessions:approve' | 'sessions:tools')[]
  /** Life in seconds, at most 900. */
  readonly expires_in?: number
  readonly session_id?: string
  readonly installation_ids?: readonly string[]
}

/** Mints a token for a page. @param client a client with a secret key */
export const mintToken = async (client: Troupe, request: TokenRequest): Promise<ClientToken> => {
  const response = await client.request('POST', '/v1/client-tokens', {
    body: request,
    idempotencyKey: crypto.randomUUID(),
  })
  const { token, expires_at } = asFields<ClientToken>(await response.json())
  return { token, expires_at }
}
