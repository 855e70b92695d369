/** Requests and tokens per minute that the key of a provider allows; null: unlimited. */
export interface KeyLimits {
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
}

/** The limits as stored in rows; the fields are absent in older rows. */
export type StoredKeyLimits = {
  readonly requests_per_minute?: number | null
  readonly tokens_per_minute?: number | null
}

/** The limits in a row of a connection or a custom provider; undefined for none. */
export const keyLimitsOf = ({
  requests_per_minute: requestsPerMinute = null,
  tokens_per_minute: tokensPerMinute = null,
}: StoredKeyLimits): KeyLimits | undefined =>
  requestsPerMinute === null && tokensPerMinute === null ? undefined : { requestsPerMinute, tokensPerMinute }
