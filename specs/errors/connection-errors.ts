/** Errors of connections, part of the table of errors. */
export const connectionErrors = {
  connection_required: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The call requires a connection. It resumes automatically once the owner of the connection has signed in.',
  },
  connection_revoked: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The connection was revoked. Create another one.',
  },
  connection_limit_reached: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The owner has reached its limit of connections. Revoke one first.',
  },
  connector_not_configured: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The project has no OAuth client for this connector. Set one with connectors.credentials.',
  },
  oauth_discovery_failed: {
    status: 502,
    type: 'provider_error',
    message: 'The authorization server of the remote server cannot be used.',
  },
  oauth_state_invalid: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The sign-in is unknown, has ended, or was started in another browser. Start it again.',
  },
} as const
