import { asFields } from './schema.ts'

/** Where an error came from, if a server answered with it. */
export interface ErrorOrigin {
  readonly code: string
  readonly status?: number
  readonly param?: string | null
  readonly requestId?: string | null
  /** Time in ms after which the server wants to see the request again. */
  readonly retryAfterMs?: number
  readonly cause?: unknown
}

/** An error of a call. Its class is the type that the server names, `code` one of the API's error codes. */
export class TroupeError extends Error {
  readonly code: string
  /** Status of the response; 0 if there was none. */
  readonly status: number
  /** Field that the error is about. */
  readonly param: string | null
  /** Id of the request, for the operator of the server. */
  readonly requestId: string | null
  readonly retryAfterMs: number

  constructor(message: string, origin: ErrorOrigin) {
    super(message, { cause: origin.cause })
    this.name = new.target.name
    this.code = origin.code
    this.status = origin.status ?? 0
    this.param = origin.param ?? null
    this.requestId = origin.requestId ?? null
    this.retryAfterMs = origin.retryAfterMs ?? 0
  }
}

/** The request cannot be carried out as it is (400, 404, 405, 409, 413, 415, 422). */
export class InvalidRequestError extends TroupeError {}
/** The credential is missing, unknown, expired or revoked (401). */
export class AuthenticationError extends TroupeError {}
/** The credential may not do this (403). */
export class PermissionError extends TroupeError {}
/** Too many requests (429): see `retryAfterMs`. */
export class RateLimitError extends TroupeError {}
/** A budget, a plan or credits do not suffice (402). */
export class BillingError extends TroupeError {}
/** A model provider failed (502, 503, 504). */
export class ProviderError extends TroupeError {}
/** The server failed (5xx). */
export class ApiError extends TroupeError {}
/** No response arrived. */
export class ConnectionError extends TroupeError {}

/** Classes by the `type` in the server's envelope. */
const classes: Readonly<Record<string, typeof TroupeError>> = {
  invalid_request_error: InvalidRequestError,
  authentication_error: AuthenticationError,
  permission_error: PermissionError,
  rate_limit_error: RateLimitError,
  billing_error: BillingError,
  provider_error: ProviderError,
  api_error: ApiError,
}

/** Classes by status, for envelopes without a type. */
const byStatus: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Builds the error of an envelope, as it stands in a response or in a frame of a WebSocket. */
export const errorOf = (envelope: unknown, origin: Omit<ErrorOrigin, 'code'>): TroupeError => {
  const body = asFields(envelope)
  const error = typeof body.error === 'object' ? asFields(body.error) : { ...body, code: body.error }
  const { status = 0 } = origin
  const type = text(error.type) ?? byStatus[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  const code = text(error.code) ?? type
  return new (classes[type] ?? ApiError)(text(error.message) ?? code, {
    ...origin,
    code,
    param: text(error.param),
    requestId: text(error.request_id) ?? text(body.request_id),
  })
}

/** Reads the error of a response; one that is no JSON did not come from this API. */
export const errorIn = async (response: Response, baseUrl: string): Promise<TroupeError> => {
  const { status, headers } = response
  const retryAfterMs = Number(headers.get('retry-after') ?? 0) * 1000
  const body = await response.text()
  if (headers.get('content-type')?.includes('json')) return errorOf(JSON.parse(body), { status, retryAfterMs })
  return status >= 500
    ? new ApiError(`The server answered ${status}.`, { code: 'unavailable', status, retryAfterMs })
    : new InvalidRequestError(notTroupe(baseUrl, status), { code: 'wrong_base_url', status })
}

/** A sentence for an address at which something else answers. */
export const notTroupe = (baseUrl: string, status: number): string =>
  `No Troupe server answers at ${baseUrl} (${status}): set baseUrl to the address under which /v1 is served.`

/** Whether the same request may succeed later. */
export const isPassing = ({ status, code }: TroupeError): boolean =>
  status === 0 ? code === 'connection' : status >= 500 || status === 429 || code === 'idempotency_in_progress'
