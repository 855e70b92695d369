import { RedirectFailed, SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { type ErrorCode, ServiceError } from '#specs/errors/errors.ts'
import type { UrlFault } from '#src/pages/page-url.ts'
import type { JsonObject } from '#storage/index.ts'

/** Returns the error of a page: `details` is for callers, the cause is for logs. */
export const pageRefusal = (
  code: ErrorCode,
  details: JsonObject,
  more: { readonly message?: string; readonly cause?: unknown } = {},
): ServiceError => new ServiceError(code, { param: 'url', extra: details, ...more })

/** The robots.txt of a site cannot be read at the moment, so that nothing of it may be fetched. */
export class RobotsUnreachable extends ServiceError {
  /** Time in ms after which the file is requested again. */
  readonly retryMs: number

  constructor(url: string, retryMs: number) {
    const message = 'The robots.txt of the site could not be read because the site failed. Try again later.'
    super('robots_denied', { param: 'url', extra: { url, reason: 'robots_unreachable' }, message })
    this.retryMs = retryMs
  }
}

/** A site answered 429 or 503: the request should be repeated later. */
export class SiteBusy extends ServiceError {
  readonly statusCode: number
  /** URL of the page after redirects. */
  readonly finalUrl: string
  /** The time in ms that the site wants to pass; null when it names none. */
  readonly requestedMs: number | null

  constructor(page: { readonly finalUrl: string; readonly statusCode: number; readonly requestedMs: number | null }) {
    const { finalUrl, statusCode, requestedMs } = page
    const message = `The page responded with status ${statusCode}.`
    super('fetch_failed', { param: 'url', extra: { url: finalUrl, statusCode }, message })
    this.finalUrl = finalUrl
    this.statusCode = statusCode
    this.requestedMs = requestedMs
  }
}

/** A site answered that it does not have a page, or has it no longer: 404 or 410. */
export class PageGone extends ServiceError {
  /** Whether it will not come back. */
  readonly isForGood: boolean
  /** URL of the page after redirects. */
  readonly finalUrl: string

  constructor({ finalUrl, statusCode }: { readonly finalUrl: string; readonly statusCode: number }) {
    const message = `The page responded with status ${statusCode}.`
    super('fetch_failed', { param: 'url', extra: { url: finalUrl, statusCode }, message })
    this.isForGood = statusCode === 410
    this.finalUrl = finalUrl
  }
}

/** A page is not requested because its turn comes too late, or because its host has requested a pause of `ms`. */
export class PagePostponed extends Error {
  override readonly name = 'PagePostponed'
  /** Null: the turn comes too late. */
  readonly ms: number | null

  constructor(ms: number | null) {
    super('the turn of the page has not come')
    this.ms = ms
  }
}

const faults: Readonly<Record<UrlFault, readonly [code: ErrorCode, message: string]>> = {
  malformed: ['invalid_url', 'The URL is malformed.'],
  protocol: ['invalid_url', 'Only http and https URLs are supported.'],
  credentials: ['unsafe_url', 'URLs with credentials are not supported.'],
  port: ['unsafe_url', 'The port of the URL belongs to another protocol.'],
}

/** Returns the error for a URL that is not a page's. */
export const faultRefusal = (fault: UrlFault, url: string, param = 'url'): ServiceError => {
  const [code, message] = faults[fault]
  return new ServiceError(code, { param, extra: { url }, message })
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
