/** Why the authorization server of a remote server cannot be used. */
export type DiscoveryFailure =
  | 'metadata_unreachable'
  | 'metadata_invalid'
  | 'address_refused'
  | 'endpoint_insecure'
  | 'wrong_issuer'
  | 'wrong_resource'
  | 'pkce_unsupported'
  | 'client_required'
  | 'client_of_other_issuer'
  | 'registration_refused'

/** Thrown when no sign-in can start. The message contains no text of the server. */
export class DiscoveryFailed extends Error {
  override readonly name = 'DiscoveryFailed'
  readonly code: DiscoveryFailure

  constructor(code: DiscoveryFailure, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}
