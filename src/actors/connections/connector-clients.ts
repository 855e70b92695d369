import { projectScope, type RecordStore } from '#storage/index.ts'
import type { Notice } from '../records/notices.ts'
import type { Row } from '../records/schema.ts'
import { openedOrNull, type SecretBox } from '../records/secret-box.ts'
import { Table } from '../records/table.ts'
import { newId } from '../runtime/index.ts'
import { type ConnectorClientData, connectorClients, connectorSecretAad } from './kinds.ts'

/** OAuth client of a project at a provider. */
export interface ConnectorClient {
  readonly id: string
  readonly secret: string | null
}

/** OAuth clients that projects have registered at providers of the catalogue. */
export class ConnectorClients {
  readonly #table: Table<ConnectorClientData>
  readonly #box: SecretBox

  constructor({ records, box, now }: { records: RecordStore; box: SecretBox; now: () => number }) {
    this.#table = new Table(records, connectorClients, now)
    this.#box = box
  }

  /** Returns the stored row with its secret still encrypted. @throws {StoreUnavailable} */
  row(project: string, connector: string): Promise<Row<ConnectorClientData> | null> {
    return this.#table.find(projectScope(project), { connector })
  }

  /** Returns the ids of a project's clients by connector. @throws {StoreUnavailable} */
  async ids(project: string): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#table.list(projectScope(project), { limit: 100 })
    return new Map(rows.map(({ data }) => [data.connector, data.client_id]))
  }

  /** Returns the client of a project at a connector's provider; null when none is stored. @throws {StoreUnavailable} */
  async open(project: string, connector: string): Promise<ConnectorClient | null> {
    const row = await this.row(project, connector)
    if (row === null) return null
    return { id: row.data.client_id, secret: this.#opened(row) }
  }

  /**
   * Stores a client.
   *
   * @param secret undefined keeps the stored secret if the client id is unchanged.
   * @throws {StoreUnavailable}
   */
  async put(
    { project, connector }: { readonly project: string; readonly connector: string },
    client: { readonly id: string; readonly secret: string | undefined },
    notices: readonly Notice[],
  ): Promise<Row<ConnectorClientData> | null> {
    const sealed =
      client.secret === undefined ? null : this.#box.seal(client.secret, connectorSecretAad(project, connector))
    const data = (before: ConnectorClientData | null): ConnectorClientData => ({
      connector,
      client_id: client.id,
      client_secret: sealed ?? (before?.client_id === client.id ? before.client_secret : ''),
    })
    const row = await this.row(project, connector)
    const change = { edit: (known: Row<ConnectorClientData>) => data(known.data), notices: () => notices }
    if (row !== null) return this.#table.change(projectScope(project), row.id, change)
    const made = await this.#table.insert({ id: newId('cnc'), project, data: data(null), notices })
    if (made !== null) return made
    const other = await this.row(project, connector)
    return other === null ? null : this.#table.change(projectScope(project), other.id, change)
  }

  /** @throws {StoreUnavailable} */
  async remove(project: string, connector: string, notices: readonly Notice[]): Promise<void> {
    const row = await this.row(project, connector)
    if (row !== null) await this.#table.remove(projectScope(project), row.id, () => notices)
  }

  #opened({ project, data }: Row<ConnectorClientData>): string | null {
    const { connector, client_secret: sealed } = data
    return sealed === '' ? null : openedOrNull(this.#box, sealed, connectorSecretAad(project, connector))
  }
}
