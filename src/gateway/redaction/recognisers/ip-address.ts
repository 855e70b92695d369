import { isIP } from 'node:net'
import { before, hitsOf, type Recogniser } from './recogniser.ts'

const v4 = /(?<![\p{L}\p{N}_.+@~^-]|\w\/|[=<>!~]=)(?:\d{1,3}\.){3}\d{1,3}(?![\p{L}\p{N}_-]|\.\d)/gu
const v6 =
  /(?<![\p{L}\p{N}_:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?:(?:\d{1,3}\.){3}\d{1,3})?(?![\p{L}\p{N}_:]|\.\d)/giu

/** A group of more than one digit; `a::b` alone is a name in source code. */
const group = /[0-9a-f]{0,4}\d[0-9a-f]{0,4}[0-9a-f]|[0-9a-f]{1,4}\d/i

/** Words before four dotted numbers that are not an address. */
const numbered =
  /(?<!\p{L})(?:version|ver|v|release|rel|build|section|sec|chapter|clause|paragraph|table|figure|fig|appendix|oid|rev|firmware|driver|§)[\s.:]{0,3}$/iu

/**
 * Addresses that identify no person: this host, any host, netmasks and the like. Multicast addresses and those reserved
 * for documentation are not excluded.
 */
const reserved = /^(?:0\.|127\.|255\.|::1?$)/

const hint = /\d\.\d{1,3}\.\d|[0-9a-f]:[0-9a-f]{0,4}:|::/i

/** IPv4 and IPv6 addresses. */
export const ipAddresses: Recogniser = {
  types: ['ip_address'],
  mayFind: (text) => hint.test(text),
  find: ({ text, words }) => [
    ...hitsOf(text, v4, {
      type: 'ip_address',
      accepts: (match, start) => isAddress(match) && !numbered.test(before(words, start)),
    }),
    ...hitsOf(text, v6, { type: 'ip_address', accepts: (match) => isAddress(match) && group.test(match) }),
  ],
}

const isAddress = (match: string): boolean => isIP(match) !== 0 && !reserved.test(match)
