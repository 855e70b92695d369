import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { TrustedProxies } from '../config.ts'
import type { HttpRequest } from './http/http-port.ts'

type PeerHeaders = Pick<HttpRequest, 'header' | 'remoteAddress'>

/**
 * The address of the client behind proxies: the connection's address, or the one that trusted proxies report in
 * `X-Forwarded-For`. Each proxy appends its caller's address, so the list is read from the end, and only as long as
 * every address passed is a trusted proxy's: a client may have written anything before that.
 *
 * @returns a reader whose result is in canonical form, with IPv4 unmapped from IPv6; '' when the peer has disconnected.
 */
export const clientAddressReader = (trusted: TrustedProxies | null): ((request: PeerHeaders) => string) => {
  if (trusted === null) return ({ remoteAddress }) => canonical(remoteAddress) ?? remoteAddress
  const isTrusted = trustOf(trusted)
  return (request) => {
    let address = canonical(request.remoteAddress) ?? ''
    const hops = request.header('x-forwarded-for')?.split(',').reverse() ?? []
    for (const [hop, text] of hops.entries()) {
      const before = canonical(withoutPort(text.trim()))
      if (before === undefined || !isTrusted(address, hop)) break
      address = before
    }
    return address
  }
}

/** Returns whether the proxy at this address, this many hops away (0: the direct peer), is trusted. */
const trustOf = (trusted: TrustedProxies): ((address: string, hop: number) => boolean) => {
  if ('hops' in trusted) return (_, hop) => hop < trusted.hops
  const networks = trusted.networks.map((network) => ipaddr.parseCIDR(network))
  return (address) => {
    if (address === '') return false
    const parsed = ipaddr.parse(address)
    return networks.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits))
  }
}

const canonical = (address: string): string | undefined =>
  isIP(address) !== 0 ? ipaddr.process(address).toString() : undefined

/** Some proxies include the port: `203.0.113.7:4711`, `[2001:db8::7]:4711`. */
const withoutPort = (text: string): string => {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d+)?|([^:]+):\d+)$/.exec(text) ?? []
  return bracketed ?? plain ?? text
}
