import { maxUrlLength } from '#specs/resources/web/web-limits.ts'
import type { PageDocument } from './schema.ts'

export type PageLink = { readonly url: string; readonly text: string; readonly nofollow: boolean }

/** Maximum number of links read per page. */
const maxLinks = 1_000

/** Returns the http(s) links of a page, each URL once. */
export const linksOf = (document: PageDocument, base: string): readonly PageLink[] => {
  const links = new Map<string, PageLink>()
  for (const anchor of document.querySelectorAll('a[href]')) {
    if (links.size >= maxLinks) break
    const address = anchor.getAttribute('href') ?? ''
    const url = URL.parse(address, base)
    if (url === null) continue
    url.hash = ''
    const isOfPage = (url.protocol === 'http:' || url.protocol === 'https:') && url.href.length <= maxUrlLength
    if (!isOfPage || links.has(url.href)) continue
    const nofollow = /(?:^|\s)(?:nofollow|ugc|sponsored)(?:\s|$)/i.test(anchor.getAttribute('rel') ?? '')
    links.set(url.href, { url: url.href, text: anchor.textContent.replace(/\s+/g, ' ').trim().slice(0, 300), nofollow })
  }
  return [...links.values()]
}
