/** Errors of request bodies, part of the table of errors. */
export const bodyErrors = {
  body_too_large: {
    status: 413,
    type: 'invalid_request_error',
    message: 'The body is larger than this operation accepts.',
  },
  body_too_slow: {
    status: 408,
    type: 'invalid_request_error',
    message: 'The body was received too slowly. Send it faster, or in a smaller request.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    message: 'This operation accepts application/json.',
  },
} as const
