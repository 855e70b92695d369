import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Metadata addresses of platforms in the public range (Azure's wire server). */
const publicButInternal = new Set(['168.63.129.16'])

/**
 * Whether an IP address belongs to the public internet: not private, local, reserved, or an alias of such an address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast' || publicButInternal.has(parsed.toString())) return false
  return !(parsed instanceof ipaddr.IPv6) || isGlobalUnicast(parsed)
}

/** Only 2000::/3 is allocated; other ranges, such as the old IPv4-compatible ::a.b.c.d, may lead anywhere. */
const isGlobalUnicast = (address: ipaddr.IPv6): boolean => ((address.parts[0] ?? 0) & 0xe000) === 0x2000

/** Private hosts that an operator allows: `host` for every port, `host:port` for one. */
export class AllowedHosts {
  readonly #entries: ReadonlySet<string>

  constructor(entries: readonly string[]) {
    this.#entries = new Set(entries.map((entry) => entry.trim().toLowerCase()).filter((entry) => entry !== ''))
  }

  /** Whether a host is allowed. `host` as in a URL, an IPv6 address with or without brackets. */
  has(host: string, port: string): boolean {
    const name = host.toLowerCase()
    const bare = name.replace(/^\[|\]$/g, '')
    const forms = bare.includes(':') ? [bare, `[${bare}]`, `[${bare}]:${port}`] : [bare, `${bare}:${port}`]
    return forms.some((form) => this.#entries.has(form))
  }
}
