import { randomBytes } from 'node:crypto'
import type { UseCases } from '#actors/call/use-cases.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { actorOf } from '#records/audit-note.ts'
import { timestampOf } from '#records/row-times.ts'
import type { Host } from '#runtime/host.ts'
import type { Resident } from '#runtime/resident.ts'
import { contextOf } from '#runtime/schema.ts'
import { storedState } from '#runtime/step/actor-state.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope, type Scope } from '#specs/scope.ts'
import type { JsonObject } from '#storage/ports.ts'
import type { ConnectionServers } from '../connection-servers.ts'
import { usable } from '../connection-use-cases.ts'
import type { ConnectionVault } from '../connection-vault.ts'
import type { ConnectionAccesses } from '../use/connection-access.ts'
import { OAuthClient } from './oauth-client.ts'
import { isIssuedBy, type OAuthServer, serverMark } from './oauth-server.ts'
import type { SignInLinks } from './sign-in-links.ts'
import { signInPage } from './sign-in-page.ts'
import { cookieName, type EndedSignIn, type SignIns, signInMs } from './sign-ins.ts'

/** What signing in needs. */
export interface SignInParts {
  readonly host: Host
  readonly guard: Pick<SsrfGuard, 'request'>
  readonly vault: ConnectionVault
  readonly servers: ConnectionServers
  readonly signIns: SignIns
  readonly links: SignInLinks
  readonly accesses: ConnectionAccesses
}

type SignInUseCases = Pick<UseCases, `connections.${'authorize' | 'reconnect' | 'start' | 'callback'}`>
type CallbackCall = Parameters<UseCases['connections.callback']>[0]

/** Signing in at providers: beginning it, by the API or by a link, and coming back. */
export const signInUseCases = (parts: SignInParts): SignInUseCases => ({
  'connections.authorize': async (call) => {
    const { scope, params, body } = call
    if (body.redirect_uri !== undefined && !URL.canParse(body.redirect_uri))
      throw new ServiceError('invalid_field', { param: 'redirect_uri', message: 'redirect_uri is no URL.' })
    const connection = await findOAuth(parts, scope, params.tool_connection_id)
    const begun = await begin(parts, connection, {
      return_to: body.redirect_uri ?? null,
      cookie: null,
      by: actorOf(call),
      ...(body.scopes !== undefined && { scopes: body.scopes }),
    })
    return { authorize_url: begun.url, expires_at: timestampOf(begun.until) }
  },
  'connections.reconnect': async ({ scope, params }) => {
    const connection = await findOAuth(parts, scope, params.tool_connection_id)
    await serverOf(parts, connection)
    const { url, until } = parts.links.of({ project: connection.owner.project, id: connection.id })
    return { authorize_url: url, expires_at: timestampOf(until) }
  },
  'connections.start': async (call) => {
    const linked = parts.signIns.linked(call.query.link)
    if (linked === null) throw new ServiceError('oauth_state_invalid', { param: 'link' })
    const connection = await findOAuth(parts, projectScope(linked.project), linked.id)
    const cookie = randomBytes(32).toString('base64url')
    const begun = await begin(parts, connection, { return_to: null, cookie, by: actorOf(call) })
    const attributes = `Path=${parts.links.cookiePath}; Max-Age=${signInMs / 1000}; HttpOnly; SameSite=Lax`
    const secure = parts.links.isSecure ? '; Secure' : ''
    return {
      contentType: 'text/html; charset=utf-8',
      bytes: '',
      headers: [
        ['location', begun.url],
        ['set-cookie', `${cookieName(begun.state)}=${cookie}; ${attributes}${secure}`],
        ['cache-control', 'no-store'],
        ['referrer-policy', 'no-referrer'],
      ],
    }
  },
  'connections.callback': async (call) => {
    const ended = await parts.signIns.end(call.query.state ?? '', (name) => cookieOf(call.cookies ?? '', name))
    if (ended === null) throw new ServiceError('oauth_state_invalid', { param: 'state' })
    const trouble = await finished(parts, ended, call)
    const { return_to } = ended.data
    const page = signInPage({ trouble, returnTo: return_to, connectionId: ended.at.id })
    const gone = `${cookieName(call.query.state ?? '')}=; Path=${parts.links.cookiePath}; Max-Age=0; HttpOnly; SameSite=Lax`
    return { ...page, headers: [...page.headers, ['set-cookie', gone]] }
  },
})

