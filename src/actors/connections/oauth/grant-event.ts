import type { ConnectionEvent } from '#machines/connection/connection-data.ts'
import type { ConnectorType } from '#specs/data/connectors/connector-type.ts'
import type { JsonObject } from '#storage/index.ts'
import type { GrantSecrets } from '../connection-vault.ts'
import type { TokenAnswer } from './oauth-client.ts'

/** A token is refreshed this long before it expires, in ms, or at nine tenths of a short lifetime. */
const marginMs = 5 * 60 * 1000
const shortPart = 0.1
/** Minimum time between two automatic refreshes in ms, whatever lifetime the provider states. */
const minPauseMs = 5_000
/** Maximum lifetime of a token in ms; it also bounds implausible values from a provider. */
const longestLifeMs = 10 * 365 * 24 * 60 * 60 * 1000
/** Maximum number and length of granted scopes that are stored: the same as may be requested. */
const maxScopes = 100
const maxScope = 256
/** Maximum delay of a reminder in ms; a token that lives longer is refreshed then. */
const furthestMs = 30 * 24 * 60 * 60 * 1000

/** Event with which a grant is recorded in its connection's log. */
type GrantedEvent = Extract<ConnectionEvent, { readonly type: 'granted' }>

/** Input of a grant: the provider's response, the previous refresh token, and the time. */
export interface Granting {
  readonly answer: TokenAnswer
  /** Refresh token that stays in use when the provider returns no new one. */
  readonly before: string | null
  readonly generation: number
  readonly type: ConnectorType | undefined
  /** Issuer of a discovered server, at which the grant is refreshed; null or absent for a configured server. */
  readonly issuer?: string | null
  /** ms since the epoch. */
  readonly at: number
}

/** Returns the secrets of a grant, and its event, which contains no secrets. */
export const grantOf = ({ answer, before, generation, type, at, issuer = null }: Granting) => {
  const refresh_token = answer.refreshToken ?? before
  const lifeMs = answer.expiresInS === null ? null : Math.min(longestLifeMs, Math.max(0, answer.expiresInS) * 1000)
  const secrets: GrantSecrets = { access_token: answer.accessToken, refresh_token }
  const event: GrantedEvent = {
    type: 'granted',
    generation,
    is_refreshable: refresh_token !== null,
    expires_at_ms: lifeMs === null ? null : at + lifeMs,
    refresh_in_ms: lifeMs === null ? null : renewalMs(lifeMs, refresh_token !== null),
    granted_scopes: answer.scope === null ? null : scopesIn(answer.scope),
    provided: { ...providedOf(answer, type), ...(issuer !== null && { issuer }) },
    at,
  }
  return { secrets, event }
}

const scopesIn = (text: string): readonly string[] =>
  text
    .split(/[ ,]+/)
    .filter((scope) => scope !== '' && scope.length <= maxScope)
    .slice(0, maxScopes)

const renewalMs = (lifeMs: number, isRefreshable: boolean): number =>
  isRefreshable
    ? Math.min(furthestMs, Math.max(minPauseMs, Math.round(lifeMs - Math.min(marginMs, lifeMs * shortPart))))
    : lifeMs

/** Returns settings of the connector that the provider itself returns, such as the server address of the account. */
const providedOf = ({ answer }: TokenAnswer, type: ConnectorType | undefined): JsonObject =>
  Object.fromEntries(
    (type?.settings ?? []).flatMap((name) => {
      const value = answer[name]
      return typeof value === 'string' && value.length <= 512 ? [[name, value]] : []
    }),
  )
