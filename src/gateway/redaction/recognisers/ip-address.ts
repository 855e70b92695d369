import { isIP } from 'node:net'
import { before, hitsOf, type Recogniser } from './recogniser.ts'

const v4 = /(?<![\p{L}\p{N}_.+@~^-]|\w\/|[=<>!~]=)(?:\d{1,3}\.){3}\d{1,3}(?![\p{L}\p{N}_-]|\.\d)/gu
const v6 =
  /(?<![\p{L}\p{N}_:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?:(?:\d{1,3}\.){3}\d{1,3})?(?![\p{L}\p{N}_:]|\.\d)/giu

/** A group that is no single digit: `a::b` is a name in a program. */
const group = /[0-9a-f]{0,4}\d[0-9a-f]{0,4}[0-9a-f]|[0-9a-f]{1,4}\d/i

/** Words before what has four numbers and is no address. */
const numbered =
  /(?<!\p{L})(?:version|ver|v|release|rel|build|section|sec|chapter|clause|paragraph|table|figure|fig|appendix|oid|rev|firmware|driver|§)[\s.:]{0,3}$/iu

/** Of no person: this host, any host, netmasks, multicast, and what stands for addresses in documents still counts. */
const reserved = /^(?:0\.|127\.|255\.|::1?$)/

/** Addresses of machines, IPv4 and IPv6. */
export const ipAddresses: Recogniser = {
  types: ['ip_address'],
  mayFind: (text) => /\d\.\d{1,3}\.\d/.test(text) || /[0-9a-f]:[0-9a-f]{0,4}:|::/i.test(text),
  find: ({ text }) => [
    ...hitsOf(text, v4, {
      type: 'ip_address',
      accepts: (match, start) => isAddress(match) && !numbered.test(before(text, start)),
    }),
    ...hitsOf(text, v6, { type: 'ip_address', accepts: (match) => isAddress(match) && group.test(match) }),
  ],
}

const isAddress = (match: string): boolean => isIP(match) !== 0 && !reserved.test(match)
