import { ServiceError } from '#specs/errors/errors.ts'
import { isSecureUrl } from './oauth-server.ts'

/**
 * Holds the page that a sign-in leads back to against those that the project allows. Where it names none, any page over https
 * or on this machine is taken.
 *
 * @throws {ServiceError} `invalid_field`
 */
export const checkReturnUrl = (url: string, allowed: readonly string[]): void => {
  const target = URL.parse(url)
  if (target === null) throw refused('redirect_uri is not a valid URL.')
  if (target.username !== '' || target.password !== '') throw refused('redirect_uri must not contain credentials.')
  if (allowed.length === 0) {
    if (!isSecureUrl(url)) throw refused('redirect_uri must use https.')
  } else if (!allowed.some((each) => isWithin(target, each)))
    throw refused('redirect_uri does not match any of the return URLs of the project.')
}

/** A URL that ends with a slash allows what is below it; another one allows itself, whatever its query. */
const isWithin = (target: URL, allowed: string): boolean => {
  const base = URL.parse(allowed)
  if (base === null || base.origin !== target.origin) return false
  return base.pathname.endsWith('/') ? target.pathname.startsWith(base.pathname) : target.pathname === base.pathname
}

const refused = (message: string): ServiceError => new ServiceError('invalid_field', { param: 'redirect_uri', message })
