/** Errors of connections; rows of the table of errors. */
export const connectionErrors = {
  connection_required: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The call waits for a connection, which goes on by itself once its owner has signed in.',
  },
  connection_revoked: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The connection was revoked. Create another one.',
  },
  connection_limit_reached: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The owner has as many connections as it may have.',
  },
  connector_not_configured: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The project has no client at the provider of this connector. Set it with connectors.credentials.',
  },
  oauth_state_invalid: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The sign-in is unknown, over, or was begun elsewhere. Start it again.',
  },
} as const
