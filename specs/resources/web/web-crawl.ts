import { answersJson } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { array, boolean, defaulted, described, integer, object, oneOf, optional, string } from '#specs/dsl/schema.ts'
import { ofWeb, pageUrl } from './web-fields.ts'
import { crawlLimits } from './web-limits.ts'

/** A page of a crawl. */
export const crawledPage = object(
  {
    url: string(),
    status: oneOf('indexed', 'skipped', 'failed'),
    reason: described(
      optional(string()),
      'Why it was not indexed: an error code of `web.fetch`, `noindex`, `duplicate`, `duplicate_content`, `no_text`, `taken_down`, `corpus_full` or `out_of_time`.',
    ),
    canonicalUrl: described(optional(string()), 'Address under which it is indexed, where that is another one.'),
    change: described(
      optional(oneOf('new', 'changed', 'unchanged')),
      'What became of the page since the project crawled it last.',
    ),
    depth: described(integer(), 'Links from a seed.'),
  },
  { title: 'WebCrawledPage', description: 'A page of a crawl.' },
)

/** Fields of every request for a crawl. */
export const crawlRequest = {
  seeds: described(array(pageUrl, { minItems: 1, maxItems: crawlLimits.seeds }), 'Addresses to begin with.'),
  maxPages: described(
    defaulted(integer({ min: 1, max: crawlLimits.pages, clamp: 'max' }), crawlLimits.defaultPages),
    'Most pages that are read. Default: 10; at most 25.',
  ),
  maxDepth: described(
    defaulted(integer({ min: 0, max: crawlLimits.depth, clamp: 'max' }), crawlLimits.defaultDepth),
    'Most links between a seed and a page. Default: 1; at most 3.',
  ),
  sameOrigin: described(defaulted(boolean(), true), 'Follows only links to the origins of the seeds. Default: true.'),
  sitemap: described(defaulted(boolean(), false), 'Also begins with the pages that the sitemaps of the seeds name.'),
  maxAge: described(
    defaulted(integer({ min: 0 }), 0),
    'Seconds for which a page that the project has indexed is not requested again. Default: 0, which requests every page, conditionally.',
  ),
}

/** Crawls that end within the request. */
export const webCrawl = defineOperations('web', {
  crawl: {
    ...ofWeb,
    summary: 'Crawl pages into the index of the project',
    description:
      'Reads pages from the seeds, breadth first, and indexes them for searches of this project only. robots.txt, `noindex`, `nofollow` and canonical addresses are respected; a page with the content of another one is skipped. Answers within a minute: pages that are not reached by then are skipped as `out_of_time`.',
    method: 'POST',
    path: '/v1/web/crawl',
    body: object(crawlRequest),
    answer: answersJson(
      object(
        {
          pages: array(crawledPage),
          indexed: integer(),
          skipped: integer(),
          failed: integer(),
          discovered: described(integer(), 'Number of addresses that were found, including those beyond `maxPages`.'),
        },
        { title: 'WebCrawl', description: 'What became of the pages of a crawl.' },
      ),
    ),
    errors: ['invalid_url', 'unsafe_url'],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly webCrawl: typeof webCrawl
  }
}
