import { randomBytes } from 'node:crypto'
import { isNotFound, orNotFound } from '#actors/call/not-found.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import type { ConnectionError } from '#machines/connection/connection-data.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { actorOf } from '#records/audit-note.ts'
import { timestampOf } from '#records/row-times.ts'
import { contextOf, storedState } from '#runtime/index.ts'
import type { Host, Resident } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { projectScope, type Scope, workScope } from '#storage/index.ts'
import type { ConnectionServers, SignInServer } from '../connection-servers.ts'
import { usable } from '../connection-use-cases.ts'
import type { ConnectionVault, SecretsAt } from '../connection-vault.ts'
import { residentView } from '../connection-view.ts'
import { clientDocument } from '../discovery/client-metadata.ts'
import { DiscoveryFailed } from '../discovery/discovery-failed.ts'
import type { SignInData } from '../kinds.ts'
import type { ConnectionAccesses } from '../use/connection-access.ts'
import { OAuthClient } from './oauth-client.ts'
import { isIssuedBy, serverMark } from './oauth-server.ts'
import { checkReturnUrl } from './return-url.ts'
import type { SignInLinks } from './sign-in-links.ts'
import { signInPage } from './sign-in-page.ts'
import { cookieName, type EndedSignIn, type OfferedSignIn, type SignIns, signInMs } from './sign-ins.ts'

export interface SignInParts {
  readonly host: Host
  readonly guard: Pick<SsrfGuard, 'request'>
  readonly vault: ConnectionVault
  readonly servers: ConnectionServers
  readonly signIns: SignIns
  readonly links: SignInLinks
  readonly accesses: ConnectionAccesses
  /** Returns the pages of a project to which sign-ins may return; none means any. */
  readonly returnUrls: (project: string) => Promise<readonly string[]>
}

type Served = 'authorize' | 'confirm' | 'reconnect' | 'start' | 'callback' | 'issuer_callback' | 'client_metadata'
type SignInUseCases = Pick<UseCases, `connections.${Served}`>
type CallbackCall = Pick<Parameters<UseCases['connections.callback']>[0], 'query' | 'cookies'>

