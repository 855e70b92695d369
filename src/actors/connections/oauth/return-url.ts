import { isSecureUrl } from '#outgoing/credential-address.ts'
import type { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'

/**
 * Checks the page to which a sign-in returns against the project's list. If the list is empty, any page over https or
 * on this machine is allowed.
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

/**
 * Whether a URL is allowed by an entry. An entry that ends with a slash allows everything below it; any other allows
 * its own path only, with any query.
 */
const isWithin = (target: URL, allowed: string): boolean => {
  const base = URL.parse(allowed)
  if (base === null || base.origin !== target.origin) return false
  return base.pathname.endsWith('/') ? target.pathname.startsWith(base.pathname) : target.pathname === base.pathname
}

const refused = (message: string): ServiceError => invalidField('redirect_uri', message)