const findOAuth = async ({ host }: Pick<SignInParts, 'host'>, scope: Scope, id: string): Promise<Resident> => {
  const connection = usable(await host.find(scope, connectionDefinition, id))
  if (contextAt(connection).auth === 'oauth2') return connection
  throw new ServiceError('invalid_transition', { message: 'The connection takes a key: nobody signs in.' })
}

const contextAt = (connection: Resident) => contextOf(connectionDefinition, storedState(connection.state.snapshot))

/** @throws {ServiceError} `connector_not_configured` */
const serverOf = async ({ servers }: Pick<SignInParts, 'servers'>, connection: Resident): Promise<OAuthServer> => {
  const place = { project: connection.owner.project, id: connection.id, context: contextAt(connection) }
  const server = await servers.of(place)
  if (server === null) throw new ServiceError('connector_not_configured')
  return server
}

const begin = async (
  parts: SignInParts,
  connection: Resident,
  how: {
    readonly return_to: string | null
    readonly cookie: string | null
    readonly by: JsonObject
    readonly scopes?: readonly string[]
  },
) => {
  const server = await serverOf(parts, connection)
  const own = contextAt(connection).scopes
  const scopes = how.scopes ?? (own.length > 0 ? own : server.scopes)
  const redirectUri = parts.links.callbackUrl
  const { state, verifier, until } = await parts.signIns.begin(
    { id: connection.id, owner: connection.owner },
    { ...how, scopes, redirect_uri: redirectUri, server: serverMark(server) },
  )
  const client = new OAuthClient(server, parts.guard)
  return { url: await client.authorizationUrl({ state, verifier, redirectUri, scopes }), state, until }
}

/** Why the sign-in came to nothing; null when the connection is active. */
const finished = async (parts: SignInParts, { at, data, verifier }: EndedSignIn, call: CallbackCall) => {
  const { host, servers, vault } = parts
  const { code, iss, error, error_description } = call.query
  const connection = await host.load(at.id)
  if (connection === null) return gone
  const context = contextAt(connection)
  const server = await servers.of({ project: at.owner.project, id: at.id, context })
  if (server === null || serverMark(server) !== data.server) return moved
  if (!isIssuedBy(server, iss)) return mixedUp
  if (error !== undefined) return { code: 'denied', message: said(error, error_description) }
  if (code === undefined) return { code: 'denied', message: 'The provider sent no code.' }
  const sealed = vault.seal(at, 'code', JSON.stringify({ code, verifier, redirect_uri: data.redirect_uri }))
  const event = { type: 'authorized', code: sealed, scopes: data.scopes, by: data.by }
  await host.deliver(at.id, { event, cause: `signed-in:${data.state_hash}` })
  const { held, error: trouble } = contextAt(await parts.accesses.idle(connection))
  return held && trouble === null ? null : (trouble ?? moved)
}

const gone = { code: 'connection_not_found', message: 'The connection is not there any more.' }
const moved = { code: 'server_changed', message: 'The connection was changed meanwhile. Start the sign-in again.' }
const mixedUp = { code: 'wrong_issuer', message: 'The response is of another provider than the sign-in was begun at.' }

const said = (error: string, description: string | undefined): string =>
  `The provider says: ${description ?? error}`.slice(0, 300)

/** The value of a cookie in a Cookie header. */
const cookieOf = (header: string, name: string): string | undefined =>
  header
    .split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1)
