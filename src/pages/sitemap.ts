/** Maximum number of URLs read from a sitemap. */
export const maxSitemapUrls = 2_000

/** A sitemap, or a sitemap index. */
export interface Sitemap {
  readonly isIndex: boolean
  readonly urls: readonly string[]
}

/** Parses a sitemap in XML, or as plain text with one URL per line. */
export const sitemapOf = (text: string): Sitemap => {
  const isIndex = text.slice(0, 2_000).includes('<sitemapindex')
  if (!text.includes('<loc>')) {
    const lines = text.split(/\r?\n/).map((line) => line.trim())
    return { isIndex: false, urls: lines.filter((line) => /^https?:\/\//.test(line)).slice(0, maxSitemapUrls) }
  }
  const urls: string[] = []
  let at = text.indexOf('<loc>')
  while (at !== -1 && urls.length < maxSitemapUrls) {
    const end = text.indexOf('</loc>', at)
    if (end === -1) break
    const url = text
      .slice(at + '<loc>'.length, end)
      .replace('<![CDATA[', '')
      .replace(']]>', '')
      .trim()
    urls.push(url.replaceAll('&amp;', '&'))
    at = text.indexOf('<loc>', end)
  }
  return { isIndex, urls }
}
