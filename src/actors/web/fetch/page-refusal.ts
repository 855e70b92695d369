import { RedirectFailed, SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { type ErrorCode, ServiceError } from '#specs/errors/errors.ts'
import type { UrlFault } from '#src/pages/page-url.ts'
import type { JsonObject } from '#storage/ports.ts'

/** Returns the error of a page: `details` is for callers, the cause is for logs. */
export const pageRefusal = (
  code: ErrorCode,
  details: JsonObject,
  more: { readonly message?: string; readonly cause?: unknown } = {},
): ServiceError => new ServiceError(code, { param: 'url', extra: details, ...more })

const faults: Readonly<Record<UrlFault, readonly [code: ErrorCode, message: string]>> = {
  malformed: ['invalid_url', 'The URL is malformed.'],
  protocol: ['invalid_url', 'Only http and https URLs are supported.'],
  credentials: ['unsafe_url', 'URLs with credentials are not supported.'],
  port: ['unsafe_url', 'The port of the URL belongs to another protocol.'],
}

/** Returns the error for a URL that is not a page's. */
export const faultRefusal = (fault: UrlFault, url: string): ServiceError => {
  const [code, message] = faults[fault]
  return pageRefusal(code, { url }, { message })
}

const nameCodes = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'ESERVFAIL', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME'])
const timeCodes = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'])

/** Converts the failure of a request for a page to an error. */
export const requestRefusal = (error: unknown, url: string): ServiceError => {
  if (error instanceof ServiceError) return error
  const cause = error instanceof RedirectFailed ? error.cause : error
  if (cause instanceof SsrfRefused) return pageRefusal('unsafe_url', { url }, { cause })
  const code = codeOf(cause)
  if (nameCodes.has(code)) return pageRefusal('dns_unavailable', { url }, { cause })
  if (timeCodes.has(code) || code === 'TimeoutError') return pageRefusal('fetch_timeout', { url }, { cause })
  return pageRefusal('fetch_failed', { url }, { message: 'The page cannot be reached.', cause })
}

const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  return error.name
}
