import { isDeepStrictEqual } from 'node:util'
import type {
  AuthChallenge,
  ConnectionAccess,
  ConnectionReference,
  ConnectionService,
  ConnectionUse,
  ReadyConnection,
  RemoteServer,
} from '#actors/capability/connection-service.ts'
import type { Services } from '#actors/capability/services.ts'
import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import { isBusy, statusOf } from '#machines/index.ts'
import { timestampOf } from '#records/row-times.ts'
import { contextOf, newId, pause, storedState } from '#runtime/index.ts'
import type { Resident } from '#runtime/internal.ts'
import { connectorOf, isDiscovered } from '#specs/data/connectors/connectors.ts'
import type { Json } from '#storage/index.ts'
import type { ConnectionServers } from '../connection-servers.ts'
import type { ConnectionVault } from '../connection-vault.ts'
import type { Discoveries } from '../discovery/discoveries.ts'
import type { SignInLinks } from '../oauth/sign-in-links.ts'
import type { OwnConnections } from './own-connections.ts'
import type { RemoteConnections } from './remote-connections.ts'
import { authHeaders } from './requests.ts'

export interface AccessParts extends Pick<Services, 'clock' | 'host'> {
  readonly vault: ConnectionVault
  readonly own: OwnConnections
  readonly links: SignInLinks
  readonly discoveries: Pick<Discoveries, 'of' | 'challenged'>
  readonly servers: Pick<ConnectionServers, 'configured'>
  readonly remote: RemoteConnections
}

/** Remaining lifetime in ms below which a token is refreshed before use, or a tenth of its lifetime if less. */
const minLeftMs = 60_000
/** Maximum time in ms for which a use waits for a refresh. */
const patienceMs = 25_000

const refused = (code: string, message: string): ConnectionAccess => ({ kind: 'refused', code, message })

const gone = refused('connection_not_found', 'The tenant or user of this call has no such connection.')

/** Provides tools with credentials of connections, and prepares a sign-in when there are none yet. */
export class ConnectionAccesses implements ConnectionService {
  readonly #parts: AccessParts

  constructor(parts: AccessParts) {
    this.#parts = parts
  }

  async access(use: ConnectionUse): Promise<ConnectionAccess> {
    const found = await this.#parts.own.of(use)
    return found === null ? gone : this.#ready(found)
  }

  async refused(use: ConnectionUse, ready: ReadyConnection): Promise<ConnectionAccess> {
    const found = await this.#parts.own.of(use)
    if (found === null) return gone
    await this.#deliver(found, { type: 'refused', generation: ready.generation })
    const again = await this.#ready(await this.idle(found))
    if (again.kind !== 'ready' || again.generation !== ready.generation) return again
    return refused(
      'connection_unavailable',
      'The service refuses the credentials of the connection, and they cannot be renewed at the moment.',
    )
  }

  async insufficient(use: ConnectionUse, ready: ReadyConnection, scopes: readonly string[]): Promise<ConnectionAccess> {
    const { own, host, clock } = this.#parts
    const found = await own.of(use)
    if (found === null) return gone
    const event = { type: 'scopes_required', generation: ready.generation, scopes: [...scopes], at: clock.now() }
    await host.deliver(found.id, { event, cause: newId('use') })
    const now = await this.idle(found)
    const context = contextOf(connectionDefinition, storedState(now.state.snapshot))
    // the owner has signed in again while the call was under way
    if (context.generation !== ready.generation) return this.#ready(now)
    if (scopes.some((scope) => context.missing_scopes.includes(scope))) return this.#required(now, context)
    return refused('insufficient_scope', 'The service requires scopes that the sign-in did not grant.')
  }

  async challenged(use: ConnectionUse, challenge: AuthChallenge): Promise<void> {
    const { own, discoveries } = this.#parts
    const found = await own.of(use)
    if (found === null) return
    const { pattern } = contextOf(connectionDefinition, storedState(found.state.snapshot))
    const { project } = found.owner
    const id = pattern ?? found.id
    const known = await discoveries.of({ project, id })
    if (isDeepStrictEqual(known.challenge, challenge)) return
    const owner = pattern === null ? found.owner : { project, tenant: null, user: null }
    await discoveries.challenged({ id, owner }, challenge)
  }

  createFor(remote: RemoteServer): Promise<void> {
    return this.#parts.remote.create(remote)
  }

  withdraw(project: string, connectionId: string, by: RemoteServer['by']): Promise<void> {
    return this.#parts.remote.withdraw(project, connectionId, by)
  }

  untestable(project: string, ids: readonly string[], declared: readonly Json[]): Promise<string | null> {
    return this.#parts.own.untestable(project, ids, declared)
  }

  /** Like `access`, for a connection that is already loaded. @throws {StoreUnavailable} */
  of(connection: Resident): Promise<ConnectionAccess> {
    return this.#ready(connection)
  }

  missing(project: string, connection: ConnectionReference, only?: string | null): Promise<string | null> {
    return this.#parts.own.missing(project, connection, only)
  }

  /** Requests a refresh of the token of this generation, or of any generation if it is null, and waits for it. */
  async renewed(resident: Resident, generation: number | null): Promise<Resident> {
    await this.#deliver(resident, { type: 'refresh', generation })
    return this.idle(resident)
  }

