import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import {
  type Clock,
  contextOf,
  type EffectContext,
  type EffectOutcome,
  type IdempotentEffect,
  isEvent,
  isObject,
} from '#runtime/index.ts'
import { persistently } from '#runtime/internal.ts'
import { connectorOf, isDiscovered } from '#specs/data/connectors/connectors.ts'
import type { ConnectionServers } from '../connection-servers.ts'
import type { ConnectionVault, SecretsAt } from '../connection-vault.ts'
import type { Discoveries } from '../discovery/discoveries.ts'
import { grantOf } from './grant-event.ts'
import { type CodeGrant, OAuthClient, type TokenAnswer, TokenRefused } from './oauth-client.ts'
import type { OAuthServer } from './oauth-server.ts'

export interface GrantParts {
  readonly vault: ConnectionVault
  readonly servers: Pick<ConnectionServers, 'of'>
  readonly discoveries: Pick<Discoveries, 'forget' | 'remove'>
  readonly guard: Pick<SsrfGuard, 'request'>
  readonly clock: Clock
  /** ms since the epoch. */
  readonly now: () => number
  /** In [0, 1). */
  readonly random: () => number
}

const notConfigured = new TokenRefused('connector_not_configured', 'The project has no client at the provider.', {
  isFinal: true,
})

const atOf = ({ actor, owner }: EffectContext): SecretsAt => ({ id: actor, owner })

/**
 * Exchanges the authorization code of a sign-in. After a crash before the grant was stored, the exchange runs again; if
 * the code has been used by then, the owner has to sign in again.
 */
export const exchangeCode = (parts: GrantParts): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, context): Promise<EffectOutcome> => {
    const connection = contextOf(connectionDefinition, context)
    try {
      const code = codeOf(parts.vault.unseal(atOf(context), 'code', connection.code ?? ''))
      if (code === null) throw new TokenRefused('sign_in_lost', 'The sign-in is lost: start it again.')
      const { issuer } = code
      return await keepNext(parts, { connection, context, request: (client) => client.exchange(code), issuer })
    } catch (error) {
      return { event: { type: 'exchange_failed', error: wireError(error) } }
    }
  },
})

/**
 * Refreshes the access token. Before the refresh token is sent, that is recorded beside it; the new tokens and the event
 * that reports them are stored in one write, before the event is committed. After a crash in between, the old token is
 * sent once more, which providers with a grace period answer again. Without one the grant is lost, and its error says so
 * (specs/decisions/0166-connections.md).
 */
export const refreshToken = (parts: GrantParts): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, context): Promise<EffectOutcome> => {
    const connection = contextOf(connectionDefinition, context)
    try {
      const { grant } = await parts.vault.open({ project: context.owner.project, id: context.actor })
      const token = grant?.refresh_token ?? null
      if (token === null) throw new TokenRefused('grant_lost', 'The refresh token is lost.', { ended: true })
      const request = (client: OAuthClient) => refreshed(parts, { context, connection, client, token })
      return await keepNext(parts, { connection, context, request, before: token })
    } catch (error) {
      const { ended, isFinal } = refusalOf(error)
      const jitter = parts.random()
      return { event: { type: 'refresh_failed', error: wireError(error), ended, is_final: isFinal, jitter } }
    }
  },
})

interface Refreshing {
  readonly context: EffectContext
  readonly connection: ConnectionContext
  readonly client: OAuthClient
  readonly token: string
}

/** Sends the refresh token. @throws {TokenRefused} `refresh_interrupted` when the answer to an earlier one was lost */
const refreshed = async (
  { vault }: GrantParts,
  { context, connection: { generation }, client, token }: Refreshing,
): Promise<TokenAnswer> => {
  const at = atOf(context)
  const { refreshing } = await vault.open({ project: at.owner.project, id: at.id })
  const wasInterrupted = refreshing === generation
  if (!wasInterrupted) await vault.putRefreshing(at, generation)
  try {
    return await client.refresh(token)
  } catch (error) {
    if (!(error instanceof TokenRefused) || error.code === 'provider_unavailable') throw error
    // the provider has answered, so nothing is uncertain any more
    await vault.putRefreshing(at, null)
    throw wasInterrupted && error.ended ? interrupted(error) : error
  }
}

const interrupted = (cause: TokenRefused): TokenRefused =>
  new TokenRefused(
    'refresh_interrupted',
    'An earlier refresh was interrupted before its tokens were stored, and the provider no longer accepts the previous refresh token: the owner has to sign in again.',
    { ended: true, cause },
  )

