import { setup } from 'xstate'
import type { Status } from '#specs/statuses.ts'
import { vocabulary } from '../declared.ts'
import { type At, assignsOf, type Shown } from '../index.ts'

/** How long a crawl can be read after it has ended, in ms. */
export const crawlRetentionMs = 7 * 24 * 60 * 60 * 1000

/** Request of a crawl. */
type CrawlRequest = {
  readonly seeds: readonly string[]
  readonly maxPages: number
  readonly maxDepth: number
  readonly sameOrigin: boolean
  readonly sitemap: boolean
  /** In seconds. */
  readonly maxAge: number
  /** Whether pages are rendered; absent: they are not. */
  readonly render?: boolean | 'auto'
}

/** A page that the crawl reached. */
type CrawlPage = {
  readonly url: string
  readonly status: 'indexed' | 'skipped' | 'failed'
  readonly reason?: string
  readonly canonicalUrl?: string
  readonly change?: 'new' | 'changed' | 'unchanged'
  readonly depth: number
}

/** A URL that is still to be read. */
type CrawlWaiting = {
  readonly url: string
  readonly depth: number
  /** Set once the page was postponed, because its site requested a pause. Times in ms since the epoch. */
  readonly postponed?: {
    readonly reason: 'site_busy' | 'robots_unreachable'
    readonly tries: number
    readonly since_ms: number
    readonly until_ms: number
  }
}

/** Progress of a crawl. */
export type CrawlProgress = {
  readonly waiting: readonly CrawlWaiting[]
  readonly pages: readonly CrawlPage[]
  /** Number of URLs that were discovered. */
  readonly discovered: number
}

/** A crawl's durable context. */
export type CrawlContext = {
  readonly crawl_id: string
  readonly request: CrawlRequest
  /** Null before the first batch. */
  readonly progress: CrawlProgress | null
  readonly error: { readonly code: string; readonly message: string } | null
  /** ms since the epoch. */
  readonly ended_at_ms: number | null
  /** How long the crawl waits until a postponed page may be requested. */
  readonly wait_ms: number
}

/** Input of a new crawl. */
export type CrawlInput = Pick<CrawlContext, 'crawl_id' | 'request'>

/** All events of a crawl. Times in ms since the epoch. */
export type CrawlEvent =
  /** A batch of pages was read and stored. */
  | { readonly type: 'advanced'; readonly progress: CrawlProgress; readonly at: number }
  | {
      readonly type: 'crawl_failed'
      readonly error: { readonly code: string; readonly message: string }
      readonly at: number
    }
  | { readonly type: 'cancel'; readonly at: number }
  | { readonly type: 'delete' }

type On<Type extends CrawlEvent['type']> = At<CrawlContext, Extract<CrawlEvent, { readonly type: Type }>>

const assigns = assignsOf<CrawlContext, CrawlEvent>()

const keepProgress = assigns(({ event: { progress } }: On<'advanced'>) => ({ progress }))

/** Time in ms until the first of the waiting pages may be requested; 0 when one may be now. */
const waitOf = ({ progress: { waiting }, at }: Extract<CrawlEvent, { readonly type: 'advanced' }>): number =>
  Math.max(0, Math.min(...waiting.map(({ postponed }) => postponed?.until_ms ?? at)) - at)

const keepWait = assigns(({ event }: On<'advanced'>) => ({ progress: event.progress, wait_ms: waitOf(event) }))

const keepLast = assigns(({ event: { progress, at } }: On<'advanced'>) => ({
  progress: { ...progress, waiting: [] },
  ended_at_ms: at,
}))

const keepFailure = assigns(({ event: { error, at } }: On<'crawl_failed'>) => ({ error, ended_at_ms: at }))

const keepEnd = assigns(({ context, event: { at } }: On<'cancel'>) => ({
  progress: context.progress === null ? null : { ...context.progress, waiting: [] },
  ended_at_ms: at,
}))

const counted = ({ crawl_id, progress }: CrawlContext) => {
  const count = (status: CrawlPage['status']): number =>
    (progress?.pages ?? []).filter((page) => page.status === status).length
  return { crawl_id, indexed: count('indexed'), skipped: count('skipped'), failed: count('failed') }
}

const notifies = (type: 'web.crawl.completed' | 'web.crawl.failed' | 'web.crawl.cancelled') =>
  ({
    type: 'notify',
    params: ({ context }: { context: CrawlContext }) => ({
      event_type: type,
      data: { ...counted(context), ...(type === 'web.crawl.failed' && { error: context.error }) },
    }),
  }) as const

/**
 * A background crawl. It reads a batch of pages at a time (`crawling`). The results of a batch are durable before the
 * next one begins, and a batch that a crash interrupted is read again. While the sites of all remaining pages have requested
 * a pause, it waits (`waiting`).
 */
export const webCrawlMachine = setup({
  types: {
    context: {} as CrawlContext,
    input: {} as CrawlInput,
    events: {} as CrawlEvent,
    meta: {} as Shown<CrawlContext, Status<'web_crawl'>>,
  },
  actions: {
    ...vocabulary,
    crawlPages: (_: unknown, _params: { pages: number }) => {},
    eraseWebCrawl: (_: unknown, _params: Record<never, never>) => {},
  },
  guards: {
    isOver: ({ context, event }) =>
      event.type === 'advanced' &&
      (event.progress.waiting.length === 0 || event.progress.pages.length >= context.request.maxPages),
    mustWait: ({ event }) => event.type === 'advanced' && waitOf(event) > 0,
  },
  delays: { retention: crawlRetentionMs, pause: ({ context }) => context.wait_ms },
}).createMachine({
  id: 'web_crawl',
  context: ({ input }) => ({ ...input, progress: null, error: null, ended_at_ms: null, wait_ms: 0 }),
  initial: 'crawling',
  on: { delete: '.erasing' },
  states: {
    crawling: {
      meta: { status: 'crawling' },
      tags: 'busy',
      entry: { type: 'crawlPages', params: ({ context }) => ({ pages: context.progress?.pages.length ?? 0 }) },
      exit: { type: 'abort', params: { effects: ['crawlPages'] } },
      on: {
        advanced: [
          { guard: 'isOver', target: 'completed', actions: keepLast },
          { guard: 'mustWait', target: 'waiting', actions: keepWait },
          { target: 'crawling', reenter: true, actions: keepProgress },
        ],
        crawl_failed: { target: 'failed', actions: keepFailure },
        cancel: { target: 'cancelled', actions: keepEnd },
      },
    },
    waiting: {
      meta: { status: 'crawling' },
      after: { pause: 'crawling' },
      on: { cancel: { target: 'cancelled', actions: keepEnd } },
    },
    completed: {
      meta: { status: 'completed' },
      entry: notifies('web.crawl.completed'),
      after: { retention: 'erasing' },
    },
    failed: { meta: { status: 'failed' }, entry: notifies('web.crawl.failed'), after: { retention: 'erasing' } },
    cancelled: {
      meta: { status: 'cancelled' },
      entry: notifies('web.crawl.cancelled'),
      after: { retention: 'erasing' },
    },
    erasing: { type: 'final', entry: { type: 'eraseWebCrawl', params: {} } },
  },
})
