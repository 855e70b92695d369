import type { RemoteServer } from '#actors/capability/connection-service.ts'
import type { Services } from '#actors/capability/services.ts'
import type { ConnectionInput } from '#machines/connection/connection-data.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/index.ts'
import { mcp } from '#specs/data/connectors/generic.ts'
import { projectScope } from '#storage/index.ts'
import { checkConfig, shownConfig } from '../connection-config.ts'
import { withinConnectionLimit } from '../connection-limit.ts'
import type { ConnectionVault } from '../connection-vault.ts'
import { connectionRows } from '../kinds.ts'

export interface RemoteConnectionParts extends Pick<Services, 'host' | 'now' | 'records'> {
  readonly vault: Pick<ConnectionVault, 'putClientSecret'>
  readonly guard: Pick<SsrfGuard, 'check'>
}

/** Connections of projects to their remote servers. Those of tenants and users are based on them. */
export class RemoteConnections {
  readonly #parts: RemoteConnectionParts

  constructor(parts: RemoteConnectionParts) {
    this.#parts = parts
  }

  /**
   * Creates a connection under the given id, unless it exists.
   *
   * @throws {ServiceError} `invalid_field`, `connection_limit_reached`
   */
  async create({ project, id, name, url, config: given, by }: RemoteServer): Promise<void> {
    const { host, vault, guard, now } = this.#parts
    const config = { ...configOf(given), server_url: url }
    checkConfig(mcp, config, { whole: config, guard })
    const owner = { project, tenant: null, user: null }
    const input: ConnectionInput = {
      ...{ connection_id: id, connector: mcp.id, auth: mcp.auth, name, owner_type: 'project', test_only: false },
      ...{ pattern: null, config: shownConfig(config), scopes: [], key_last4: null, tool_count: 0, held: false },
      created_by: by,
    }
    await withinConnectionLimit(this.#parts, { ...owner, type: 'project' }, async () => {
      const { client_secret: secret } = given
      if (secret !== undefined) await vault.putClientSecret({ id, owner }, secret)
      const created = { ...owner, createdAt: now() }
      await host.create({ kind: connectionDefinition, id, owner: created, input, cause: 'remote-server' })
    })
  }

  /**
   * Revokes a connection, after those that are based on it, whose tokens are revoked at the server that it knows.
   * Running it again completes an interrupted one.
   */
  async withdraw(project: string, id: string, by: RemoteServer['by']): Promise<void> {
    await this.#revokeFollowers(project, id, by)
    await this.#revoke(id, by)
    // those that were prepared in the meantime; no more can be
    await this.#revokeFollowers(project, id, by)
  }

  async #revokeFollowers(project: string, id: string, by: RemoteServer['by']): Promise<void> {
    const { host, records, now } = this.#parts
    await host.rows.shown()
    const table = new Table(records, connectionRows, now)
    for (const type of ['tenant', 'end_user']) {
      for (let after: string | undefined; ; ) {
        const query = { where: { use_key: `${id} ${type}` }, limit: pageLength, ...(after !== undefined && { after }) }
        const rows = await table.list(projectScope(project), query)
        for (const row of rows) if (row.data.status !== 'revoked') await this.#revoke(row.id, by)
        after = rows.at(-1)?.id
        if (rows.length < pageLength) break
      }
    }
  }

  async #revoke(id: string, by: RemoteServer['by']): Promise<void> {
    if ((await this.#parts.host.load(id)) === null) return
    await this.#parts.host.deliver(id, { event: { type: 'revoke', by: { ...by } }, cause: newId('req') })
  }
}

const pageLength = 100

const configOf = ({ client_id, client_secret, token_auth_method, issuer, scopes }: RemoteServer['config']) => ({
  ...(client_id !== undefined && { client_id }),
  ...(client_secret !== undefined && { client_secret }),
  ...(token_auth_method !== undefined && { token_auth_method }),
  ...(issuer !== undefined && { issuer }),
  ...(scopes !== undefined && { scopes: [...scopes] }),
})
