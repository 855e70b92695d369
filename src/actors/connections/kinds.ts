import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import type { Status } from '#specs/statuses.ts'
import type { JsonObject, StoredRecord } from '#storage/index.ts'
import type { AuthChallenge } from '../capability/connection-service.ts'
import type { AnyKind, SealedField, TypedKind } from '../records/schema.ts'
import type { HttpOperation } from './tools/http-operation.ts'

/** Data of a connection's list row (`connectionDefinition.row`). */
export type ConnectionRowData = Omit<
  ConnectionContext,
  'connection_id' | 'delay_ms' | 'attempts' | 'waiters' | 'code' | 'step_ups' | 'stepped_up_at_ms'
> & {
  readonly status: Status<'connection'>
  readonly use_key: string
}

/** List rows of connections. */
export const connectionRows: TypedKind<ConnectionRowData> = {
  name: 'connections',
  unexported: ['use_key', 'created_by', 'is_lost', 'pattern', 'generation', 'refresh_in_ms'],
  filters: ['status', 'connector', 'owner_type', 'use_key'],
}

/** Secrets of a connection, stored under its id; '' when there is none. */
export type ConnectionSecretsData = {
  /** Encrypted JSON of the tokens or the key (`GrantSecrets`). */
  readonly grant: string
  /** Encrypted client secret, for an OAuth server that is not in the catalogue. */
  readonly client_secret: string
  /** Generation of the grant, as in the connection's log. */
  readonly generation: number
  /** The effect that obtained the grant, and its event, which is returned again after a crash; null for a key. */
  readonly granted: JsonObject | null
  /**
   * Generation whose refresh token may have been sent to the provider, until the answer is stored. Absent: none, or a
   * record of an earlier release.
   */
  readonly refreshing?: number | null
}

const sealedField = (field: string, sentTo: SealedField['sentTo'], loss: string): SealedField => ({
  field,
  sentTo,
  isSealed: (value) => value !== '',
  aad: (record) => secretAad(record, field),
  instead: () => '',
  loss,
})

/** Fields of a connection's config with the addresses of its servers. */
const grantAddresses = [
  'base_url',
  'openapi',
  'authorization_url',
  'token_url',
  'revocation_url',
  'server_url',
] as const

/** Returns the additional authenticated data with which a connection's secret is encrypted. */
export const secretAad = ({ project, id }: Pick<StoredRecord, 'project' | 'id'>, field: string): string =>
  `${project}|connections|${id}|${field}`

/** Secrets are stored separately from the connection's log, so that they can be removed and re-encrypted. */
export const connectionSecrets: TypedKind<ConnectionSecretsData> = {
  name: 'connection_secrets',
  exported: null,
  sealed: [
    sealedField('grant', grantAddresses, 'the key or tokens of a connection: its owner has to connect it anew'),
    sealedField(
      'client_secret',
      ['token_url', 'revocation_url', 'server_url'],
      'the client secret of a connection: set it again',
    ),
  ],
}

/** What is known about the discovered authorization servers of a connection, stored under its id. */
export type ConnectionDiscoveryData = {
  /** What the service's newest refusal of a request demanded; null before the first. */
  readonly challenge: AuthChallenge | null
  /** Encrypted JSON of our clients (`KnownClient[]`); '' when there are none. */
  readonly clients: string
}

/** Authorization servers of connections that are found by discovery, and our clients there. */
export const connectionDiscoveries: TypedKind<ConnectionDiscoveryData> = {
  name: 'connection_discoveries',
  exported: null,
  sealed: [
    sealedField('clients', null, 'our clients at the authorization servers of a connection: they are registered anew'),
  ],
}

/** A sign-in that has started. The first callback with its state removes it. */
export type SignInData = {
  readonly connection_id: string
  readonly state_hash: string
  /** Encrypted PKCE verifier. While a code waits for confirmation, it includes the code. */
  readonly verifier: string
  /** The redirect URI to which the provider sends the code. */
  readonly redirect_uri: string
  /** Page to which the owner returns at the end; null for a page of this server. */
  readonly return_to: string | null
  readonly scopes: readonly string[]
  /** Hash of the sign-in's server and client. The code is only exchanged if the connection still has the same. */
  readonly server: string
  /** Issuer of a discovered server; null or absent for a configured server. */
  readonly issuer?: string | null
  /** Hash of the cookie of the browser that started the sign-in; null before the start and after the return. */
  readonly browser: string | null
  /** Whether the caller must confirm the user before the code is exchanged; absent in rows of earlier releases. */
  readonly confirm?: boolean
  readonly by: JsonObject
}

/** Sign-ins in progress. They expire. */
export const connectionSignIns: TypedKind<SignInData> = {
  name: 'connection_sign_ins',
  exported: null,
  unique: [{ fields: ['state_hash'], global: true }],
  filters: ['connection_id'],
  sealed: [
    {
      field: 'verifier',
      aad: (record) => secretAad(record, 'verifier'),
      sentTo: null,
      instead: null,
      loss: 'a sign-in that was under way: start it again',
    },
  ],
}

/** OAuth client of a project at the provider of a catalogue connector. */
export type ConnectorClientData = {
  readonly connector: string
  readonly client_id: string
  /** Encrypted; '' when there is none. */
  readonly client_secret: string
}

/** OAuth clients of projects. They have no tenant. */
export const connectorClients: TypedKind<ConnectorClientData> = {
  name: 'connector_clients',
  unique: [{ fields: ['connector'] }],
  outbox: true,
  sealed: [
    {
      field: 'client_secret',
      isSealed: (value) => value !== '',
      aad: (record) => connectorSecretAad(record.project, String(record.data.connector)),
      sentTo: null,
      instead: () => '',
      loss: 'the secret of a client of a connector: set it again',
    },
  ],
}

/** Returns the additional authenticated data with which the secret of a connector's client is encrypted. */
export const connectorSecretAad = (project: string, connector: string): string =>
  `${project}|connector_clients|${connector}|client_secret`

/** Operations of an OpenAPI document, stored under the id of their connection. */
export type ConnectionToolsData = {
  readonly base_url: string | null
  readonly tools: readonly HttpOperation[]
}

/** Tools of connections that were imported from OpenAPI documents. */
export const connectionTools: TypedKind<ConnectionToolsData> = { name: 'connection_tools', exported: null }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const connectionKinds: readonly AnyKind[] = [
  connectionRows,
  connectionSecrets,
  connectionDiscoveries,
  connectionSignIns,
  connectorClients,
  connectionTools,
]
