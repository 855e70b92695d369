import type { ReadyConnection } from '#actors/capability/connection-service.ts'
import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import { isGone } from '#machines/index.ts'
import { contextOf, storedState } from '#runtime/index.ts'
import type { Host } from '#runtime/internal.ts'
import { connectorOf } from '#specs/data/connectors/connectors.ts'
import type { ConnectionServers } from '../connection-servers.ts'
import type { ConnectorClients } from '../connector-clients.ts'
import type { ConnectionTools } from '../tools/connection-tools.ts'
import { type ConnectorReference, connectionOf } from '../tools/connector-reference.ts'
import { type HttpOperation, operationOf } from '../tools/http-operation.ts'
import type { OwnConnections } from './own-connections.ts'
import { baseUrlOf, connectorHeaders } from './requests.ts'

/** Operations that a reference offers. */
export interface ConnectorTarget {
  readonly operations: readonly HttpOperation[]
}

export interface ConnectorTargetParts {
  readonly host: Host
  readonly own: OwnConnections
  readonly tools: ConnectionTools
  readonly servers: ConnectionServers
  readonly clients: ConnectorClients
}

/** Resolves the references to connectors in agents' configs. */
export class ConnectorTargets {
  readonly #parts: ConnectorTargetParts

  constructor(parts: ConnectorTargetParts) {
    this.#parts = parts
  }

  /** Returns the target of a reference; null when it no longer exists. @throws {StoreUnavailable} */
  async of(project: string, { named }: ConnectorReference): Promise<ConnectorTarget | null> {
    if ('connector' in named) {
      const type = connectorOf(named.connector)
      return type === undefined ? null : { operations: type.tools.map(operationOf) }
    }
    const context = await this.#contextOf(project, named.connection_id)
    if (context === null) return null
    return { operations: await this.#parts.tools.of(project, named.connection_id, context) }
  }

  /** Returns why a reference cannot be used; null when it can. @throws {StoreUnavailable} */
  async missing(project: string, reference: ConnectorReference): Promise<string | null> {
    const { own, clients } = this.#parts
    const missing = await own.missing(project, connectionOf(reference, { tenant: '-', user: '-' }))
    if (missing !== null) return missing
    if ('connector' in reference.named) {
      const type = connectorOf(reference.named.connector)
      const needsClient = type !== undefined && type.oauth !== null
      if (needsClient && (await clients.row(project, type.id)) === null)
        return `The project has no client of the connector ${type.id} (connectors.credentials).`
    }
    const target = await this.of(project, reference)
    const unknown = reference.tools?.find((name) => !target?.operations.some((operation) => operation.name === name))
    return unknown === undefined ? null : `The connector has no tool ${unknown}.`
  }

  /**
   * Returns the base URL and headers of requests that use a grant. Null when the URL is unknown, or the connection has
   * lost or replaced the grant since: it may then point to another server.
   *
   * @throws {StoreUnavailable}
   */
  async baseUrl(project: string, { connectionId: id, generation }: ReadyConnection) {
    const { tools, servers } = this.#parts
    const pattern = (await this.#contextOf(project, id))?.pattern ?? null
    const imported = await tools.imported(project, pattern ?? id)
    // read after the document: a connection records that it points to another server before the new document is stored
    const context = await this.#contextOf(project, id)
    if (context === null || !context.held || context.generation !== generation) return null
    const configured = (await servers.configured(project, context)) ?? context
    const url = baseUrlOf({ ...configured, provided: context.provided }, imported?.base_url ?? null)
    return url === null ? null : { url, headers: connectorHeaders(context.connector) }
  }

  async #contextOf(project: string, id: string): Promise<ConnectionContext | null> {
    const found = await this.#parts.host.load(id)
    if (found === null || found.owner.project !== project || found.definition.name !== connectionDefinition.name)
      return null
    const state = storedState(found.state.snapshot)
    return isGone(connectionDefinition, state) ? null : contextOf(connectionDefinition, state)
  }
}
