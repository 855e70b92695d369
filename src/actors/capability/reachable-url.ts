import { type SsrfGuard, SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/**
 * Checks a URL as far as possible without a DNS lookup; the rest is checked whenever it is called.
 *
 * @throws {ServiceError} `invalid_field` when connections to the URL are not allowed.
 */
export const requireReachable = (guard: Pick<SsrfGuard, 'check'>, url: string, param = 'url'): void => {
  try {
    guard.check(url)
  } catch (error) {
    if (!(error instanceof SsrfRefused)) throw error
    const message = `The URL is refused: ${error.message}.`
    throw new ServiceError('invalid_field', { param, message, cause: error })
  }
}
