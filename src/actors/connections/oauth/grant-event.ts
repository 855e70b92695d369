import type { ConnectionEvent } from '#machines/connection/connection-data.ts'
import type { ConnectorType } from '#specs/data/connectors/connector-type.ts'
import type { JsonObject } from '#storage/ports.ts'
import type { GrantSecrets } from '../connection-vault.ts'
import type { TokenAnswer } from './oauth-client.ts'

/** A token is refreshed so long before its end, or after nine tenths of its life where that is short, in ms. */
const marginMs = 5 * 60 * 1000
const shortPart = 0.1
/** No token is refreshed by itself sooner than so long after the last, in ms, whatever the provider says of its life. */
const leastPauseMs = 5_000
/** A life is no longer than this, in ms: what a provider says of it has to be a time. */
const longestLifeMs = 10 * 365 * 24 * 60 * 60 * 1000
/** Scopes that are kept, as many and as long as may be requested. */
const maxScopes = 100
const maxScope = 256
/** Reminders are no further away than this, in ms; a token that lives longer is refreshed then. */
const furthestMs = 30 * 24 * 60 * 60 * 1000

/** What a grant says to its connection's log. */
export type GrantedEvent = Extract<ConnectionEvent, { readonly type: 'granted' }>

/** What a grant is made of: what the provider answered, what there was before, and when. */
export interface Granting {
  readonly answer: TokenAnswer
  /** The refresh token that stays where the provider gives no new one. */
  readonly before: string | null
  readonly generation: number
  readonly type: ConnectorType | undefined
  /** ms since the epoch. */
  readonly at: number
}

/** A grant's secrets, and its event, which has none. */
export const grantOf = ({ answer, before, generation, type, at }: Granting) => {
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
    provided: providedOf(answer, type),
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
    ? Math.min(furthestMs, Math.max(leastPauseMs, Math.round(lifeMs - Math.min(marginMs, lifeMs * shortPart))))
    : lifeMs

/** Settings of the connector that its provider says itself, such as the address of the account's server. */
const providedOf = ({ answer }: TokenAnswer, type: ConnectorType | undefined): JsonObject =>
  Object.fromEntries(
    (type?.settings ?? []).flatMap((name) => {
      const value = answer[name]
      return typeof value === 'string' && value.length <= 512 ? [[name, value]] : []
    }),
  )
