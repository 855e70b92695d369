import type { ErrorCode } from './errors.ts'

/** Errors of every web operation that reads a page while the caller waits. */
export const pageErrors = [
  'invalid_url',
  'unsafe_url',
  'robots_denied',
  'dns_unavailable',
  'fetch_timeout',
  'fetch_failed',
  'response_too_large',
  'unsupported_content_type',
] as const satisfies readonly ErrorCode[]
