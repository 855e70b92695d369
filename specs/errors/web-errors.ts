import type { ErrorCode } from './errors.ts'

/** Errors of every web operation that reads a page while the caller waits. */
export const pageErrors = [
  'browser_unavailable',
  'browser_queue_full',
  'invalid_url',
  'unsafe_url',
  'robots_denied',
  'dns_unavailable',
  'fetch_timeout',
  'fetch_failed',
  'response_too_large',
  'unsupported_content_type',
] as const satisfies readonly ErrorCode[]
