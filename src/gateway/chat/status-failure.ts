import { type AttemptFailed, type ErrorAnswer, statusFailure } from '../call/failure.ts'
import type { Route } from '../call/routes.ts'
import { chatFormat } from '../providers/chat-formats.ts'

/** Maps an answer with an error status to a failure, by the format of the route. */
export const failureBy = (route: Route | null, answer: ErrorAnswer): AttemptFailed => {
  const format = route === null ? null : chatFormat(route.format)
  const now = Date.now()
  return format === null ? statusFailure(answer, now) : format.failure(answer, now)
}
