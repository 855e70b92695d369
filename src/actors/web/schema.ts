import type { StoredRecord } from '#storage/ports.ts'
import type { WebCrawlRow } from './kinds.ts'

/** A crawl's list row, read back: the crawl machine alone writes them. */
export const crawlRow = (record: StoredRecord): WebCrawlRow => record as unknown as WebCrawlRow
