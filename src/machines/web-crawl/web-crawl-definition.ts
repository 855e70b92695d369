import { statuses } from '#specs/statuses.ts'
import type { MachineDefinition, RowOf } from '../index.ts'
import { webCrawlMachine } from './web-crawl.ts'

const webCrawlRow: RowOf = ({ context: { request, progress, error, ended_at_ms } }, { status }) => ({
  status,
  request: request ?? null,
  progress: progress ?? null,
  error: error ?? null,
  ended_at_ms: ended_at_ms ?? null,
})

/** Background crawls, as defined in `specs/resources/web/web-crawls.ts`. */
export const webCrawlDefinition = {
  name: 'web_crawl',
  version: 2,
  idPrefix: 'crw',
  machine: webCrawlMachine,
  effects: { crawlPages: 'idempotent', eraseWebCrawl: 'idempotent' },
  statuses: statuses.web_crawl,
  row: webCrawlRow,
  // version 1 did not wait for sites that request a pause
  migrations: { 1: ({ value, context }) => ({ value, context: { ...context, wait_ms: 0 } }) },
} satisfies MachineDefinition
