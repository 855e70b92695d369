import type { TypedKind } from '#records/schema.ts'
import type { Role } from '#specs/access.ts'

/** A provider at which members of an organisation sign in. The row belongs to the organisation. */
export type OidcConnectionData = {
  /** The row's own id again, indexed for sign-ins, which know no organisation. */
  readonly connection_id: string
  readonly name: string
  readonly issuer: string
  readonly client_id: string
  readonly scopes: readonly string[]
  readonly allowed_domains: readonly string[]
  readonly creates_members: boolean
  readonly role_claim: string | null
  readonly roles: Readonly<Record<string, Role>>
  readonly default_role: Role | null
  readonly is_active: boolean
  /** The issuer and the client secret for it as JSON, sealed; null for a public client. */
  readonly client_secret: string | null
}

export const oidcConnections: TypedKind<OidcConnectionData> = {
  name: 'oidc_connections',
  unique: [{ fields: ['connection_id'], global: true }],
  outbox: true,
  sealed: [
    {
      field: 'client_secret',
      aad: ({ id }) => clientSecretAad(id),
      // the issuer that receives it is sealed with it
      sentTo: null,
      instead: (box, { id }) => box.seal('', clientSecretAad(id)),
      loss: 'the client secret of a sign-in provider: set it again',
    },
  ],
}

/** Additional authenticated data with which a client secret is sealed. */
export const clientSecretAad = (connection: string): string => `${connection}|oidc_connections|client_secret`
