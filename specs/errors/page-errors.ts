/** Errors of web pages: part of the table in `errors.ts`. */
export const pageErrors = {
  fetch_failed: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The URL could not be fetched.',
  },
  invalid_url: { status: 400, type: 'invalid_request_error', message: 'The URL is not a valid http or https URL.' },
  unsafe_url: {
    status: 400,
    type: 'invalid_request_error',
    message:
      'The URL, or a URL that it redirects to, is not on the public internet. The operator of the server can allow private hosts in ALLOWED_PRIVATE_CONTENT_HOSTS.',
  },
  robots_denied: {
    status: 403,
    type: 'permission_error',
    message: 'The robots.txt of the site does not allow this page to be read.',
  },
  dns_unavailable: { status: 502, type: 'provider_error', message: 'The host name cannot be resolved.' },
  fetch_timeout: { status: 504, type: 'provider_error', message: 'The page did not arrive in time.' },
  response_too_large: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The page is larger than maxBytes.',
  },
  unsupported_content_type: {
    status: 422,
    type: 'invalid_request_error',
    message: 'The content type of the page is not supported.',
  },
  invalid_browser_action: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A browser action is not allowed.',
  },
} as const
