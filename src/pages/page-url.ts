import { maxUrlLength } from '#specs/resources/web/web-limits.ts'

/** Ports that belong to other protocols and must not be requested (WHATWG Fetch, "bad port"). */
const badPorts: ReadonlySet<string> = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 ' +
    '135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 ' +
    '995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 10080 11211 27017'
  ).split(' '),
)

/** Reason why a URL is not accepted as that of a page. */
export type UrlFault = 'malformed' | 'protocol' | 'credentials' | 'port'

/** Parses the URL of a page and removes its fragment; returns a fault when it is not accepted. */
export const pageUrlOf = (text: string, base?: string): URL | UrlFault => {
  const url = text.length > maxUrlLength ? null : URL.parse(text, base)
  if (url === null || url.href.length > maxUrlLength) return 'malformed'
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'protocol'
  if (url.username !== '' || url.password !== '') return 'credentials'
  if (badPorts.has(url.port)) return 'port'
  url.hash = ''
  return url
}

/** Tracking parameters, which do not affect the page. */
const tracking = /^(?:utm_[a-z]+|fbclid|gclid|dclid|msclkid|mc_eid|mc_cid|igshid|yclid|_ga|_gl)$/i

/**
 * Normalises a URL, so that equivalent ones are equal: without tracking parameters, default documents and an empty
 * query.
 */
export const normalUrl = (url: URL): string => {
  const normal = new URL(url.href)
  normal.hash = ''
  normal.search = new URLSearchParams([...normal.searchParams].filter(([name]) => !tracking.test(name))).toString()
  normal.searchParams.sort()
  normal.pathname = normal.pathname.replace(/\/(?:index|default)\.(?:html?|php|aspx?)$/i, '/').replace(/\/{2,}/g, '/')
  if (normal.hostname.endsWith('.')) normal.hostname = normal.hostname.slice(0, -1)
  return normal.href.replace(/\?$/, '')
}
