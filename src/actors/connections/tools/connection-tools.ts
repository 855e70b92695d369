import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import { Table } from '#records/table.ts'
import { connectorOf } from '#specs/data/connectors/connectors.ts'
import { projectScope, type RecordStore } from '#storage/index.ts'
import type { SecretsAt } from '../connection-vault.ts'
import { type ConnectionToolsData, connectionTools } from '../kinds.ts'
import { type HttpOperation, operationOf } from './http-operation.ts'

/** Reads an OpenAPI document and returns its operations. @throws {ServiceError} `invalid_field`, `fetch_failed` */
export type ReadOpenApi = (source: {
  readonly url?: string | undefined
  readonly document?: string | undefined
}) => Promise<ConnectionToolsData>

/** Tools of connections: those of the connector, and those imported from an OpenAPI document. */
export class ConnectionTools {
  readonly #table: Table<ConnectionToolsData>
  readonly read: ReadOpenApi

  constructor(parts: { readonly records: RecordStore; readonly read: ReadOpenApi; readonly now: () => number }) {
    this.#table = new Table(parts.records, connectionTools, parts.now)
    this.read = parts.read
  }

  /** Returns all tools of a connection. @throws {StoreUnavailable} */
  async of(
    project: string,
    id: string,
    context: Pick<ConnectionContext, 'connector' | 'pattern'>,
  ): Promise<readonly HttpOperation[]> {
    const own = connectorOf(context.connector)?.tools.map(operationOf) ?? []
    const imported = await this.imported(project, context.pattern ?? id)
    return [...own, ...(imported?.tools ?? [])]
  }

  /** Returns the tools imported from an OpenAPI document; null when there are none. @throws {StoreUnavailable} */
  async imported(project: string, id: string): Promise<ConnectionToolsData | null> {
    return (await this.#table.get(projectScope(project), id))?.data ?? null
  }

  /** Stores imported tools. @throws {StoreUnavailable} */
  async put({ id, owner }: SecretsAt, data: ConnectionToolsData): Promise<void> {
    const { project, tenant, user } = owner
    const changed = await this.#table.change(projectScope(project), id, { edit: () => data })
    if (changed === null) await this.#table.insert({ id, project, tenant, user, data })
  }

  /** Removes imported tools. @throws {StoreUnavailable} */
  async remove({ id, owner }: SecretsAt): Promise<void> {
    await this.#table.remove(projectScope(owner.project), id)
  }
}
