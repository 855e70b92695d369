import type { AnyKind, TypedKind } from '#records/schema.ts'
import type { ClientMetadata } from './client-metadata.ts'

/** A client that registered itself (RFC 7591). */
export type OAuthClientData = ClientMetadata

/** What a member granted an app in one project: its codes and tokens, as hashes. */
export type OAuthGrantData = {
  /** Hash of the part that its code and all its tokens share; a token of the past is recognised by it. */
  readonly family: string
  readonly client_id: string
  readonly client_name: string
  readonly organization: string
  readonly member_id: string
  readonly scopes: readonly string[]
  readonly resource: string
  readonly redirect_uri: string
  readonly challenge: string
  /** Hash of the code; null once it is exchanged. */
  readonly code: string | null
  /** Hash of the only refresh token that is valid. */
  readonly refresh: string | null
  /** Hashes of access tokens, newest first. */
  readonly access: readonly { readonly hash: string; readonly expires_at_ms: number }[]
  readonly last_used_at_ms: number | null
}

/** Registered clients belong to the installation. */
export const oauthClients: TypedKind<OAuthClientData> = { name: 'oauth_clients', exported: null }

export const oauthGrants: TypedKind<OAuthGrantData> = {
  name: 'oauth_grants',
  unique: [{ fields: ['family'], global: true }],
  filters: ['member_id'],
  outbox: true,
}

/** All kinds of this folder. */
export const oauthKinds: readonly AnyKind[] = [oauthClients, oauthGrants]
