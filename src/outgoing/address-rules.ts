import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** A platform's metadata address that lies in public space (Azure's wire server). */
const publicButInternal = new Set(['168.63.129.16'])

/** Whether an IP address is one of the public internet: nothing private, local, reserved, or a way around that. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast' || publicButInternal.has(parsed.toString())) return false
  return !(parsed instanceof ipaddr.IPv6) || isGlobalUnicast(parsed)
}

/** Only 2000::/3 is given out; the rest, such as the old IPv4-compatible ::a.b.c.d, may lead anywhere. */
const isGlobalUnicast = (address: ipaddr.IPv6): boolean => ((address.parts[0] ?? 0) & 0xe000) === 0x2000

/** Hosts that an operator lets through though they are private: `host` for every port, `host:port` for one. */
export class AllowedHosts {
  readonly #entries: ReadonlySet<string>

  constructor(entries: readonly string[]) {
    this.#entries = new Set(entries.map((entry) => entry.trim().toLowerCase()).filter((entry) => entry !== ''))
  }

  /** `host` as a URL gives it, an IPv6 address in brackets or not. */
  has(host: string, port: string): boolean {
    const name = host.toLowerCase()
    const bare = name.replace(/^\[|\]$/g, '')
    const forms = bare.includes(':') ? [bare, `[${bare}]`, `[${bare}]:${port}`] : [bare, `${bare}:${port}`]
    return forms.some((form) => this.#entries.has(form))
  }
}
