import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { isDiscovered } from '#specs/data/connectors/connectors.ts'
import { projectScope } from '#storage/index.ts'
import { nullWhenNotFound } from '../call/not-found.ts'
import type { Services } from '../capability/services.ts'
import { contextOf } from '../runtime/index.ts'
import type { ConnectionVault, SecretsAt } from './connection-vault.ts'
import type { ConnectorClients } from './connector-clients.ts'
import { chooseClient } from './discovery/choose-client.ts'
import { type DiscoveredServer, discoverServer, discoveryFetch } from './discovery/discover-server.ts'
import type { Discoveries } from './discovery/discoveries.ts'
import { serverOfClient } from './discovery/known-clients.ts'
import { requestedScopes } from './discovery/requested-scopes.ts'
import { type OAuthServer, oauthServerOf } from './oauth/oauth-server.ts'
import type { SignInLinks } from './oauth/sign-in-links.ts'

export interface ConnectionServerParts extends Pick<Services, 'host' | 'now'> {
  readonly vault: ConnectionVault
  readonly clients: ConnectorClients
  readonly discoveries: Discoveries
  readonly guard: Pick<SsrfGuard, 'check' | 'request'>
  readonly links: SignInLinks
}

/** A connection whose server is to be found. */
export interface ServedConnection {
  readonly project: string
  readonly id: string
  readonly context: ConnectionContext
  /** Issuer of a discovered server; absent: that of the current grant. */
  readonly issuer?: string | undefined
}

/** A server for a sign-in, and the scopes to request. */
export interface SignInServer {
  readonly server: OAuthServer
  readonly scopes: readonly string[]
  /** Issuer of a discovered server; null for a configured one. */
  readonly issuer: string | null
}

/**
 * Finds the authorization server of a connection, and the client registered there. A connection that is based on a
 * pattern uses the configuration of the pattern.
 */
export class ConnectionServers {
  readonly #parts: ConnectionServerParts

  constructor(parts: ConnectionServerParts) {
    this.#parts = parts
  }

  /**
   * Returns the server; null when the project has not configured the server or the client, or a discovered server is
   * not known any more.
   *
   * @throws {StoreUnavailable}
   */
  async of(connection: ServedConnection): Promise<OAuthServer | null> {
    const { project, context } = connection
    const id = context.pattern ?? connection.id
    if (isDiscovered(context.connector)) {
      const issuer = connection.issuer ?? context.provided.issuer
      const { clients } = await this.#parts.discoveries.of({ project, id })
      const known = clients.find((each) => each.issuer === issuer)
      return known === undefined ? null : serverOfClient(known)
    }
    const configured = await this.configured(project, context)
    return configured === null ? null : oauthServerOf(this.#parts, { project, id, context: configured })
  }

  /**
   * Returns the server of a new sign-in. The server of a remote resource is discovered each time, since the resource
   * may have changed it; a client is registered at a server that does not have one yet.
   *
   * @throws {DiscoveryFailed} {StoreUnavailable}
   */
  async forSignIn({
    owner,
    ...connection
  }: Pick<ServedConnection, 'id' | 'context'> & Pick<SecretsAt, 'owner'>): Promise<SignInServer | null> {
    const { project } = owner
    const { context } = connection
    const configured = await this.configured(project, context)
    if (configured === null) return null
    if (!isDiscovered(context.connector)) {
      const server = await this.of({ ...connection, project })
      const scopes = context.scopes.length > 0 ? context.scopes : (server?.scopes ?? [])
      return server === null ? null : { server, scopes, issuer: null }
    }
    const { pattern } = context
    const at: SecretsAt =
      pattern === null ? { id: connection.id, owner } : { id: pattern, owner: { project, tenant: null, user: null } }
    return this.#discovered(at, context, configured)
  }

  async #discovered(
    at: SecretsAt,
    context: ConnectionContext,
    { config }: ConnectionContext,
  ): Promise<SignInServer | null> {
    const { discoveries, vault, guard, links, now } = this.#parts
    const { server_url: url } = config
    if (typeof url !== 'string') return null
    const place = { project: at.owner.project, id: at.id }
    const { challenge, clients } = await discoveries.of(place)
    const { clientSecret } = await vault.open(place)
    const wire = discoveryFetch(guard)
    const issuer = textOf(config.issuer) ?? null
    const metadataUrl = challenge?.resource_metadata ?? null
    const server: DiscoveredServer = await discoverServer({ guard, url, metadataUrl, issuer }, wire)
    const scopes = requestedScopes(server, { context, config, challenge })
    const choice = { config: clientConfig(config), secret: clientSecret, known: clients, links, now: now() }
    const client = await discoveries.keep(at, await chooseClient(server, choice, wire), clients)
    return { server: serverOfClient(client), scopes, issuer: client.issuer }
  }

  /**
   * Returns the connection whose configuration applies: itself or its pattern; null when the pattern was deleted.
   * @throws {StoreUnavailable}
   */
  async configured(project: string, context: ConnectionContext): Promise<ConnectionContext | null> {
    if (context.pattern === null) return context
    const pattern = await this.#parts.host
      .find(projectScope(project), connectionDefinition, context.pattern)
      .catch(nullWhenNotFound)
    return pattern && contextOf(connectionDefinition, pattern.state.snapshot)
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const clientConfig = ({ client_id, token_auth_method: method, issuer }: ConnectionContext['config']) => ({
  client_id: textOf(client_id),
  issuer: textOf(issuer),
  token_auth_method: textOf(method),
})
