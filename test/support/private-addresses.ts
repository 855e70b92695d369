import { isIP, type LookupFunction } from 'node:net'

/** Addresses by host name: each lookup of a name returns the next of its answers. */
const names: Readonly<Record<string, readonly (readonly string[])[]>> = {
  localhost: [['127.0.0.1'], ['::1']],
  'a.localhost': [['127.0.0.1']],
  'localhost.': [['127.0.0.1']],
  'private.example': [['10.0.0.5']],
  'loop.example': [['127.0.0.1']],
  'six.example': [['::1']],
  'local.example': [['fe80::1']],
  'unique.example': [['fd00::1']],
  'mapped.example': [['::ffff:127.0.0.1']],
  'metadata.example': [['169.254.169.254']],
  'azure.example': [['168.63.129.16']],
  'mixed.example': [['93.184.216.34', '127.0.0.1']],
  'mixed-six.example': [['2606:2800:220:1::1', '::1']],
  'rebinding.example': [['127.0.0.1'], ['93.184.216.34'], ['127.0.0.1']],
  'metadata.google.internal': [['169.254.169.254']],
  'xn--tst-qla.example': [['127.0.0.1']],
  'zero.example': [['0.0.0.0']],
  'nat.example': [['64:ff9b::7f00:1']],
  'multicast.example': [['224.0.0.1']],
  '127.0.0.1.nip.example': [['127.0.0.1']],
}

const v4 = [
  '127.0.0.1',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '198.18.0.1',
]
const number = (ip: string): number => ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
const forms = (ip: string): readonly string[] => {
  const parts = ip.split('.').map(Number)
  const [a = 0, b = 0, c = 0, d = 0] = parts
  const hex = (n: number): string => n.toString(16).padStart(2, '0')
  return [
    ip,
    `${ip}.`,
    `${number(ip)}`,
    `0x${number(ip).toString(16)}`,
    parts.map((part) => `0${part.toString(8)}`).join('.'),
    parts.map((part) => `0x${hex(part)}`).join('.'),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    ip.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
    ip.replaceAll('.', '\u3002'),
    `[::ffff:${ip}]`,
    `[::ffff:${hex(a)}${hex(b)}:${hex(c)}${hex(d)}]`,
    `[64:ff9b::${ip}]`,
    `[2002:${hex(a)}${hex(b)}:${hex(c)}${hex(d)}::1]`,
  ]
}
const hosts = [
  ...v4.flatMap(forms),
  ...[
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[fe80::1]',
    '[fc00::1]',
    '[fd12:3456::1]',
    '[ff02::1]',
    '[::127.0.0.1]',
    '[fec0::1]',
  ],
  ...[
    '[2001:db8::1]',
    '[2001::1]',
    '[100::1]',
    '[::ffff:0:127.0.0.1]',
    '[5f00::1]',
    '168.63.129.16',
    '192.0.0.192',
    '203.0.113.1',
  ],
  ...[
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '192.0.2.1',
    '0',
    '127.1',
    '①②⑦.0.0.1',
    '%31%32%37.0.0.1',
    '127。0。0。1',
  ],
  ...Object.keys(names),
]
const oddities = (port: number): readonly string[] => [
  `http://user@127.0.0.1:${port}/`,
  `http://user:pass@site.example/`,
  `http://127.0.0.1:${port}\\@site.example/`,
  `http://site.example@127.0.0.1:${port}/`,
  `http:/127.0.0.1:${port}/`,
  `http:\\\\127.0.0.1:${port}\\`,
  `http:127.0.0.1:${port}`,
  `HtTp://127.0.0.1:${port}/`,
  `http://127.0.0.1:${port}#@site.example/`,
  `http://127.0.0.1:${port}?@site.example/`,
  `\thttp://127.0.0.1:${port}/`,
  `http://127.0.0.1\t:${port}/`,
  `http://127.0.0.1:${port}/%2e%2e/`,
  `http://site.example:22/`,
  `http://site.example:6379/`,
  `http://site.example:11211/`,
  'file:///etc/passwd',
  'ftp://127.0.0.1/',
  'gopher://127.0.0.1:70/_x',
  'dict://127.0.0.1:11211/stat',
  'ldap://127.0.0.1/',
  'jar:http://127.0.0.1!/',
  'data:text/html,x',
  'blob:http://127.0.0.1/x',
  'javascript:fetch(1)',
  'view-source:http://127.0.0.1/',
  'ws://127.0.0.1/',
  'http://',
  'http://[::1',
  'http://[127.0.0.1]/',
  'http://127.0.0.1:99999/',
  'http://exa mple/',
  '//127.0.0.1/',
  '\\\\127.0.0.1\\share',
]

/** URLs of private addresses and invalid URLs in every notation; `port` is that of a canary on this machine. */
export const privateAddresses = (port: number): readonly string[] => [
  ...hosts.map((host) => `http://${host}:${port}/`),
  ...hosts.slice(0, 30).map((host) => `https://${host}/`),
  ...oddities(port),
]

/** Resolves the names among them, some of which rebind at each lookup. `again` resets the lookups. */
export const openPrivateNames = (): { readonly lookup: LookupFunction; readonly again: () => void } => {
  const lookups = new Map<string, number>()
  return {
    again: () => lookups.clear(),
    lookup: (name, options, callback) => {
      const answers = names[name]
      const requestCount = lookups.get(name) ?? 0
      lookups.set(name, requestCount + 1)
      const found = answers?.[Math.min(requestCount, answers.length - 1)] ?? (isIP(name) === 0 ? undefined : [name])
      if (found === undefined) return callback(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' }), [])
      const all = found.map((address) => ({ address, family: isIP(address) }))
      if (options.all === true) callback(null, all)
      else callback(null, all[0]?.address ?? '', all[0]?.family)
    },
  }
}
