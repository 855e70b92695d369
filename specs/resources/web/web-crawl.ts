import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { array, boolean, defaulted, described, integer, object, oneOf, optional, string } from '#specs/dsl/schema.ts'
import { ofWeb, pageUrl, renderOption } from './web-fields.ts'
import { crawlLimits } from './web-limits.ts'

/** A crawled page. */
export const crawledPage = object(
  {
    url: string(),
    status: oneOf('indexed', 'skipped', 'failed'),
    reason: described(
      optional(string()),
      'Reason for which the page was not indexed: an error code of `web.fetch`, `noindex`, `no_store` or `private` (directives of `Cache-Control`), `duplicate`, `duplicate_content`, `no_text`, `taken_down`, `corpus_full`, `out_of_time`, `site_busy` (429 or 503 for too long) or `robots_unreachable` (the site failed to deliver its robots.txt).',
    ),
    canonicalUrl: described(optional(string()), 'URL under which the page is indexed, if it differs.'),
    change: described(
      optional(oneOf('new', 'changed', 'unchanged')),
      'Change of the page since the project last crawled it.',
    ),
    depth: described(integer(), 'Number of links from a seed.'),
  },
  { title: 'WebCrawledPage', description: 'A page of a crawl.' },
)

/** Fields of every request for a crawl. */
export const crawlRequest = {
  seeds: described(array(pageUrl, { minItems: 1, maxItems: crawlLimits.seeds }), 'URLs at which the crawl starts.'),
  maxPages: described(
    defaulted(integer({ min: 1, max: crawlLimits.pages, clamp: 'max' }), crawlLimits.defaultPages),
    'Maximum number of pages to read. Default: 10; at most 25.',
  ),
  maxDepth: described(
    defaulted(integer({ min: 0, max: crawlLimits.depth, clamp: 'max' }), crawlLimits.defaultDepth),
    'Maximum number of links between a seed and a page. Default: 1; at most 3.',
  ),
  sameOrigin: described(
    defaulted(boolean(), true),
    'Whether to follow only links to the origins of the seeds. Default: true.',
  ),
  render: renderOption(false),
  sitemap: described(
    defaulted(boolean(), false),
    'Whether to start with the pages in the sitemaps of the seeds as well.',
  ),
  maxAge: described(
    defaulted(integer({ min: 0 }), 0),
    'Maximum age in seconds of an indexed page that is not requested again. Default: 0: every page is requested, with a conditional request.',
  ),
}

/** Crawls that complete within the request. */
export const webCrawl = defineOperations('web', {
  crawl: {
    ...ofWeb,
    summary: "Crawl pages into the project's index",
    description:
      'Crawls breadth first from the seed URLs, and indexes the pages for searches of this project only. robots.txt, `noindex`, `nofollow`, `Cache-Control: no-store` and `private`, and canonical URLs are respected; a page with the same content as another page is skipped. All crawls of the installation together send few requests at a time to a host, with a pause between two; a host that answers 429 or 503 is waited for. The response is sent within one minute: pages not reached by then are skipped as `out_of_time`.',
    method: 'POST',
    path: '/v1/web/crawl',
    body: object(crawlRequest),
    answer: isJsonResponse(
      object(
        {
          pages: array(crawledPage),
          indexed: integer(),
          skipped: integer(),
          failed: integer(),
          discovered: described(integer(), 'Number of URLs that were discovered, including those beyond `maxPages`.'),
        },
        { title: 'WebCrawl', description: 'Results of a crawl.' },
      ),
    ),
    errors: ['invalid_url', 'unsafe_url'],
    refusals: { 'seeds[]': 'invalid_url' },
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly webCrawl: typeof webCrawl
  }
}
