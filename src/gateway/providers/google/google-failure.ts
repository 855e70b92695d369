import { type AttemptFailed, type ErrorAnswer, statusFailure } from '#gateway/call/failure.ts'
import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'

/**
 * Google says in the body what others say in the status and in headers: a wrong key is a 400, and how long to wait is
 * a detail. Streams are refused with the error in a list.
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

/** `retryDelay: "34.07s"` of a `RetryInfo`, in seconds. */
function delayIn(details: readonly WireObject[]): string | null {
  for (const { retryDelay } of details) {
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(textOf(retryDelay))?.[1]
    if (seconds !== undefined) return seconds
  }
  return null
}