/** Use-cases of OAuth sign-ins: the start by the API or a link, the provider's callback, and the confirmation. */
export const signInUseCases = (parts: SignInParts): SignInUseCases => ({
  'connections.authorize': async (call) => {
    const { scope, params, body } = call
    const { redirect_uri: return_to = null, confirm = false } = body
    if (return_to !== null) checkReturnUrl(return_to, await parts.returnUrls(scope.project))
    else if (confirm) throw new ServiceError('missing_field', { param: 'redirect_uri' })
    const connection = await findOAuth(parts, scope, params.tool_connection_id)
    const { scopes: wanted } = await signInServer(parts, connection)
    const scopes = body.scopes ?? wanted
    const offered = { return_to, scopes, by: actorOf(call), confirm }
    const { token, until } = await parts.signIns.offer({ id: connection.id, owner: connection.owner }, offered)
    return { authorize_url: parts.links.start(token), expires_at: timestampOf(until) }
  },
  'connections.confirm': (call) => confirmed(parts, call),
  'connections.reconnect': async ({ scope, params }) => {
    const connection = await findOAuth(parts, scope, params.tool_connection_id)
    await signInServer(parts, connection)
    const { url, until } = parts.links.of({ project: connection.owner.project, id: connection.id })
    return { authorize_url: url, expires_at: timestampOf(until) }
  },
  'connections.start': async (call) => {
    const { connection, how } = await opened(parts, call)
    const cookie = randomBytes(32).toString('base64url')
    const begun = await begin(parts, connection, { ...how, cookie })
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
  'connections.callback': (call) => returned(parts, call, parts.links.callbackUrl),
  'connections.issuer_callback': (call) => returned(parts, call, parts.links.callbackAt(call.params.issuer)),
  'connections.client_metadata': async () => orNotFound(clientDocument(parts.links)),
})

/** Ends the sign-in of a browser that returned from the provider. @param arrivedAt the redirect URI that was opened. */
const returned = async (parts: SignInParts, call: CallbackCall, arrivedAt: string) => {
  const ended = await parts.signIns.end(call.query.state ?? '', (name) => cookieOf(call.cookies ?? '', name))
  if (ended === null) throw new ServiceError('oauth_state_invalid', { param: 'state' })
  const { return_to, redirect_uri } = ended.data
  const { trouble, held } = redirect_uri === arrivedAt ? await finished(parts, ended, call) : failed(mixedUp)
  const page = signInPage({ trouble, returnTo: return_to, connectionId: ended.at.id, held })
  const gone = `${cookieName(call.query.state ?? '')}=; Path=${parts.links.cookiePath}; Max-Age=0; HttpOnly; SameSite=Lax`
  return { ...page, headers: [...page.headers, ['set-cookie', gone] as const] }
}

type StartCall = Parameters<UseCases['connections.start']>[0]

/**
 * Returns the sign-in that a link starts. A link of `authorize` works once, one of `reconnect` any number of times
 * until it expires.
 *
 * @throws {ServiceError} `oauth_state_invalid`; `tenant_suspended`, `tenant_deleting`
 */
const opened = async (parts: SignInParts, call: StartCall) => {
  const { link } = call.query
  const linked = parts.signIns.linked(link)
  if (linked !== null) {
    const connection = await findOAuth(parts, workIn(linked.project), linked.id)
    return { connection, how: { return_to: null, by: actorOf(call), confirm: false } }
  }
  const taken = await parts.signIns.taken(link)
  if (taken === null) throw new ServiceError('oauth_state_invalid', { param: 'link' })
  const { return_to, by, confirm = false, scopes } = taken.data
  const connection = await findOAuth(parts, workIn(taken.at.owner.project), taken.at.id)
  return { connection, how: { return_to, by, confirm, scopes } }
}

/** The scope of a browser without a credential: a sign-in begins or continues work of the tenant. */
const workIn = (project: string): Scope => workScope(projectScope(project))

const findOAuth = async ({ host }: Pick<SignInParts, 'host'>, scope: Scope, id: string): Promise<Resident> => {
  const connection = usable(await host.find(scope, connectionDefinition, id))
  if (contextAt(connection).auth === 'oauth2') return connection
  throw new ServiceError('invalid_transition', { message: 'The connection uses an API key, so there is no sign-in.' })
}

const contextAt = (connection: Resident) => contextOf(connectionDefinition, storedState(connection.state.snapshot))

/**
 * Returns the server of a new sign-in.
 *
 * @throws {ServiceError} `connector_not_configured`, `oauth_discovery_failed`
 */
const signInServer = async ({ servers }: Pick<SignInParts, 'servers'>, connection: Resident): Promise<SignInServer> => {
  const { id, owner } = connection
  try {
    const found = await servers.forSignIn({ id, owner, context: contextAt(connection) })
    if (found === null) throw new ServiceError('connector_not_configured')
    return found
  } catch (error) {
    if (!(error instanceof DiscoveryFailed)) throw error
    throw new ServiceError('oauth_discovery_failed', { message: `${error.message} (${error.code})`, cause: error })
  }
}

const begin = async (
  parts: SignInParts,
  connection: Resident,
  how: Omit<OfferedSignIn, 'scopes'> & { readonly scopes?: readonly string[]; readonly cookie: string },
) => {
  const { server, scopes: wanted, issuer } = await signInServer(parts, connection)
  const scopes = how.scopes ?? wanted
  const redirectUri = server.redirectUri ?? parts.links.callbackUrl
  const { state, verifier, until } = await parts.signIns.begin(
    { id: connection.id, owner: connection.owner },
    { ...how, scopes, redirect_uri: redirectUri, server: serverMark(server), issuer },
  )
  const client = new OAuthClient(server, parts.guard)
  return { url: await client.authorizationUrl({ state, verifier, redirectUri, scopes }), state, until }
}

interface Finished {
  /** Why the sign-in failed; null when the connection is active, or the caller has to confirm the sign-in. */
  readonly trouble: ConnectionError | null
  readonly held: string | null
}

const failed = (trouble: ConnectionError): Finished => ({ trouble, held: null })

const finished = async (parts: SignInParts, ended: EndedSignIn, call: CallbackCall): Promise<Finished> => {
  const { at, data, verifier } = ended
  const { host, servers } = parts
  const { code, iss, error, error_description } = call.query
  const connection = await host.find(workIn(at.owner.project), connectionDefinition, at.id).catch(refusalOf)
  if ('code' in connection) return failed(connection)
  const context = contextAt(connection)
  const issuer = data.issuer ?? undefined
  const server = await servers.of({ project: at.owner.project, id: at.id, context, issuer })
  if (server === null || serverMark(server) !== data.server) return failed(moved)
  if (!isIssuedBy(server, iss)) return failed(mixedUp)
  if (error !== undefined) return failed({ code: 'denied', message: refusalText(error, error_description) })
  if (code === undefined) return failed({ code: 'denied', message: 'The provider returned no authorization code.' })
  const grant = JSON.stringify({ code, verifier, redirect_uri: data.redirect_uri, issuer })
  if (data.confirm === true) return { trouble: null, held: await parts.signIns.hold(ended, grant) }
  return { trouble: await exchanged(parts, { connection, at, data, grant }), held: null }
}

/** Why a sign-in cannot end: its connection no longer exists, or its tenant is suspended. Other errors are thrown again. */
const refusalOf = (error: unknown): ConnectionError => {
  if (isNotFound(error)) return gone
  if (error instanceof ServiceError && ['tenant_suspended', 'tenant_deleting'].includes(error.code))
    return { code: error.code, message: error.message }
  throw error
}

interface Exchange {
  readonly connection: Resident
  readonly at: SecretsAt
  readonly data: SignInData
  /** JSON of the code and the parameters of its request (`CodeGrant`). */
  readonly grant: string
}

/** Makes the connection exchange a code. @returns the error when it is not active afterwards; null when it is. */
const exchanged = async ({ host, vault, accesses }: SignInParts, { connection, at, data, grant }: Exchange) => {
  const event = { type: 'authorized', code: vault.seal(at, 'code', grant), scopes: data.scopes, by: data.by }
  await host.deliver(at.id, { event, cause: `signed-in:${data.state_hash}` })
  const { held, error: trouble } = contextAt(await accesses.idle(connection))
  return held && trouble === null ? null : (trouble ?? moved)
}

type ConfirmCall = Parameters<UseCases['connections.confirm']>[0]

/** Confirms a sign-in. The code is only exchanged if the caller names the connection's owner as the signed-in user. */
const confirmed = async (parts: SignInParts, { scope, params, body }: ConfirmCall) => {
  const connection = await findOAuth(parts, scope, params.tool_connection_id)
  const { user } = connection.owner
  if (user !== null && body.external_user_id === undefined)
    throw new ServiceError('missing_field', { param: 'external_user_id' })
  const ended = await parts.signIns.confirmed(body.sign_in, connection.id)
  if (ended === null) throw new ServiceError('oauth_state_invalid', { param: 'sign_in' })
  if ((body.external_user_id ?? user) !== user)
    throw invalidField('external_user_id', 'The connection belongs to another user. The sign-in was cancelled.')
  const { at, data, verifier: grant } = ended
  const context = contextAt(connection)
  const issuer = data.issuer ?? undefined
  const server = await parts.servers.of({ project: at.owner.project, id: at.id, context, issuer })
  if (server === null || serverMark(server) !== data.server)
    throw new ServiceError('oauth_state_invalid', { message: moved.message })
  await exchanged(parts, { connection, at, data, grant })
  await parts.host.rows.shown()
  return residentView(await parts.host.find(scope, connectionDefinition, connection.id))
}

const gone = { code: 'connection_not_found', message: 'The connection no longer exists.' }
const moved = {
  code: 'server_changed',
  message: 'The connection was changed in the meantime. Start the sign-in again.',
}
const mixedUp = {
  code: 'wrong_issuer',
  message: 'The response came from another provider than the one at which the sign-in was started.',
}

const refusalText = (error: string, description: string | undefined): string =>
  `The provider returned an error: ${description ?? error}`.slice(0, 300)

/** Returns the value of a cookie in a Cookie header. */
const cookieOf = (header: string, name: string): string | undefined =>
  header
    .split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1)
