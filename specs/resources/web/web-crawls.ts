import { secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { cursorPage, cursorQuery } from '#specs/dsl/lists.ts'
import {
  array,
  defaulted,
  described,
  id,
  integer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '#specs/dsl/schema.ts'
import { statuses } from '#specs/statuses.ts'
import { stuck } from '#specs/stuck-field.ts'
import { crawledPage, crawlRequest } from './web-crawl.ts'
import { ofWeb } from './web-fields.ts'
import { backgroundCrawl } from './web-limits.ts'

const status = oneOf(...statuses.web_crawl)

const crawl = object(
  {
    id: id('crw'),
    status,
    seeds: array(string()),
    maxPages: integer(),
    maxDepth: integer(),
    pages: described(array(crawledPage), 'Pages processed so far.'),
    indexed: integer(),
    skipped: integer(),
    failed: integer(),
    discovered: described(integer(), 'Number of URLs that were discovered.'),
    waitingFor: described(
      array(
        object(
          {
            host: string(),
            reason: described(
              oneOf('site_busy', 'robots_unreachable'),
              '`site_busy`: the host answered 429 or 503. `robots_unreachable`: it failed to deliver its robots.txt.',
            ),
            pages: described(integer(), 'Number of postponed pages.'),
            until: described(timestamp(), 'When the first of them is requested again.'),
          },
          { title: 'WebCrawlWait' },
        ),
      ),
      'Hosts that the crawl is waiting for. Pages are postponed for at most 10 minutes at a time and 30 minutes in all, and then skipped.',
    ),
    error: nullable(object({ code: string(), message: string() })),
    stuck,
    createdAt: timestamp(),
    endedAt: nullable(timestamp()),
  },
  { title: 'WebCrawlJob', description: 'A crawl in the background.' },
)

const path = '/v1/web/crawls'
const reads = secretKeyOrDashboard('member')
const { maxPages: _fewer, maxDepth: _flatter, ...request } = crawlRequest

/** Crawls that run in the background and continue after restarts. */
export const webCrawls = defineOperations('web_crawls', {
  create: {
    ...ofWeb,
    summary: 'Start a crawl in the background',
    description:
      'Crawls pages as `web.crawl` does, with higher limits. Progress is stored every few pages and survives a restart. The events `web.crawl.completed`, `web.crawl.failed` and `web.crawl.cancelled` are sent to webhooks.',
    method: 'POST',
    path,
    body: object({
      ...request,
      maxPages: described(
        defaulted(integer({ min: 1, max: backgroundCrawl.pages, clamp: 'max' }), backgroundCrawl.defaultPages),
        'Maximum number of pages to read. Default: 100; at most 200.',
      ),
      maxDepth: described(
        defaulted(integer({ min: 0, max: backgroundCrawl.depth, clamp: 'max' }), backgroundCrawl.defaultDepth),
        'Maximum number of links between a seed and a page. Default: 3; at most 10.',
      ),
    }),
    answer: isJsonResponse(crawl, { status: 202 }),
    errors: ['invalid_url', 'unsafe_url', 'rate_limit_exceeded'],
    refusals: { 'seeds[]': 'invalid_url' },
  },
  list: {
    ...ofWeb,
    summary: 'List crawls',
    description: 'Newest first. A crawl is kept for 7 days after it has ended.',
    method: 'GET',
    path,
    access: reads,
    query: { ...cursorQuery, status: optional(status) },
    answer: isJsonResponse(cursorPage(crawl)),
  },
  get: {
    ...ofWeb,
    summary: 'Retrieve a crawl',
    description: 'Returns the status and the counts of a crawl. Poll while it is `crawling`.',
    method: 'GET',
    path: `${path}/{crawl_id}`,
    access: reads,
    answer: isJsonResponse(crawl),
  },
  cancel: {
    ...ofWeb,
    summary: 'Cancel a crawl',
    description:
      'Stops the crawl. Pages that it has indexed remain in the index. A crawl that has already ended is returned unchanged.',
    method: 'POST',
    path: `${path}/{crawl_id}/cancel`,
    access: secretKeyOrDashboard('admin'),
    answer: isJsonResponse(crawl),
    event: 'cancel',
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly webCrawls: typeof webCrawls
  }
}
