import type { ToolOutcome } from '#actors/capability/agent-resources.ts'
import type {
  ConnectionAccess,
  ConnectionReference,
  ConnectionService,
  ReadyConnection,
} from '#actors/capability/connection-service.ts'
import type { JsonObject } from '#storage/ports.ts'
import { McpFailure } from './client/mcp-failure.ts'

/** The party on whose behalf requests to a server are made. */
export interface ServerCaller {
  readonly project: string
  readonly tenant: string | null
  /** External id of the end user; null when requests are made on behalf of the server's owner. */
  readonly user: string | null
}

type Headers = Readonly<Record<string, string>>

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
 * Returns the headers for discoveries and tests, from the connection itself and never from a user's. Empty when the
 * connection is not ready.
 */
export const ownHeaders = async (
  connections: ConnectionService,
  auth: JsonObject | null,
  caller: ServerCaller,
): Promise<Headers> => {
  const reference = referenceOf(auth)
  if (reference === null) return {}
  const connection =
    'connection_id' in reference
      ? { connection_id: reference.connection_id }
      : ({ connector: reference.connector, owner: 'project' } as const)
  const access = await connections.access({ ...caller, user: null, connection })
  return access.kind === 'ready' ? access.headers : {}
}

/**
 * Makes a call with the headers of the caller's own connection. When the server rejects the token, the call is made
 * once more with a renewed one. When the caller has to sign in first, no call is made and the outcome contains the
 * link.
 *
 * @throws {McpFailure} as `work` does
 */
export const withAuth = async (
  connections: ConnectionService,
  { auth, caller }: { readonly auth: JsonObject | null; readonly caller: ServerCaller },
  work: (headers: Headers) => Promise<ToolOutcome>,
): Promise<ToolOutcome> => {
  const connection = referenceOf(auth)
  if (connection === null) return work({})
  const use = { ...caller, connection }
  const first = await connections.access(use)
  if (first.kind !== 'ready') return notReady(first)
  try {
    return await work(first.headers)
  } catch (error) {
    if (!(error instanceof McpFailure) || error.code !== 'unauthorized') throw error
    const next = await connections.refused(use, first)
    if (next.kind !== 'ready') return notReady(next)
    if (next.generation === first.generation) throw error
    return work(next.headers)
  }
}

const notReady = (access: Exclude<ConnectionAccess, ReadyConnection>): ToolOutcome =>
  access.kind === 'required'
    ? { ok: false, code: 'connection_required', message: access.message, connection: access.required }
    : { ok: false, code: access.code, message: access.message }
