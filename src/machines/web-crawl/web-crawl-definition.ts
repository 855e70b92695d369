import type { MachineDefinition, RowOf, StoredState } from '../definition.ts'
import { webCrawlMachine } from './web-crawl.ts'

/** Statuses of a crawl in the API. */
export const webCrawlStatuses = ['crawling', 'completed', 'failed', 'cancelled'] as const

/** One of `webCrawlStatuses`. */
export type WebCrawlStatus = (typeof webCrawlStatuses)[number]

/** A crawl's status in the API; null once it is being removed. */
export const webCrawlStatus = ({ value }: Pick<StoredState, 'value'>): WebCrawlStatus | null =>
  value === 'waiting' ? 'crawling' : (webCrawlStatuses.find((status) => status === value) ?? null)

const webCrawlRow: RowOf = (state) => {
  const status = webCrawlStatus(state)
  if (status === null) return null
  const { request, progress, error, ended_at_ms } = state.context
  return {
    status,
    request: request ?? null,
    progress: progress ?? null,
    error: error ?? null,
    ended_at_ms: ended_at_ms ?? null,
  }
}

/** Background crawls, as defined in `specs/resources/web/web-crawls.ts`. */
export const webCrawlDefinition = {
  name: 'web_crawl',
  version: 2,
  idPrefix: 'crw',
  machine: webCrawlMachine,
  effects: { crawlPages: 'idempotent', eraseWebCrawl: 'idempotent' },
  row: webCrawlRow,
  gone: (state) => webCrawlStatus(state) === null,
  busy: ({ value }) => value === 'crawling',
  // version 1 did not wait for sites that request a pause
  migrations: { 1: ({ value, context }) => ({ value, context: { ...context, wait_ms: 0 } }) },
} satisfies MachineDefinition
