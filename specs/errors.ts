/** The type field of the platform envelope, and the status family it goes with. */
export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'rate_limit_error'
  | 'billing_error'
  | 'provider_error'
  | 'api_error'

interface ErrorRow {
  readonly status: number
  readonly type: ErrorType
  readonly message: string
}

const table = {
  bad_request: { status: 400, type: 'invalid_request_error', message: 'The request is malformed.' },
  malformed_json: { status: 400, type: 'invalid_request_error', message: 'The body is not valid JSON.' },
  invalid_field: { status: 422, type: 'invalid_request_error', message: 'A field has a value that is not allowed.' },
  missing_field: { status: 422, type: 'invalid_request_error', message: 'A required field is missing.' },
  unknown_field: { status: 422, type: 'invalid_request_error', message: 'The body has a field that is not known.' },
  invalid_query: { status: 400, type: 'invalid_request_error', message: 'A query parameter is not valid.' },
  invalid_header: { status: 400, type: 'invalid_request_error', message: 'A request header is not valid.' },
  body_too_large: { status: 413, type: 'invalid_request_error', message: 'The body is larger than this route takes.' },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    message: 'This route takes application/json.',
  },
  not_found: { status: 404, type: 'invalid_request_error', message: 'There is no such resource.' },
  method_not_allowed: { status: 405, type: 'invalid_request_error', message: 'This path does not take this method.' },
  authentication_required: {
    status: 401,
    type: 'authentication_error',
    message: 'The request carries no valid credential.',
  },
  invalid_credentials: { status: 401, type: 'authentication_error', message: 'E-mail or password is wrong.' },
  secret_key_required: {
    status: 403,
    type: 'permission_error',
    message: 'This operation needs a secret project key.',
  },
  insufficient_scope: {
    status: 403,
    type: 'permission_error',
    message: 'The credential does not hold the scope that this operation needs.',
  },
  forbidden: { status: 403, type: 'permission_error', message: 'This credential may not do that.' },
  tenant_suspended: { status: 403, type: 'permission_error', message: 'The tenant is suspended.' },
  tenant_deleting: { status: 403, type: 'permission_error', message: 'The tenant is being deleted.' },
  csrf_refused: {
    status: 403,
    type: 'permission_error',
    message: 'A cookie request that changes something must come from this origin.',
  },
  already_exists: { status: 409, type: 'invalid_request_error', message: 'A resource with this key exists.' },
  version_conflict: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The resource was changed by somebody else at the same time.',
  },
  invalid_transition: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The resource is not in a state that allows this.',
  },
  agent_not_runnable: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The agent version or installation is not in a state that runs.',
  },
  version_not_published: {
    status: 409,
    type: 'invalid_request_error',
    message: 'Only a published version can be installed.',
  },
  agent_in_use: {
    status: 409,
    type: 'invalid_request_error',
    message: 'Active installations use this agent; disable them first.',
  },
  prerequisites_missing: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The manifest needs something that is not available.',
  },
  origin_not_allowed: {
    status: 403,
    type: 'permission_error',
    message: 'This key may not be used from this origin.',
  },
  idempotency_key_reused: {
    status: 409,
    type: 'invalid_request_error',
    message: 'This Idempotency-Key was used with another body.',
  },
  idempotency_in_progress: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The first request with this Idempotency-Key is still in progress.',
  },
  turn_in_progress: { status: 409, type: 'invalid_request_error', message: 'A turn of this session is running.' },
  approval_pending: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The session waits for an approval.',
  },
  no_turn_in_progress: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The session has no turn to cancel.',
  },
  session_expired: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The session expired after 7 days without activity.',
  },
  action_already_resolved: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The action is not pending.',
  },
  tool_result_required: {
    status: 422,
    type: 'invalid_request_error',
    message: 'A function call is approved with its output in tool_results.',
  },
  model_not_found: { status: 404, type: 'invalid_request_error', message: 'No provider offers this model.' },
  request_loop: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request came back here too often: a provider of its model leads to this server.',
  },
  context_length_exceeded: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The conversation is longer than the model takes.',
  },
  content_policy_violation: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The provider refused what the request says.',
  },
  unsupported_format: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The provider does not take images of this type.',
  },
  image_too_large: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The image is larger than the provider takes.',
  },
  provider_not_configured: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The provider of this model has no key.',
  },
  byok_required: {
    status: 402,
    type: 'billing_error',
    message: 'This needs a provider key of your own, and there is none that can serve it.',
  },
  credit_balance_exhausted: {
    status: 403,
    type: 'permission_error',
    message: 'The organisation has no credits left.',
  },
  budget_exceeded: {
    status: 402,
    type: 'billing_error',
    message: 'The call could cost more than the budget has left.',
  },
  price_unknown: {
    status: 402,
    type: 'billing_error',
    message: 'A budget stands, and nobody knows what this model costs.',
  },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error', message: 'Too many requests; slow down.' },
  provider_rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    message: 'The provider refused for its rate limit.',
  },
  provider_timeout: { status: 504, type: 'provider_error', message: 'The provider did not answer in time.' },
  provider_unavailable: { status: 503, type: 'provider_error', message: 'The provider cannot be reached.' },
  provider_error: { status: 502, type: 'provider_error', message: 'The provider answered with an error.' },
  provider_refused: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The provider refused what it was asked.',
  },
  provider_stream_broken: {
    status: 502,
    type: 'provider_error',
    message: 'The provider broke off in the middle of its answer.',
  },
  interrupted: { status: 503, type: 'api_error', message: 'The server stopped in the middle of the answer.' },
  cancelled: { status: 409, type: 'invalid_request_error', message: 'The work was cancelled.' },
  too_many_steps: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The turn needed more model calls than allowed.',
  },
  token_limit_exceeded: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The run used more tokens than its agent allows.',
  },
  cost_limit_exceeded: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The run cost more than its agent allows.',
  },
  time_limit_exceeded: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The run took longer than its agent allows.',
  },
  subagent_not_allowed: {
    status: 403,
    type: 'permission_error',
    message: 'The agent may not delegate to this one.',
  },
  delegation_too_deep: {
    status: 409,
    type: 'invalid_request_error',
    message: 'Runs delegate at most five levels deep.',
  },
  too_many_children: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The run has as many open delegations as it may have.',
  },
  store_unavailable: { status: 503, type: 'api_error', message: 'The service is not able to store anything just now.' },
  shutting_down: { status: 503, type: 'api_error', message: 'The server is shutting down; try again.' },
  actor_parked: {
    status: 503,
    type: 'api_error',
    message: 'The resource is parked for an operator.',
  },
  internal_error: { status: 500, type: 'api_error', message: 'Something went wrong on our side.' },
} as const satisfies Record<string, ErrorRow>

/** A code as it stands on the wire. */
export type ErrorCode = keyof typeof table

/** Every error that the interface can answer, one line a code: status, envelope, OpenAPI and errors.md follow from it. */
export const errors: Readonly<Record<ErrorCode, ErrorRow>> = table

/** What an error may say beside its code. Never a stack, a driver's text or another tenant's existence. */
export interface ErrorDetails {
  /** The field, query parameter or header that is wrong. */
  readonly param?: string
  /** Replaces the table's message. */
  readonly message?: string
  /** Seconds for `Retry-After`. */
  readonly retryAfterS?: number
  /** Further headers of the answer, such as what is left of a limit. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  /** Further fields of envelopes that carry some (web `details`, memory `used` and `limit`). */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** A refusal that is answered to the caller in its route family's envelope. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  readonly details: ErrorDetails
  /** @param details `cause` is for logs: `details` does not carry it, so no envelope and no other node ever sees it. */
  constructor(code: ErrorCode, { cause, ...details }: ErrorDetails & { readonly cause?: unknown } = {}) {
    super(details.message ?? errors[code].message, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
  }
}
