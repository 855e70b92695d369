import { ServiceError } from '#specs/errors/errors.ts'

/** What servers like this one are called in `Via` (RFC 9110, section 7.6.3). It names no installation: loops lead through several. */
const pseudonym = 'troupe'

/** Servers like this one that a request may pass on its way to a model. A team's before a company's is two. */
const maxHops = 4

/** `Via` of a request to a provider that begins here. */
export const ownVia = `1.1 ${pseudonym}`

/**
 * `Via` of what a request sends to providers, when the request itself came from a server like this one; else undefined,
 * which means `ownVia`. Entries of others say nothing to a provider.
 *
 * @param via as the request came with it.
 * @throws {ServiceError} `request_loop` for one that has passed too many: a server that is registered as its own
 *   provider would call itself for ever.
 */
export const viaBehind = (via: string | undefined): string | undefined => {
  if (via === undefined) return undefined
  const hops = via.split(',').filter(isOurs).length
  if (hops === 0) return undefined
  if (hops >= maxHops) throw new ServiceError('request_loop')
  return Array.from({ length: hops + 1 }, () => ownVia).join(', ')
}

/** A protocol, who received by it, and perhaps a comment. */
const isOurs = (entry: string): boolean => entry.trim().split(/\s+/, 2)[1]?.toLowerCase() === pseudonym

/** What a caller's requests to providers say. */
export const viaOf = ({ via }: { readonly via?: string | undefined }): string => via ?? ownVia
