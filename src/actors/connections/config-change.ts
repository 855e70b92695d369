import { isDeepStrictEqual } from 'node:util'
import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import { credentialAddress } from '#outgoing/credential-address.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import type { ConnectorType } from '#specs/data/connectors/connector-type.ts'
import { isDiscovered } from '#specs/data/connectors/connectors.ts'
import type { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { projectScope } from '#storage/index.ts'
import type { Services } from '../capability/services.ts'
import { Table } from '../records/table.ts'
import type { Host } from '../runtime/internal.ts'
import { type ConnectionConfig, changesTarget, checkConfig, shownConfig } from './connection-config.ts'
import type { ConnectionVault, SecretsAt } from './connection-vault.ts'
import { connectionRows } from './kinds.ts'
import type { ConnectionTools } from './tools/connection-tools.ts'
import { baseUrlOf } from './use/requests.ts'

export interface ConfigChangeParts extends Pick<Services, 'now' | 'records'> {
  readonly host: Pick<Host, 'rows'>
  readonly vault: ConnectionVault
  readonly guard: Pick<SsrfGuard, 'check'>
  readonly tools: ConnectionTools
}

/** A connection, and the fields of its config that are to be replaced. */
export interface ChangedConfig {
  readonly at: SecretsAt
  readonly type: ConnectorType
  readonly context: ConnectionContext
  readonly config: ConnectionConfig
}

/**
 * Checks a new config of a connection and returns its consequences: whether the grant is dropped, the fields to change,
 * and two steps that change the secrets. A secret granted for one server must never be sent to another, even when the
 * process crashes halfway. Therefore the caller first calls `withdraw`, which removes the client secret that the new
 * server must not get, then sends the change to the connection's actor, and only then calls `store`, which stores the
 * secrets and tools for the new server.
 *
 * @throws {ServiceError} `invalid_field`, `missing_field`, `fetch_failed`
 */
export const configChange = async (parts: ConfigChangeParts, change: ChangedConfig) => {
  const { at, type, context, config } = change
  if (context.pattern !== null) throw refused('The connection follows its pattern.')
  const before = context.config
  const after = { ...before, ...shownConfig(config) }
  checkConfig(type, config, { whole: after, guard: parts.guard })
  const imported = config.openapi === undefined ? null : await parts.tools.read(config.openapi)
  const known = (await parts.tools.imported(at.owner.project, at.id))?.base_url ?? null
  const bases = {
    before: baseUrlOf(context, known),
    after: baseUrlOf({ ...context, config: after }, imported?.base_url ?? known),
  }
  const drops =
    changesTarget(before, after, ['authorization_url', 'token_url', 'client_id', ...issuerOf(type)]) ||
    (bases.before !== null && credentialAddress(bases.before) !== credentialAddress(bases.after ?? ''))
  if (drops && (await isFollowed(parts, at)))
    throw refused(
      'Other owners have signed in through connections that are based on this one. To use another server, create another connection.',
    )
  const losesClient = changesTarget(before, after, ['token_url', 'client_id', ...issuerOf(type)])
  return {
    drops,
    fields: {
      config: isDeepStrictEqual(before, after) ? before : after,
      scopes: config.scopes ?? context.scopes,
      ...(imported !== null && { tool_count: imported.tools.length }),
    },
    withdraw: async (): Promise<void> => {
      if (losesClient) await parts.vault.putClientSecret(at, null)
    },
    store: async (): Promise<void> => {
      if (config.client_secret !== undefined) await parts.vault.putClientSecret(at, config.client_secret)
      if (imported !== null) await parts.tools.put(at, imported)
    },
  }
}

/** A discovered server is identified by its issuer. */
const issuerOf = ({ id }: ConnectorType) => (isDiscovered(id) ? (['issuer'] as const) : [])

const refused = (message: string): ServiceError => invalidField('config', message)

const pageLength = 100

/** Whether a connection of another owner that is based on this one holds a grant. */
const isFollowed = async ({ host, records, now }: ConfigChangeParts, { id, owner }: SecretsAt): Promise<boolean> => {
  await host.rows.shown()
  const table = new Table(records, connectionRows, now)
  for (const type of ['project', 'tenant', 'end_user']) {
    for (let after: string | undefined; ; ) {
      const query = { where: { use_key: `${id} ${type}` }, limit: pageLength, ...(after !== undefined && { after }) }
      const rows = await table.list(projectScope(owner.project), query)
      if (rows.some(({ data }) => data.held)) return true
      after = rows.at(-1)?.id
      if (rows.length < pageLength) break
    }
  }
  return false
}
