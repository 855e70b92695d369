import { type AttemptFailed, type ErrorAnswer, statusFailure } from '../call/failure.ts'
import type { Route } from '../call/routes.ts'
import { providerFormats } from '../providers/provider-formats.ts'

/** Maps an answer with an error status to a failure, by the format of the route. */
export const failureBy = (route: Route | null, answer: ErrorAnswer): AttemptFailed => {
  const format = route === null ? null : providerFormats[route.format].chat
  return (format?.failure ?? statusFailure)(answer, Date.now())
}
