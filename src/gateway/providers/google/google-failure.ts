import { type AttemptFailed, type ErrorAnswer, statusFailure } from '#gateway/call/failure.ts'
import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'

/**
 * Maps Google's error responses to failures. Google puts into the body what others express by status and headers: an
 * invalid key is a 400, and the retry delay is an error detail. Errors of streamed requests are wrapped in a list.
 */
export function googleFailure({ status, body, retryAfter }: ErrorAnswer, now: number): AttemptFailed {
  const parsed = parseJson(body)
  const first = objectOf(Array.isArray(parsed) ? parsed[0] : parsed)
  const details = arrayOf(objectOf(first.error).details).filter(isObject)
  const wrongKey = details.some(({ reason }) => reason === 'API_KEY_INVALID')
  return statusFailure(
    { status: wrongKey ? 401 : status, body: JSON.stringify(first), retryAfter: retryAfter ?? delayIn(details) },
    now,
  )
}

/** Returns the seconds of `retryDelay: "34.07s"` in a `RetryInfo` detail. */
function delayIn(details: readonly WireObject[]): string | null {
  for (const { retryDelay } of details) {
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(textOf(retryDelay))?.[1]
    if (seconds !== undefined) return seconds
  }
  return null
}
