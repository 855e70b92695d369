import { ServiceError } from '#specs/errors/errors.ts'

/**
 * Pseudonym of Troupe servers in `Via` (RFC 9110, section 7.6.3). It is the same for all installations, since loops can
 * pass through several.
 */
const pseudonym = 'troupe'

/**
 * Maximum number of Troupe servers that a request may pass on its way to a model. A team's server behind a company's
 * makes two.
 */
const maxHops = 4

/** `Via` of a provider request that starts at this server. */
export const ownVia = `1.1 ${pseudonym}`

/**
 * Returns `Via` for provider requests on behalf of a request that came from another Troupe server; otherwise undefined,
 * which means `ownVia`. Entries of other software are dropped, as they mean nothing to a provider.
 *
 * @param via the received header.
 * @throws {ServiceError} `request_loop` for a request that has passed too many: a server that is registered as its own
 * provider would call itself forever.
 */
export const viaBehind = (via: string | undefined): string | undefined => {
  if (via === undefined) return undefined
  const hops = via.split(',').filter(isOurs).length
  if (hops === 0) return undefined
  if (hops >= maxHops) throw new ServiceError('request_loop')
  return Array.from({ length: hops + 1 }, () => ownVia).join(', ')
}

/** Whether an entry (protocol, receiver, optional comment) is of a Troupe server. */
const isOurs = (entry: string): boolean => entry.trim().split(/\s+/, 2)[1]?.toLowerCase() === pseudonym

/** `Via` of a caller's provider requests. */
export const viaOf = ({ via }: { readonly via?: string | undefined }): string => via ?? ownVia
