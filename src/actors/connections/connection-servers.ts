import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope } from '#specs/scope.ts'
import type { Host } from '../runtime/host.ts'
import { contextOf } from '../runtime/schema.ts'
import type { ConnectionVault } from './connection-vault.ts'
import type { ConnectorClients } from './connector-clients.ts'
import { type OAuthServer, oauthServerOf } from './oauth/oauth-server.ts'

/**
 * Finds the authorization server of a connection, and the client registered there. A connection that is based on a
 * pattern uses the configuration of the pattern.
 */
export class ConnectionServers {
  readonly #parts: { readonly host: Host; readonly vault: ConnectionVault; readonly clients: ConnectorClients }

  constructor(parts: { readonly host: Host; readonly vault: ConnectionVault; readonly clients: ConnectorClients }) {
    this.#parts = parts
  }

  /**
   * Returns the server; null when the project has not configured the server or the client.
   *
   * @throws {StoreUnavailable}
   */
  async of(connection: {
    readonly project: string
    readonly id: string
    readonly context: ConnectionContext
  }): Promise<OAuthServer | null> {
    const { project, context } = connection
    if (context.pattern === null) return oauthServerOf(this.#parts, connection)
    const pattern = await this.configured(project, context)
    return pattern === null ? null : oauthServerOf(this.#parts, { project, id: context.pattern, context: pattern })
  }

  /**
   * Returns the connection whose configuration applies: itself or its pattern; null when the pattern was deleted.
   * @throws {StoreUnavailable}
   */
  async configured(project: string, context: ConnectionContext): Promise<ConnectionContext | null> {
    if (context.pattern === null) return context
    try {
      const pattern = await this.#parts.host.find(projectScope(project), connectionDefinition, context.pattern)
      return contextOf(connectionDefinition, pattern.state.snapshot)
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'not_found') return null
      throw error
    }
  }
}
