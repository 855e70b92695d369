import type { CrawlContext } from '#machines/web-crawl/web-crawl.ts'
import type { Status } from '#specs/statuses.ts'
import type { IndexState } from '../indexing/stored-index.ts'
import type { AuditActor } from '../records/audit-note.ts'
import type { AnyKind, Row, TypedKind } from '../records/schema.ts'

/** A passage of a page, with its vector in text form. */
export type StoredPassage = {
  readonly start: number
  readonly end: number
  readonly heading: string | null
  readonly vector: string | null
}

/** A page that a project has crawled; times in ms since the epoch. */
export type WebPageData = {
  /** Hash of its normalised URL. */
  readonly url_key: string
  /** Hash of its content. */
  readonly content_hash: string
  readonly url: string
  readonly canonical_url: string
  readonly title: string
  readonly description: string
  readonly language: string | null
  readonly text: string
  readonly passages: readonly StoredPassage[]
  /** Embedder of the vectors; null when there are none. */
  readonly embedder: string | null
  readonly links: readonly { readonly url: string; readonly nofollow: boolean }[]
  readonly follow: boolean
  readonly published_at: number | null
  readonly modified_at: number | null
  readonly retrieved_at: number
  /** When a crawl first did not find the page any more; absent while it is found. */
  readonly missing_at?: number
  readonly first_seen_at: number
  readonly changed_at: number
  /** Process that stored it, as in the announcement of the change; absent before 0.4. */
  readonly changed_by?: string
  readonly etag: string | null
  readonly last_modified: string | null
}

type TakedownStatus = 'pending' | 'removed' | 'rejected'

/** A request to remove pages. */
export type TakedownData = {
  readonly status: TakedownStatus
  readonly urls: readonly string[]
  readonly basis: 'copyright' | 'privacy' | 'legal' | 'robots' | 'other'
  readonly requester_name: string
  readonly requester_email: string
  readonly statement: string
  readonly removed_pages: number
  /** The decision to remove the pages is made, and they are being removed; the status is still `pending`. */
  readonly removing?: boolean
  readonly reason: string | null
  readonly decided_by: AuditActor | null
  readonly decided_at: number | null
}

/** A URL that was taken down, as its hash. */
export type BlockedUrlData = { readonly url_key: string; readonly takedown_id: string }

/** Crawled pages, which belong to their project. */
export const webPages: TypedKind<WebPageData> = {
  name: 'web_pages',
  unique: [{ fields: ['url_key'] }],
  filters: ['content_hash', 'changed_by'],
}

/** One row per project. */
export const webCorpora: TypedKind<IndexState> = { name: 'web_corpora' }

/** Takedown requests, which a person decides. */
export const webTakedowns: TypedKind<TakedownData> = { name: 'web_takedowns', filters: ['status'], outbox: true }

/** URLs that were taken down and are not stored again. */
export const webBlockedUrls: TypedKind<BlockedUrlData> = { name: 'web_blocked_urls', unique: [{ fields: ['url_key'] }] }

/** Data of a crawl's list row (`webCrawlDefinition.row`). */
export type WebCrawlRowData = Pick<CrawlContext, 'request' | 'progress' | 'error' | 'ended_at_ms'> & {
  readonly status: Status<'web_crawl'>
}

/** A crawl's list row. */
export type WebCrawlRow = Row<WebCrawlRowData>

/** List rows of background crawls. */
export const webCrawlRows: TypedKind<WebCrawlRowData> = { name: 'web_crawls', filters: ['status'] }

/** All kinds of this folder. */
export const webKinds: readonly AnyKind[] = [webPages, webCorpora, webTakedowns, webBlockedUrls, webCrawlRows]
