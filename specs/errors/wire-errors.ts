import { wrongKindCode } from '../access.ts'
import { type EnvelopeName, namesTenants, type Operation, streams } from '../dsl/declare.ts'
import { type ErrorCode, errors, type ServiceError } from './errors.ts'

const malformed: readonly ErrorCode[] = [
  'bad_request',
  'malformed_json',
  'missing_field',
  'unknown_field',
  'invalid_field',
  'invalid_query',
]

const isMalformed = (code: ErrorCode): boolean => malformed.includes(code)

/**
 * Returns the status of an error in an envelope. A malformed request results in 422 in the platform's envelopes, and in
 * 400 in all others, including those of other APIs. For web operations, a failed fetch is a failure of the other
 * server.
 */
export const statusIn = (envelope: EnvelopeName, code: ErrorCode): number => {
  if (envelope === 'web' && code === 'fetch_failed') return 502
  const platform = envelope === 'platform' || envelope === 'memory'
  return isMalformed(code) && !platform ? 400 : errors[code].status
}

/**
 * Returns the code of an error in an envelope. The flat envelope uses `bad_request` for every malformed request, and
 * `provider_error` for `provider_refused`.
 */
export const codeIn = (envelope: EnvelopeName, code: ErrorCode): string => {
  if (envelope !== 'flat') return code
  if (code === 'provider_refused') return 'provider_error'
  return isMalformed(code) ? 'bad_request' : code
}

/** Returns an error in Anthropic's envelope: the body of a response, or the data of an `error` event. */
export const anthropicError = ({ code, message, details }: ServiceError, requestId: string) => ({
  type: 'error' as const,
  error: {
    type: anthropicType(statusIn('anthropic', code)),
    message,
    code,
    param: details.param ?? null,
    ...details.extra,
  },
  request_id: requestId,
})

const anthropicTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

const anthropicType = (status: number): string =>
  anthropicTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')

/** Returns the error codes of an operation in the table's order: declared ones, and those that follow from it. */
export const codesOf = (operation: Operation): readonly ErrorCode[] => {
  const codes = new Set<ErrorCode>([
    ...operation.errors,
    ...accessCodes(operation),
    ...inputCodes(operation),
    'store_unavailable',
    'overloaded',
    'internal_error',
  ])
  return allCodes.filter((code) => codes.has(code))
}

const allCodes = Object.keys(errors).filter((code): code is ErrorCode => code in errors)

const accessCodes = (operation: Operation): readonly ErrorCode[] => {
  const { method, cors } = operation
  const { kinds, publicKeys } = operation.access
  const csrf: readonly ErrorCode[] = method === 'GET' ? [] : ['csrf_refused']
  if (kinds.includes('public')) return cors ? [] : csrf
  const code = wrongKindCode(operation.access)
  const hasRoles = kinds.includes('dashboard') && operation.access.role !== 'member'
  return [
    'authentication_required',
    code,
    ...(hasRoles ? (['forbidden'] as const) : []),
    ...(kinds.includes('agent_key') ? (['origin_not_allowed'] as const) : []),
    // any key may have scopes
    ...(kinds.some((kind) => kind !== 'dashboard') ? (['insufficient_scope'] as const) : []),
    ...(kinds.includes('dashboard') ? csrf : []),
    ...(kinds.includes('dashboard') && method !== 'GET' ? (['project_deleting'] as const) : []),
    ...(streams(operation) && (publicKeys || kinds.includes('client_token')) ? (['too_many_streams'] as const) : []),
  ]
}

const inputCodes = (operation: Operation): readonly ErrorCode[] => {
  const { params, query, body, files, answer, unknownFields } = operation
  return [
    ...(params.length > 0 ? (['not_found', 'invalid_field'] as const) : []),
    ...(Object.keys(query).length > 0 || unknownFields === 'refuse' ? (['invalid_query'] as const) : []),
    ...(body === null ? [] : bodyCodes),
    ...(files === null ? [] : (['bad_request'] as const)),
    ...(answer.kind === 'events' && answer.resumable ? (['invalid_header'] as const) : []),
    ...tenantCodes(operation),
    ...idempotencyCodes(operation),
  ]
}

const tenantCodes = (operation: Operation): readonly ErrorCode[] => {
  if (!namesTenants(operation)) return []
  return operation.method === 'GET' || operation.method === 'DELETE' ? namedCodes : [...namedCodes, ...refusedCodes]
}

const idempotencyCodes = ({ idempotency, answer }: Operation): readonly ErrorCode[] => [
  ...(idempotency === 'ignored' ? [] : (['invalid_header', 'idempotency_key_reused'] as const)),
  ...(idempotency === 'stored' ? (['idempotency_in_progress'] as const) : []),
  ...(idempotency === 'stored' && answer.kind !== 'json' ? (['idempotency_answer_not_kept'] as const) : []),
  ...(idempotency === 'stored' && answer.kind === 'json' && answer.secret
    ? (['idempotency_secret_shown'] as const)
    : []),
]

const namedCodes = ['not_found', 'invalid_header'] as const
const refusedCodes = ['tenant_suspended', 'tenant_deleting'] as const

const bodyCodes = [
  'malformed_json',
  'missing_field',
  'invalid_field',
  'unknown_field',
  'body_too_large',
  'body_too_slow',
  'unsupported_media_type',
] as const
