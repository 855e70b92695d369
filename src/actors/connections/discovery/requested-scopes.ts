import type { AuthChallenge } from '#actors/capability/connection-service.ts'
import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import type { JsonObject } from '#storage/index.ts'
import type { DiscoveredServer } from './discover-server.ts'

/** Scope with which servers grant refresh tokens. */
const offline = 'offline_access'

/**
 * Returns the scopes of a sign-in: those configured, those of the previous sign-in at the same issuer (with what a
 * service demanded since), and those of the newest refusal; else those that the resource lists. None are requested when
 * nothing names one.
 */
export const requestedScopes = (
  server: Pick<DiscoveredServer, 'issuer' | 'scopes' | 'offersOffline'>,
  known: {
    readonly context: Pick<ConnectionContext, 'scopes' | 'provided' | 'missing_scopes'>
    readonly config: JsonObject
    readonly challenge: AuthChallenge | null
  },
): readonly string[] => {
  const { context, config, challenge } = known
  const { issuer } = context.provided
  const isSame = issuer === undefined || issuer === server.issuer
  const demanded = [
    ...(Array.isArray(config.scopes) ? config.scopes.map(String) : []),
    ...(isSame ? context.scopes : context.missing_scopes),
    ...(challenge?.scopes ?? []),
  ]
  const scopes = [...new Set(demanded.length > 0 ? demanded : server.scopes)]
  return scopes.length > 0 && server.offersOffline && !scopes.includes(offline) ? [...scopes, offline] : scopes
}
