/** Errors of remote tool servers, part of the table of errors. */
export const mcpErrors = {
  mcp_limit_reached: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The project has reached its limit of remote tool servers.',
  },
  mcp_server_failed: {
    status: 502,
    type: 'provider_error',
    message: 'The remote tool server failed.',
  },
} as const
