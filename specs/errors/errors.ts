import { bodyErrors } from './body-errors.ts'
import { connectionErrors } from './connection-errors.ts'
import { idempotencyErrors } from './idempotency-errors.ts'
import { mcpErrors } from './mcp-errors.ts'
import { withNamedPart } from './named-part.ts'
import { pageErrors } from './page-errors.ts'

/** Type of an error in the platform envelope, and the family of statuses that it belongs to. */
type ErrorType =
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
  invalid_field: { status: 422, type: 'invalid_request_error', message: 'The value of a field is invalid.' },
  missing_field: { status: 422, type: 'invalid_request_error', message: 'A required field is missing.' },
  unknown_field: { status: 422, type: 'invalid_request_error', message: 'The body contains an unknown field.' },
  invalid_query: { status: 400, type: 'invalid_request_error', message: 'A query parameter is invalid.' },
  invalid_header: { status: 400, type: 'invalid_request_error', message: 'A request header is invalid.' },
  ...bodyErrors,
  not_found: { status: 404, type: 'invalid_request_error', message: 'The resource does not exist.' },
  method_not_allowed: { status: 405, type: 'invalid_request_error', message: 'The path does not support this method.' },
  authentication_required: {
    status: 401,
    type: 'authentication_error',
    message: 'The request has no credential. Send a key in the header Authorization: Bearer <key>.',
  },
  invalid_credentials: {
    status: 401,
    type: 'authentication_error',
    message: 'The e-mail address or the password is wrong.',
  },
  second_factor_required: {
    status: 401,
    type: 'authentication_error',
    message: 'The member has a second factor. Send its code too.',
  },
  oidc_sign_in_required: {
    status: 403,
    type: 'permission_error',
    message: 'Members of the organization sign in at its provider.',
  },
  oidc_provider_unavailable: {
    status: 502,
    type: 'provider_error',
    message: 'The sign-in provider cannot be reached, or its metadata is invalid.',
  },
  second_factor_enrolment_required: {
    status: 403,
    type: 'permission_error',
    message: 'The organization requires a second factor. Set one up first.',
  },
  secret_key_required: {
    status: 403,
    type: 'permission_error',
    message: 'This operation requires a secret key.',
  },
  insufficient_scope: {
    status: 403,
    type: 'permission_error',
    message: 'The credential lacks a permission that the operation requires.',
  },
  forbidden: { status: 403, type: 'permission_error', message: 'The credential does not allow this operation.' },
  tenant_suspended: { status: 403, type: 'permission_error', message: 'The tenant is suspended.' },
  tenant_deleting: { status: 403, type: 'permission_error', message: 'The tenant is being deleted.' },
  csrf_refused: {
    status: 403,
    type: 'permission_error',
    message: 'A request with a session cookie must come from the origin of the dashboard.',
  },
  already_exists: {
    status: 409,
    type: 'invalid_request_error',
    message: 'A resource with this key already exists. Change that one, or use another key.',
  },
  version_conflict: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The resource was changed by another request at the same time. Read it and try again.',
  },
  invalid_transition: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The state of the resource does not allow this operation. Its status says which are possible.',
  },
  agent_not_runnable: {
    status: 409,
    type: 'invalid_request_error',
    message:
      'The agent version or installation cannot run in its current state. Use a published version, or enable it.',
  },
  version_not_published: {
    status: 409,
    type: 'invalid_request_error',
    message: 'Only a published version can be installed. Publish it first.',
  },
  agent_in_use: {
    status: 409,
    type: 'invalid_request_error',
    message: 'Active installations use this agent. Disable them first.',
  },
  prerequisites_missing: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The version has prerequisites that are not available.',
  },
  origin_not_allowed: {
    status: 403,
    type: 'permission_error',
    message: 'The key does not allow this origin.',
  },
  scan_blocked: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The scan of the skill found a blocker. Fix it, or accept it with override.',
  },
  ...pageErrors,
  ...connectionErrors,
  ...mcpErrors,
  ...idempotencyErrors,
  turn_in_progress: {
    status: 409,
    type: 'invalid_request_error',
    message: 'A turn of this session is in progress. Wait until it ends, or cancel it.',
  },
  approval_pending: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The session is waiting for an approval. Approve or reject the pending action first.',
  },
  no_turn_in_progress: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The session has no turn to cancel.',
  },
  session_expired: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The session expired after 7 days without a turn. Create another one.',
  },
  action_already_resolved: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The action is not pending. Its status says how it was resolved.',
  },
  tool_result_required: {
    status: 422,
    type: 'invalid_request_error',
    message: 'Approval of a function call requires its output in tool_results.',
  },
  model_not_found: {
    status: 404,
    type: 'invalid_request_error',
    message: 'The model does not exist. GET /v1/models lists the models of this server.',
  },
  request_loop: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request was routed back to this server too often: a provider of its model points to this server.',
  },
  context_length_exceeded: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The conversation exceeds the context window of the model.',
  },
  content_policy_violation: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The provider refused the content of the request.',
  },
  unsupported_format: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The provider does not accept images of this type.',
  },
  knowledge_limit_reached: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The knowledge base has reached its limit of these resources.',
  },
  webhook_limit_reached: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The project has reached its limit of webhooks. Delete one first.',
  },
  image_too_large: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The image is larger than the provider accepts.',
  },
  provider_not_configured: {
    status: 400,
    type: 'invalid_request_error',
    message:
      'No key is configured for the provider of this model. Set its key on the server, or add your own key with POST /v1/provider-connections.',
  },
  provider_not_active: {
    status: 502,
    type: 'provider_error',
    message: 'The named provider of the project is inactive, deleted, or has no usable key.',
  },
  byok_required: {
    status: 402,
    type: 'billing_error',
    message: 'The request requires your own provider key, and no connection can serve it.',
  },
  credit_balance_exhausted: {
    status: 403,
    type: 'permission_error',
    message: 'The organisation has no credits left.',
  },
  budget_exceeded: {
    status: 402,
    type: 'billing_error',
    message: 'The call could cost more than what is left of the budget.',
  },
  price_unknown: {
    status: 402,
    type: 'billing_error',
    message:
      'The price of the model is unknown, so the budget cannot be enforced. Set a price for the model, or use another one.',
  },
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    message: 'Too many requests. Try again after the time in Retry-After.',
  },
  project_deleting: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The project is being deleted. Use another one.',
  },
  last_project: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The last project of an organisation cannot be deleted. Create another one first.',
  },
  too_many_streams: {
    status: 429,
    type: 'rate_limit_error',
    message: 'This browser has reached the limit of 16 open streams. Close one before opening another.',
  },
  memory_quota_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    message: 'The project has reached its quota of stored memories. Memories can still be read.',
  },
  memory_ops_quota_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    message: 'The quota of memory operations is used up.',
  },
  memory_refused: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The content was not stored because it contains a secret or instructions to a model.',
  },
  provider_rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    message: 'The rate limit of the provider is exceeded.',
  },
  provider_timeout: { status: 504, type: 'provider_error', message: 'The provider did not answer in time.' },
  provider_unavailable: { status: 503, type: 'provider_error', message: 'The provider cannot be reached.' },
  provider_error: { status: 502, type: 'provider_error', message: 'The provider returned an error.' },
  provider_refused: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The provider refused the request.',
  },
  provider_stream_broken: {
    status: 502,
    type: 'provider_error',
    message: 'The provider ended its stream early.',
  },
  answer_too_large: {
    status: 502,
    type: 'provider_error',
    message: 'The answer of the model is too large. At most 128 tool calls and 4 MB are accepted.',
  },
  interrupted: { status: 503, type: 'api_error', message: 'The server stopped while it was generating the answer.' },
  cancelled: { status: 409, type: 'invalid_request_error', message: 'The request was cancelled.' },
  too_many_steps: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The turn reached its limit of model calls.',
  },
  token_limit_exceeded: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The run reached its token limit.',
  },
  cost_limit_exceeded: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The run reached its cost limit.',
  },
  time_limit_exceeded: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The run reached its time limit.',
  },
  subagent_not_allowed: {
    status: 403,
    type: 'permission_error',
    message: 'The agent does not allow delegation to this agent.',
  },
  delegation_too_deep: {
    status: 409,
    type: 'invalid_request_error',
    message: 'Delegation is limited to five levels. The agent has to do the rest itself.',
  },
  too_many_children: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The run has reached its limit of open delegations. Wait until one of them ends.',
  },
  browser_unavailable: { status: 503, type: 'api_error', message: 'No browser is available on this server.' },
  browser_queue_full: {
    status: 429,
    type: 'rate_limit_error',
    message: 'The project has reached its limit of open browser jobs. Try again when one has ended.',
  },
  redaction_unavailable: {
    status: 503,
    type: 'api_error',
    message: 'The request cannot be checked for personal data at the moment. Try again.',
  },
  store_unavailable: { status: 503, type: 'api_error', message: 'The store is not available. Try again.' },
  overloaded: { status: 503, type: 'api_error', message: 'The server is overloaded. Try again later.' },
  shutting_down: { status: 503, type: 'api_error', message: 'The server is shutting down. Try again.' },
  actor_parked: {
    status: 503,
    type: 'api_error',
    message: 'The resource is parked after a failure and requires an operator.',
  },
  internal_error: { status: 500, type: 'api_error', message: 'An unexpected error occurred on the server.' },
} as const satisfies Record<string, ErrorRow>

