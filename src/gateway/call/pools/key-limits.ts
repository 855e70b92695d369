import { ServiceError } from '#specs/errors/errors.ts'

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

/** The refusal of a call for which no key is left. @param waitS seconds until the first one is free; infinite: never. */
export const keysUsedUp = (waitS: number): ServiceError => {
  // a caller that waited, as runs and batches do, would wait for ever
  if (waitS === Number.POSITIVE_INFINITY)
    return new ServiceError('bad_request', {
      message: 'The call needs more requests to the provider than any key of the model permits in a minute.',
    })
  const message = 'Every key of the model has used up its requests or tokens of this minute. Try again later.'
  return new ServiceError('rate_limit_exceeded', { message, retryAfterS: waitS })
}
