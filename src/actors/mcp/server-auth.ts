import type { ToolOutcome } from '#actors/capability/agent-resources.ts'
import type {
  ConnectionAccess,
  ConnectionReference,
  ConnectionService,
  ConnectionUse,
  ReadyConnection,
} from '#actors/capability/connection-service.ts'
import type { JsonObject } from '#storage/index.ts'
import { McpFailure } from './client/mcp-failure.ts'

/** The party on whose behalf requests to a server are made. */
export interface ServerCaller {
  readonly project: string
  readonly tenant: string | null
  /** External id of the end user; null when requests are made on behalf of the server's owner. */
  readonly user: string | null
}

/** A server that requests are sent to, and how they authenticate. */
export interface AuthenticatedServer {
  readonly auth: JsonObject | null
  readonly url: string
}

type Headers = Readonly<Record<string, string>>

/** Maximum number of attempts of one piece of work: the first, one with a renewed token, one with further scopes. */
const maxAttempts = 3

/** Returns the connection that a server's `auth` names; null when there is none. */
export const referenceOf = (auth: JsonObject | null): ConnectionReference | null => {
  if (auth === null) return null
  const { connection_id, connector, owner } = auth
  if (typeof connection_id === 'string') {
    return owner === 'tenant' || owner === 'end_user' ? { connection_id, owner } : { connection_id }
  }
  if (typeof connector !== 'string') return null
  return { connector, owner: owner === 'tenant' || owner === 'end_user' ? owner : 'project' }
}

/**
 * Returns the connection for work on behalf of a server's owner: that of the tenant for a server that belongs to a
 * tenant, else that of the project. It is never a user's.
 */
export const ownReference = (auth: JsonObject | null, { tenant }: ServerCaller): ConnectionReference | null => {
  const reference = referenceOf(auth)
  if (reference === null || (reference.owner === 'tenant' && tenant !== null)) return reference
  return 'connection_id' in reference
    ? { connection_id: reference.connection_id }
    : { connector: reference.connector, owner: 'project' }
}

/**
 * Does work on behalf of a server's owner. Without a usable connection, it is done without a token, since many servers
 * list their tools to anyone.
 *
 * @throws {McpFailure} as `work` does, and `connection_required` when the owner has to sign in first
 */
export const withOwnAuth = async <T>(
  connections: ConnectionService,
  { server, caller }: { readonly server: AuthenticatedServer; readonly caller: ServerCaller },
  work: (headers: Headers) => Promise<T>,
): Promise<T> => {
  const connection = ownReference(server.auth, caller)
  if (connection === null) return work({})
  const use = { ...caller, user: null, connection }
  const access = await connections.access(use)
  if (access.kind === 'ready')
    return attempts(connections, { server, use, access }, { work, otherwise: requiredFailure })
  try {
    return await work({})
  } catch (error) {
    if (!(error instanceof McpFailure) || error.challenge === null) throw error
    const { needsScopes: _, ...challenge } = error.challenge
    await connections.challenged(use, challenge)
    if (access.kind === 'required') requiredFailure(access)
    throw error
  }
}

const requiredFailure = (access: NotReady): never => {
  if (access.kind === 'refused') throw new McpFailure('unauthorized', access.message, { isFinal: true })
  const { connection_id: connectionId } = access.required
  throw new McpFailure('connection_required', access.message, { isFinal: true, connectionId })
}

/**
 * Makes a call with the headers of the caller's own connection. When the server rejects the token, the call is made
 * once more with a renewed one. When the caller has to sign in first, or again for more scopes, no call is made and the
 * outcome contains the link.
 *
 * @throws {McpFailure} as `work` does
 */
export const withAuth = async (
  connections: ConnectionService,
  { server, caller }: { readonly server: AuthenticatedServer; readonly caller: ServerCaller },
  work: (headers: Headers) => Promise<ToolOutcome>,
): Promise<ToolOutcome> => {
  const connection = referenceOf(server.auth)
  if (connection === null) return work({})
  const use = { ...caller, connection }
  const access = await connections.access(use)
  if (access.kind !== 'ready') return notReady(access)
  return attempts(connections, { server, use, access }, { work, otherwise: notReady })
}

interface Attempt {
  readonly server: AuthenticatedServer
  readonly use: ConnectionUse
  readonly access: ReadyConnection
}

type NotReady = Exclude<ConnectionAccess, ReadyConnection>

const attempts = async <T>(
  connections: ConnectionService,
  { server, use, access: first }: Attempt,
  { work, otherwise }: { work: (headers: Headers) => Promise<T>; otherwise: (access: NotReady) => T },
): Promise<T> => {
  let access = first
  for (let attempt = 1; ; attempt++) {
    if (!isFor(access, server.url)) return otherwise(elsewhere)
    try {
      return await work(access.headers)
    } catch (error) {
      if (!(error instanceof McpFailure) || error.challenge === null || attempt === maxAttempts) throw error
      const next = await nextAccess(connections, { server, use, access }, error)
      if (next.kind !== 'ready') return otherwise(next)
      if (next.generation === access.generation) throw error
      access = next
    }
  }
}

const nextAccess = async (
  connections: ConnectionService,
  { use, access }: Attempt,
  { challenge }: McpFailure,
): Promise<ConnectionAccess> => {
  if (challenge === null) return access
  const { needsScopes, ...demanded } = challenge
  if (needsScopes) return connections.insufficient(use, access, demanded.scopes ?? [])
  await connections.challenged(use, demanded)
  return connections.refused(use, access)
}

const elsewhere: NotReady = {
  kind: 'refused',
  code: 'connection_of_other_server',
  message: 'The connection is for another server, so its token is not sent.',
}

/** Whether a token may be sent to a URL: one that was granted for a server is never sent to another. */
const isFor = ({ resource }: ReadyConnection, url: string): boolean => resource === null || resource === url

const notReady = (access: NotReady): ToolOutcome =>
  access.kind === 'required'
    ? { ok: false, code: 'connection_required', message: access.message, connection: access.required }
    : { ok: false, code: access.code, message: access.message }