/** Code of an error in responses. */
export type ErrorCode = keyof typeof table

/** Whether a text is the code of an error. */
export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(table, code)

/** All errors of the API by code. Statuses, envelopes, OpenAPI and errors.md are derived from this table. */
export const errors: Readonly<Record<ErrorCode, ErrorRow>> = table

/** Details of an error: never a stack trace, the message of a driver, or the existence of another tenant. */
export interface ErrorDetails {
  /** Name of the invalid field, query parameter or header. */
  readonly param?: string
  /** Replaces the message of the table. */
  readonly message?: string
  /** Seconds for `Retry-After`. */
  readonly retryAfterS?: number
  /** Further headers of the response, such as the remainder of a limit. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  /** Further fields in some envelopes (`details` of web, `used` and `limit` of memory). */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** An error that the caller receives, in the operation's envelope. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  readonly details: ErrorDetails
  /**
   * @param details `cause` is for logs only: it is not part of `details`, so no response and no other node receives it.
   */
  constructor(code: ErrorCode, { cause, ...details }: ErrorDetails & { readonly cause?: unknown } = {}) {
    super(
      details.message ?? withNamedPart({ code, ...errors[code] }, details.param),
      cause === undefined ? undefined : { cause },
    )
    this.code = code
    this.details = details
  }

  /** Whether the same request may succeed later. The actor runtime retries messages and results that it refuses. */
  get isPassing(): boolean {
    const { status } = errors[this.code]
    return status >= 500 || status === 429
  }
}
