import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { TrustedProxies } from '../config.ts'
import type { HttpRequest } from './http/http-port.ts'

type PeerHeaders = Pick<HttpRequest, 'header' | 'remoteAddress'>

/**
 * Who really calls, where proxies stand in front: the connection's address, or what the trusted ones of them say in
 * `X-Forwarded-For`. Each proxy adds at the end who called it, so the list is read from there, and only as far as
 * every address on the way is a trusted proxy's: what comes before was written by a client that may write anything.
 *
 * @returns a reader whose answer is in canonical form, IPv4 as such when it came mapped into IPv6; '' when the peer is gone.
 */
export const clientAddressReader = (trusted: TrustedProxies | null): ((request: PeerHeaders) => string) => {
  if (trusted === null) return ({ remoteAddress }) => canonical(remoteAddress) ?? remoteAddress
  const isTrusted = trustOf(trusted)
  return (request) => {
    let address = canonical(request.remoteAddress) ?? ''
    const said = request.header('x-forwarded-for')?.split(',').reverse() ?? []
    for (const [hop, text] of said.entries()) {
      const before = canonical(withoutPort(text.trim()))
      if (before === undefined || !isTrusted(address, hop)) break
      address = before
    }
    return address
  }
}

/** Whether the proxy of this address, so many hops away from us (0: our peer), is one of ours. */
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

/** Some proxies write the port along: `203.0.113.7:4711`, `[2001:db8::7]:4711`. */
const withoutPort = (text: string): string => {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d+)?|([^:]+):\d+)$/.exec(text) ?? []
  return bracketed ?? plain ?? text
}
