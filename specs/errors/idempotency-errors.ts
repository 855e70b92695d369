/** Errors of requests that are repeated with an Idempotency-Key. */
export const idempotencyErrors = {
  idempotency_key_reused: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The Idempotency-Key was already used with a different request. Use a new key.',
  },
  idempotency_secret_shown: {
    status: 409,
    type: 'invalid_request_error',
    message:
      'The first response to this Idempotency-Key contained a secret, which is shown only once. If it was lost, revoke or rotate what that request made, and use a new key to create another one.',
  },
  idempotency_in_progress: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The first request with this Idempotency-Key is still in progress. Try again later.',
  },
  idempotency_answer_not_kept: {
    status: 409,
    type: 'invalid_request_error',
    message:
      'The first request with this Idempotency-Key has completed, but its response was too large to be stored for a replay. Read what it made; use a new key for another one.',
  },
} as const
