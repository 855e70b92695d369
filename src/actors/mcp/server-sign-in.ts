import type { ConnectionReference, ConnectionService, RemoteServer } from '#actors/capability/connection-service.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { BodyOf } from '#specs/index.ts'
import type { JsonObject } from '#storage/index.ts'
import { derivedId, timeOfId } from '../runtime/index.ts'
import type { Resident } from '../runtime/internal.ts'
import { ownReference, referenceOf } from './server-auth.ts'
import { serverContext } from './server-view.ts'

/** The `auth` of a server in a request. */
type GivenAuth = NonNullable<BodyOf<'mcp_servers.create'>['auth']>

/** A server whose `auth` is set. */
export interface AuthPlace {
  readonly project: string
  readonly tenant: string | null
  readonly id: string
  readonly name: string
  readonly url: string
  readonly by: RemoteServer['by']
  /** Whether the caller's key is limited to tenants, so that it gives no token of the project's to a server. */
  readonly isLimited: boolean
  /** Distinguishes this change of the server from others; the same in every attempt of a request. */
  readonly revision: string
  /** The `auth` that may be kept; absent or null for none. */
  readonly before?: JsonObject | null
}

/** The `auth` to store, and the creation of the connection that it refers to. */
export interface PlannedAuth {
  readonly stored: JsonObject | null
  readonly create: () => Promise<void>
}

const clientFields = ['client_id', 'client_secret', 'token_auth_method', 'issuer', 'scopes'] as const

/**
 * Validates the `auth` of a server.
 *
 * @throws {ServiceError} `missing_field`, `insufficient_scope`, and `invalid_field` when the caller cannot use the connection
 */
export const plannedAuth = async (
  connections: ConnectionService,
  place: AuthPlace,
  given: GivenAuth | null | undefined,
): Promise<PlannedAuth> => {
  if (given?.type === 'oauth') return plannedSignIn(connections, place, given)
  const extra = clientFields.find((field) => given?.[field] !== undefined)
  if (extra !== undefined) throw invalidField(`auth.${extra}`, `${extra} requires auth.type.`)
  const auth = given === null || given === undefined ? null : referenceFields(given)
  const reference = referenceOf(auth)
  if (auth !== null && reference === null)
    throw new ServiceError('missing_field', {
      param: 'auth',
      message: 'auth requires type, connection_id or connector.',
    })
  if (place.isLimited) requireOwn(reference)
  const only = place.isLimited ? place.tenant : null
  const why = reference === null ? null : await connections.missing(place.project, reference, only)
  if (why !== null) throw invalidField('auth', why)
  return { stored: auth, create: async () => {} }
}

/**
 * The token of a connection goes to the URL that the caller names, so a key of some tenants names none of the project's.
 *
 * @throws {ServiceError} `insufficient_scope`
 */
const requireOwn = (reference: ConnectionReference | null): void => {
  if (reference === null || 'connection_id' in reference || reference.owner !== 'project') return
  throw new ServiceError('insufficient_scope', {
    param: 'auth.owner',
    message:
      'The key is limited to tenants and does not reach connections of the project: owner must be tenant or end_user.',
  })
}

const referenceFields = ({ connection_id, connector, owner }: GivenAuth): JsonObject => ({
  ...(connection_id !== undefined && { connection_id }),
  ...(connector !== undefined && { connector }),
  ...(owner !== undefined && { owner }),
})

/** Plans a connection for sign-ins at the server itself. One that the server already has is kept. */
const plannedSignIn = async (
  connections: ConnectionService,
  place: AuthPlace,
  given: GivenAuth,
): Promise<PlannedAuth> => {
  const { project, tenant, id, name, url, by, revision, before = null } = place
  const extra = (['connection_id', 'connector'] as const).find((field) => given[field] !== undefined)
  if (extra !== undefined) throw invalidField(`auth.${extra}`, `${extra} is not allowed with auth.type.`)
  const owner = given.owner ?? (tenant === null ? 'project' : 'tenant')
  const config = Object.fromEntries(clientFields.map((field) => [field, given[field]]))
  const isSame = clientFields.every((field) => given[field] === undefined)
  if (isSignIn(before) && isSame && !(await isRevoked(connections, project, before)))
    return { stored: { ...before, owner }, create: async () => {} }
  const connection = derivedId(connectionDefinition.idPrefix, timeOfId(id) ?? 0, `mcp ${id} ${revision}`)
  return {
    stored: { type: 'oauth', owner, connection_id: connection },
    create: () => connections.createFor({ project, id: connection, name, url, config, by }),
  }
}

const isRevoked = async (connections: ConnectionService, project: string, auth: JsonObject): Promise<boolean> => {
  const connection = { connection_id: String(auth.connection_id) }
  const access = await connections.access({ project, tenant: null, user: null, connection })
  return access.kind === 'refused' && ['connection_revoked', 'connection_not_found'].includes(access.code)
}

/** Whether a server's `auth` is a sign-in at the server itself. */
export const isSignIn = (auth: JsonObject | null): auth is JsonObject => auth?.type === 'oauth'

/** Revokes the connection of a sign-in that a change has replaced. */
export const withdrawn = async (
  connections: ConnectionService,
  { project, by }: Pick<AuthPlace, 'project' | 'by'>,
  { before, after }: { readonly before: JsonObject | null; readonly after: JsonObject | null },
): Promise<void> => {
  if (!isSignIn(before) || before.connection_id === after?.connection_id) return
  await connections.withdraw(project, String(before.connection_id), by)
}

/** Returns the link at which the owner of a server signs in; null when the server does not wait for a sign-in. */
export const signInLink = async (
  { connections }: { readonly connections: ConnectionService },
  server: Resident,
): Promise<string | null> => {
  const { auth, awaits } = serverContext(server)
  const caller = { project: server.owner.project, tenant: server.owner.tenant, user: null }
  const connection = ownReference(auth, caller)
  if (connection === null || awaits === null) return null
  const access = await connections.access({ ...caller, connection })
  return access.kind === 'required' ? access.required.authorize_url : null
}
