import { decodedPage } from '#src/pages/charset.ts'
import { maxSitemapUrls, sitemapOf } from '#src/pages/sitemap.ts'
import { type PageFetcher, textKinds } from '../fetch/page-fetcher.ts'

export interface FetchedSite {
  readonly fetcher: PageFetcher
}

const maxSitemaps = 5
const maxBytes = 5 * 1024 * 1024
const timeoutMs = 10_000

/** Returns the URLs in sitemaps of the seeds' sites that are on these sites. Unreadable sitemaps are ignored. */
export const sitemapUrls = async (
  { fetcher }: FetchedSite,
  seeds: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const origins = [...new Set(seeds.flatMap((seed) => URL.parse(seed)?.origin ?? []))]
  const found = await Promise.all(origins.map((origin) => urlsOf(fetcher, origin, signal).catch(() => [])))
  return found.flat().slice(0, maxSitemapUrls)
}

const urlsOf = async (fetcher: PageFetcher, origin: string, signal: AbortSignal): Promise<readonly string[]> => {
  const { sitemaps } = await fetcher.robots.of(new URL(origin), signal)
  const queue = sitemaps.length > 0 ? [...sitemaps] : [`${origin}/sitemap.xml`]
  const urls: string[] = []
  for (let read = 0; read < maxSitemaps && queue.length > 0; read += 1) {
    const url = queue.shift() ?? ''
    const page = await fetcher.fetch({ url, maxBytes, timeoutMs, signal, kinds: textKinds }).catch(() => null)
    if (page === null || page.type === null || page.statusCode !== 200) continue
    const sitemap = sitemapOf(decodedPage(page.bytes, page.type).text)
    if (sitemap.isIndex) queue.push(...sitemap.urls)
    else urls.push(...sitemap.urls.filter((each) => URL.parse(each)?.origin === origin))
  }
  return urls
}
