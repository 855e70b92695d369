import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import type { JsonObject, StoredRecord } from '#storage/ports.ts'
import type { AnyKind, SealedField, TypedKind } from '../records/schema.ts'
import type { HttpOperation } from './tools/http-operation.ts'

/** What the list row of a connection holds (`connectionDefinition.row`). */
export type ConnectionRowData = Omit<
  ConnectionContext,
  'connection_id' | 'delay_ms' | 'attempts' | 'waiters' | 'code'
> & {
  readonly status: 'pending' | 'active' | 'expired' | 'error' | 'revoked'
  readonly use_key: string
}

/** List rows of connections. */
export const connectionRows: TypedKind<ConnectionRowData> = {
  name: 'connections',
  unexported: ['use_key', 'created_by', 'is_lost', 'pattern', 'generation', 'refresh_in_ms'],
  filters: ['status', 'connector', 'owner_type', 'use_key'],
}

/** Secrets of a connection, under its id; '' for none. */
export type ConnectionSecretsData = {
  /** Sealed JSON of tokens, or of the key (`GrantSecrets`). */
  readonly grant: string
  /** Sealed secret of the client of an OAuth server of one's own. */
  readonly client_secret: string
  /** As the connection's log names it. */
  readonly generation: number
  /** The effect that was granted it, and its event, to be given again after a crash; null for a key. */
  readonly granted: JsonObject | null
}

const sealedField = (field: string, loss: string): SealedField => ({
  field,
  isSealed: (value) => value !== '',
  aad: (record) => secretAad(record, field),
  instead: () => '',
  loss,
})

/** What a connection's secret is sealed for. */
export const secretAad = ({ project, id }: Pick<StoredRecord, 'project' | 'id'>, field: string): string =>
  `${project}|connections|${id}|${field}`

/** Secrets stand apart from the connection's log, so that they can be removed, and sealed anew. */
export const connectionSecrets: TypedKind<ConnectionSecretsData> = {
  name: 'connection_secrets',
  exported: null,
  sealed: [
    sealedField('grant', 'the key or tokens of a connection: its owner has to connect it anew'),
    sealedField('client_secret', 'the client secret of a connection: set it again'),
  ],
}

/** A sign-in that was begun. The first to come back with its state removes it. */
export type SignInData = {
  readonly connection_id: string
  readonly state_hash: string
  /** Sealed PKCE verifier; of a code that waits for its confirmation, the code too. */
  readonly verifier: string
  /** Where the provider sends the code. */
  readonly redirect_uri: string
  /** Where the owner goes in the end; null for a page of ours. */
  readonly return_to: string | null
  readonly scopes: readonly string[]
  /** Which server and client it was begun at: another one gets no code. */
  readonly server: string
  /** Hash of the cookie of the browser that began it; null before one has, and after it came back. */
  readonly browser: string | null
  /** The caller says whose browser it was before the code is exchanged; absent in sign-ins of before. */
  readonly confirm?: boolean
  readonly by: JsonObject
}

/** Sign-ins under way; they expire. */
export const connectionSignIns: TypedKind<SignInData> = {
  name: 'connection_sign_ins',
  exported: null,
  unique: [{ fields: ['state_hash'], global: true }],
  filters: ['connection_id'],
  sealed: [
    {
      field: 'verifier',
      aad: (record) => secretAad(record, 'verifier'),
      instead: null,
      loss: 'a sign-in that was under way: start it again',
    },
  ],
}

/** A project's client at the provider of a connector of the catalogue. */
export type ConnectorClientData = {
  readonly connector: string
  readonly client_id: string
  /** Sealed; '' for none. */
  readonly client_secret: string
}

/** Clients of a project; they have no tenant. */
export const connectorClients: TypedKind<ConnectorClientData> = {
  name: 'connector_clients',
  unique: [{ fields: ['connector'] }],
  outbox: true,
  sealed: [
    {
      field: 'client_secret',
      isSealed: (value) => value !== '',
      aad: (record) => connectorSecretAad(record.project, String(record.data.connector)),
      instead: () => '',
      loss: 'the secret of a client of a connector: set it again',
    },
  ],
}

/** What the secret of a connector's client is sealed for. */
export const connectorSecretAad = (project: string, connector: string): string =>
  `${project}|connector_clients|${connector}|client_secret`

/** Operations of an OpenAPI document, under the id of their connection. */
export type ConnectionToolsData = {
  readonly base_url: string | null
  readonly tools: readonly HttpOperation[]
}

/** Tools that connections have of their own. */
export const connectionTools: TypedKind<ConnectionToolsData> = { name: 'connection_tools', exported: null }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const connectionKinds: readonly AnyKind[] = [
  connectionRows,
  connectionSecrets,
  connectionSignIns,
  connectorClients,
  connectionTools,
]
