import { TroupeError } from './errors.ts'

/** Whether a value is an error of a type; where no envelope names one, the status says it. */
const isOf = (value: unknown, type: string, isStatus: (status: number) => boolean): boolean =>
  value instanceof TroupeError && (value.type === type || (value.type === '' && isStatus(value.status)))

/*
 * Classes to recognise errors by, each of a type: they are made by no one, so that a bundle has only those that it names,
 * and a minifier may rename them.
 */

/** The request cannot be carried out as it is (400, 404, 405, 409, 413, 415, 422). */
export class InvalidRequestError extends TroupeError {
  static override [Symbol.hasInstance](value: unknown): value is InvalidRequestError {
    return isOf(value, 'invalid_request_error', (status) => status < 500 && ![0, 401, 402, 403, 429].includes(status))
  }
}

/** The credential is missing, unknown, expired or revoked (401). */
export class AuthenticationError extends TroupeError {
  static override [Symbol.hasInstance](value: unknown): value is AuthenticationError {
    return isOf(value, 'authentication_error', (status) => status === 401)
  }
}

/** The credential may not do this (403). */
export class PermissionError extends TroupeError {
  static override [Symbol.hasInstance](value: unknown): value is PermissionError {
    return isOf(value, 'permission_error', (status) => status === 403)
  }
}

/** Too many requests (429): see `retryAfterMs`. */
export class RateLimitError extends TroupeError {
  static override [Symbol.hasInstance](value: unknown): value is RateLimitError {
    return isOf(value, 'rate_limit_error', (status) => status === 429)
  }
}

/** A budget, a plan or credits do not suffice (402). */
export class BillingError extends TroupeError {
  static override [Symbol.hasInstance](value: unknown): value is BillingError {
    return isOf(value, 'billing_error', (status) => status === 402)
  }
}

/** A model provider failed (502, 503, 504). */
export class ProviderError extends TroupeError {
  static override [Symbol.hasInstance](value: unknown): value is ProviderError {
    return isOf(value, 'provider_error', () => false)
  }
}

/** The server failed (5xx). */
export class ApiError extends TroupeError {
  static override [Symbol.hasInstance](value: unknown): value is ApiError {
    return isOf(value, 'api_error', (status) => status >= 500)
  }
}

/** No response arrived. */
export class ConnectionError extends TroupeError {
  static override [Symbol.hasInstance](value: unknown): value is ConnectionError {
    return value instanceof TroupeError && value.code === 'connection'
  }
}
