import { OAuthError } from './oauth-error.ts'

/** Maximum length and number of the redirect URIs of a client. */
const maxLength = 2048
const maxUris = 20

/**
 * Schemes of editors whose redirect URIs no other scheme replaces. A scheme of an app contains a period otherwise
 * (RFC 8252, section 7.1), which none of a browser's own does: `javascript:` would run in our page.
 */
const editors: ReadonlySet<string> = new Set(['cursor:', 'vscode:', 'vscode-insiders:', 'windsurf:', 'claude:'])

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])

/** Whether an URL is http on this machine, where apps listen at any free port (RFC 8252, section 7.3). */
export const isLoopback = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && loopback.has(hostname)

/**
 * Checks the redirect URIs of a client.
 *
 * @throws {OAuthError} `invalid_redirect_uri`
 */
export const checkedRedirectUris = (given: unknown): readonly string[] => {
  if (!Array.isArray(given) || given.length === 0 || given.length > maxUris)
    throw new OAuthError('invalid_redirect_uri', `redirect_uris must be a list of 1 to ${maxUris} URLs.`)
  return given.map((uri) => {
    if (typeof uri === 'string' && isPermitted(uri)) return uri
    throw new OAuthError(
      'invalid_redirect_uri',
      'A redirect URI must be https, http on this machine, or of an app with a private scheme, without a fragment or user.',
    )
  })
}

const isPermitted = (uri: string): boolean => {
  // spaces and control characters would be removed by a parser, so that two URIs that differ lead to the same place
  const url = uri.length > maxLength || !/^[\x21-\x7e]+$/.test(uri) ? null : URL.parse(uri)
  if (url === null || uri.includes('#') || url.username !== '' || url.password !== '') return false
  if (url.protocol === 'https:') return true
  if (url.protocol === 'http:') return isLoopback(url)
  return editors.has(url.protocol) || url.protocol.includes('.')
}

/** Whether a client may be redirected to an URI: one of its own, exactly; on this machine at any port. */
export const isOwnRedirect = (own: readonly string[], uri: string): boolean =>
  own.includes(uri) || own.some((each) => isSameButPort(each, uri))

const isSameButPort = (own: string, uri: string): boolean => {
  const [left, right] = [URL.parse(own), isPermitted(uri) ? URL.parse(uri) : null]
  if (left === null || right === null || !isLoopback(left) || !isLoopback(right)) return false
  left.port = right.port
  return left.href === right.href
}

/** Adds the parameters of an answer to a redirect URI, in place of those of the same name that it has. */
export const redirectTo = (uri: string, answer: Readonly<Record<string, string | undefined>>): string => {
  const url = new URL(uri)
  for (const name of ['code', 'error', 'error_description', 'state', 'iss']) url.searchParams.delete(name)
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}
