/** Codes of RFC 6749, 7591 and 8707 that this authorization server answers. */
export type OAuthCode =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'temporarily_unavailable'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'

/** A refusal in the terms of OAuth; the message is its `error_description`. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly code: OAuthCode
  /** Seconds after which the request may be repeated; null: it will be refused again. */
  readonly retryAfterS: number | null

  constructor(code: OAuthCode, message: string, retryAfterS: number | null = null) {
    super(message)
    this.code = code
    this.retryAfterS = retryAfterS
  }
}
