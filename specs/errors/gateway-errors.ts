import type { ErrorCode } from './errors.ts'

/** Errors of every operation that calls a model. */
export const modelCallErrors = [
  'bad_request',
  'model_not_found',
  'provider_not_configured',
  'provider_not_active',
  'request_loop',
  'context_length_exceeded',
  'content_policy_violation',
  'rate_limit_exceeded',
  'credit_balance_exhausted',
  'budget_exceeded',
  'price_unknown',
  'provider_rate_limited',
  'provider_timeout',
  'provider_unavailable',
  'provider_error',
  'provider_stream_broken',
] as const satisfies readonly ErrorCode[]