  async #ready(resident: Resident): Promise<ConnectionAccess> {
    const now = await this.#fresh(await this.idle(resident))
    const context = contextOf(connectionDefinition, storedState(now.state.snapshot))
    const status = statusOf(connectionDefinition, now.state.snapshot)
    if (status === 'revoked' || status === null) return refused('connection_revoked', 'The connection was revoked.')
    if (!context.held) return this.#required(now, context)
    const { grant } = await this.#parts.vault.open({ project: now.owner.project, id: now.id })
    if (grant === null) return this.#lost(now, context)
    if (context.expires_at_ms !== null && context.expires_at_ms <= this.#parts.clock.now())
      return refused('connection_unavailable', context.error?.message ?? 'The access token could not be refreshed.')
    return {
      kind: 'ready',
      connectionId: now.id,
      headers: authHeaders(context, grant.access_token),
      token: grant.access_token,
      generation: context.generation,
      resource: await this.#resource(now, context),
    }
  }

  async #resource({ owner }: Resident, context: ConnectionContext): Promise<string | null> {
    if (!isDiscovered(context.connector)) return null
    const configured = await this.#parts.servers.configured(owner.project, context)
    const url = configured?.config.server_url
    // a token whose server is unknown is not sent anywhere
    return typeof url === 'string' ? url : ''
  }

  /** Reports to the connection that its secrets cannot be decrypted. It then waits for its owner to connect again. */
  async #lost(resident: Resident, { generation }: ConnectionContext): Promise<ConnectionAccess> {
    await this.#deliver(resident, { type: 'refused', generation })
    const now = await this.idle(resident)
    const context = contextOf(connectionDefinition, storedState(now.state.snapshot))
    if (!context.held) return this.#required(now, context)
    return refused('connection_unavailable', 'The secrets of the connection cannot be read at the moment.')
  }

  /** Refreshes the token if it expires soon and can be refreshed. */
  async #fresh(resident: Resident): Promise<Resident> {
    const context = contextOf(connectionDefinition, storedState(resident.state.snapshot))
    if (!context.held || !context.is_refreshable || !this.#isOld(context)) return resident
    return this.renewed(resident, context.generation)
  }

  #isOld({ expires_at_ms, refreshed_at_ms }: ConnectionContext): boolean {
    if (expires_at_ms === null) return false
    const life = expires_at_ms - (refreshed_at_ms ?? 0)
    return expires_at_ms - this.#parts.clock.now() < Math.min(minLeftMs, life / 10)
  }

  async #required(resident: Resident, context: ConnectionContext): Promise<ConnectionAccess> {
    const { connector, auth, owner_type } = context
    const { owner, id } = resident
    const link = auth === 'oauth2' ? this.#parts.links.of({ project: owner.project, id }) : null
    const name = isDiscovered(connector) ? context.name : (connectorOf(connector)?.name ?? connector)
    const whose = { project: 'The project', tenant: 'The tenant', end_user: 'The user' }[owner_type]
    return {
      kind: 'required',
      required: {
        connection_id: id,
        connector,
        authorize_url: link?.url ?? null,
        expires_at: link === null ? null : timestampOf(link.until),
      },
      message:
        `${whose} has to connect ${name} ${context.missing_scopes.length > 0 ? 'with more permissions' : ''} first.`.replace(
          '  ',
          ' ',
        ),
    }
  }

  async #deliver(resident: Resident, event: Renewal): Promise<void> {
    await this.#parts.host.deliver(resident.id, { event, cause: newId('use') })
  }

  /**
   * Returns the connection once no work is in progress on it, or its current state after `patienceMs`.
   *
   * @throws {StoreUnavailable}
   */
  async idle(resident: Resident): Promise<Resident> {
    const { host, clock } = this.#parts
    const until = clock.steady() + patienceMs
    let found = await host.load(resident.id)
    while (found !== null && isBusy(connectionDefinition, found.state.snapshot) && clock.steady() < until) {
      await this.#change(found)
      found = await host.load(resident.id)
    }
    return found ?? resident
  }

  /** Resolves when work on the connection has ended or advanced, or after `patienceMs`. */
  async #change(found: Resident): Promise<void> {
    const { host, clock } = this.#parts
    const over = Promise.withResolvers<void>()
    const stream = host.feed.follow(found.id, found.state.lastSequence, { at: 'idle', after: () => true })
    const control = stream.start({ push: () => true, end: () => over.resolve() })
    const waited = new AbortController()
    // the stream of a connection that is erased in the meantime does not end
    const gone = this.#settled(found.id, waited.signal)
    await Promise.race([Promise.all([over.promise, pause(clock, betweenMs)]), gone, pause(clock, patienceMs)])
    waited.abort()
    control.stop()
  }

  /** Resolves when the connection no longer exists, or no work is in progress on it. */
  async #settled(id: string, ended: AbortSignal): Promise<void> {
    const { host, clock } = this.#parts
    while (!ended.aborted) {
      await pause(clock, pollMs)
      const found = ended.aborted ? null : await host.load(id)
      if (found === null || !isBusy(connectionDefinition, found.state.snapshot)) return
    }
  }
}

/** Minimum time between two looks at a connection, in ms: the stream of an actor that is not in memory ends at once. */
const betweenMs = 10

/** Interval in ms at which a wait checks that the connection still exists. */
const pollMs = 500

type Renewal = { readonly type: 'refused' | 'refresh'; readonly generation: number | null }
