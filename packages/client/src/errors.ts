import { asFields } from './schema.ts'

/** Where an error came from, if a server answered with it. */
export interface ErrorOrigin {
  /** Type of the API's errors. */
  readonly type?: string
  /** One of the API's codes; `connection` if no response arrived, `usage` if this client was misused. */
  readonly code: string
  readonly status?: number
  readonly param?: string | null
  readonly requestId?: string | null
  /** Time in ms after which the server wants to see the request again. */
  readonly retryAfterMs?: number
  readonly cause?: unknown
}

/**
 * An error of a call: `code` is one of the API's error codes, `type` the kind of it, for which there are classes
 * (`error instanceof RateLimitError`).
 */
export class TroupeError extends Error {
  /** Empty if no envelope of the API said it. */
  declare readonly type: string
  declare readonly code: string
  /** Status of the response; 0 if there was none. */
  declare readonly status: number
  /** Field that the error is about. */
  declare readonly param: string | null
  /** Id of the request, for the operator of the server. */
  declare readonly requestId: string | null
  declare readonly retryAfterMs: number

  constructor(message: string, origin: ErrorOrigin) {
    super(message, origin)
    Object.assign(this, {
      name: 'TroupeError',
      type: '',
      status: 0,
      param: null,
      requestId: null,
      retryAfterMs: 0,
      ...origin,
    })
  }
}

/** The error of a response, which may be of another server. */
interface Envelope {
  readonly code?: string
  readonly type?: string
  readonly message?: string
  readonly param?: string | null
  readonly request_id?: string | null
}

/** Reads the error of a response; one that has none of ours did not come from this API. */
export const errorIn = async (response: Response, baseUrl: string): Promise<TroupeError> => {
  const { status, headers } = response
  const { error } = asFields(await response.json().catch(() => {}))
  const { message, request_id, ...fields } = {
    code: status < 500 ? 'wrong_base_url' : 'unavailable',
    message: `No Troupe at ${baseUrl} (${status}): is the server running, and is baseUrl right?`,
    // some of the older APIs have the code itself as `error`
    ...asFields<Envelope>(typeof error === 'string' ? { code: error, message: error } : error),
  }
  return new TroupeError(message, {
    ...fields,
    status,
    requestId: request_id ?? null,
    retryAfterMs: Number(headers.get('retry-after')) * 1000 || 0,
  })
}

/** Whether the same request may succeed later. */
export const isPassing = ({ status, code }: TroupeError): boolean =>
  status >= 500 || status === 429 || code === 'connection' || code === 'idempotency_in_progress'