interface Keeping {
  readonly connection: ConnectionContext
  readonly context: EffectContext
  readonly request: (client: OAuthClient) => Promise<TokenAnswer>
  readonly before?: string | null
  /** Issuer of the code of a discovered server; absent: that of the current grant. */
  readonly issuer?: string | undefined
}

/**
 * Requests a grant and stores it as the next generation. If this effect already stored one before a crash, its event is
 * returned without another request.
 */
const keepNext = async (
  parts: GrantParts,
  { connection, context, request, before = null, issuer }: Keeping,
): Promise<EffectOutcome> => {
  const { vault, servers, guard, clock, now } = parts
  const at = atOf(context)
  const known = await vault.open({ project: at.owner.project, id: at.id })
  const generation = connection.generation + 1
  const kept = known.granted
  if (kept !== null && kept.by === context.idempotencyKey && isEvent(kept.event)) return { event: kept.event }
  const server = await servers.of({ project: at.owner.project, id: at.id, context: connection, issuer })
  if (server === null) throw notConfigured
  const answer = await request(new OAuthClient(server, guard, context.signal)).catch((error) =>
    refusedClient(parts, { at, connection, server }, error),
  )
  const type = connectorOf(connection.connector)
  const made = grantOf({ answer, before, generation, type, at: now(), issuer: discoveredIssuer(connection, server) })
  const granted = { by: context.idempotencyKey, event: made.event }
  // a code and most refresh tokens are accepted once
  await persistently({ clock, signal: context.signal }, () => vault.putGrant(at, made.secrets, { generation, granted }))
  return { event: made.event }
}

/** The issuer that a later refresh of the grant is sent to; null for a configured server. */
const discoveredIssuer = ({ connector }: ConnectionContext, { issuer }: OAuthServer): string | null =>
  isDiscovered(connector) ? issuer : null

/** Forgets a registered client that its server no longer accepts, so that the next sign-in registers another. */
const refusedClient = async (
  { discoveries }: GrantParts,
  refused: { readonly at: SecretsAt; readonly connection: ConnectionContext; readonly server: OAuthServer },
  error: unknown,
): Promise<never> => {
  const { at, connection, server } = refused
  const isUnknown = error instanceof TokenRefused && error.code === 'invalid_client'
  if (isUnknown && isDiscovered(connection.connector)) {
    const { project } = at.owner
    const owner = connection.pattern === null ? at.owner : { project, tenant: null, user: null }
    await discoveries.forget({ id: connection.pattern ?? at.id, owner }, server.clientId)
  }
  throw error
}

/** Revokes the tokens at the provider, if it can be reached, and removes all secrets. */
export const revokeGrant = (parts: GrantParts): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, context) => {
    await revokeAtProvider(parts, context)
    await parts.vault.remove(atOf(context))
    await parts.discoveries.remove(atOf(context))
    return { event: { type: 'grant_revoked' } }
  },
})

/** Revokes the tokens at a reachable provider, without an event, for the deletion of a connection with its log. */
export const revokeAtProvider = async (
  { vault, servers, guard }: GrantParts,
  context: EffectContext,
): Promise<void> => {
  const connection = contextOf(connectionDefinition, context)
  const { project } = context.owner
  const { grant } = await vault.open({ project, id: context.actor })
  if (grant === null || connection.auth !== 'oauth2') return
  const server = await servers.of({ project, id: context.actor, context: connection })
  if (server === null) return
  const client = new OAuthClient(server, guard, context.signal)
  if (grant.refresh_token !== null) await client.revoke(grant.refresh_token)
  await client.revoke(grant.access_token)
}

const codeOf = (text: string | null): CodeGrant | null => {
  const value: unknown = text === null ? null : JSON.parse(text)
  if (!isObject(value)) return null
  const { code, verifier, redirect_uri, issuer } = value
  if (typeof code !== 'string' || typeof verifier !== 'string' || typeof redirect_uri !== 'string') return null
  return { code, verifier, redirect_uri, ...(typeof issuer === 'string' && { issuer }) }
}

/** Returns the refusal. Internal errors are rethrown, so that the runtime retries the effect. */
const refusalOf = (error: unknown): TokenRefused => {
  if (error instanceof TokenRefused) return error
  throw error
}

const wireError = (error: unknown) => {
  const { code, message } = refusalOf(error)
  return { code, message }
}
