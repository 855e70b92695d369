import { aboveOf, type Embedder, pagePassages, textOfVector } from '#retrieval/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import { storeRefusalOf } from '#src/pages/cache-control.ts'
import { normalUrl } from '#src/pages/page-url.ts'
import { chunksOf } from '#src/parsing/documents/chunk.ts'
import type { PageReader, ReadPage } from '../extract/page-reader.ts'
import { PageGone, PagePostponed } from '../fetch/page-refusal.ts'
import type { StoredPassage } from '../kinds.ts'
import type { NewPage, PageStore, WebPageRow } from '../store/page-store.ts'
import type { HostTurns } from './host-turns.ts'
import { type PostponedPage, postponedBy, type Waiting } from './postponed-pages.ts'

export interface IndexingParts {
  readonly reader: PageReader
  readonly store: PageStore
  readonly embedder: Embedder | null
  /** Called with each page that was stored. */
  readonly indexed: (row: WebPageRow) => void
  /** Called with each page that was removed. */
  readonly removed: (row: WebPageRow) => void
  /** Makes the changes of a project's pages known to other processes. */
  readonly changed: (project: string) => Promise<void>
  readonly now: () => number
  /** Turns at the pages' hosts; absent: no wait. */
  readonly turns?: Pick<HostTurns, 'enter' | 'postpone'>
}

/** A crawled page as the API returns it. */
export type CrawledPage = ResultOf<'web.crawl'>['pages'][number]

/** Outcome of reading a page, and the URLs that it links to. */
export interface PageOutcome {
  readonly page: CrawledPage
  readonly links: readonly string[]
  /** The page as it was stored or removed; null when neither was done. */
  readonly row: WebPageRow | null
}

interface PageTask extends Waiting {
  readonly project: string
  /** The crawl. */
  readonly job: string
  /** In seconds. */
  readonly maxAge: number
  readonly render?: boolean | 'auto'
  /** `steady` time until which the page may wait for the crawl delay of its site; absent: without limit. */
  readonly paceUntil?: number
  readonly signal: AbortSignal
}

const maxBytes = 5 * 1024 * 1024
const timeoutMs = 10_000
/** Limits of what is stored of a page: characters of text, links and passages. */
const kept = { text: 100_000, links: 200, passages: 200 } as const

/** Minimum time in ms between two crawls that do not find a page, after which it is removed. */
const confirmedMs = 60 * 60_000

/** Stores a page that was read. Pages are stored in order, so that the first of two with the same content stays. */
export type Storing = () => Promise<PageOutcome | PostponedPage>

/** Reads a page and returns the function that stores it. Failures of the page are part of the outcome. */
export const readToIndex = async (parts: IndexingParts, task: PageTask): Promise<Storing> => {
  const { url, depth } = task
  try {
    return await readFor(parts, task)
  } catch (error) {
    const postponed = await postponedBy(parts, task, error)
    if (postponed !== null) return async () => postponed
    if (error instanceof PagePostponed) return done(without({ url, depth, status: 'skipped', reason: 'out_of_time' }))
    if (error instanceof PageGone) return () => gone(parts, task, error)
    if (!(error instanceof ServiceError)) throw error
    const isRefused = error.code === 'robots_denied' || error.code === 'unsupported_content_type'
    return done(without({ url, depth, status: isRefused ? 'skipped' : 'failed', reason: error.code }))
  }
}

const done =
  (outcome: PageOutcome): Storing =>
  async () =>
    outcome

const without = (page: CrawledPage, links: readonly string[] = []): PageOutcome => ({ page, links, row: null })

const readFor = async (parts: IndexingParts, task: PageTask): Promise<Storing> => {
  const { project, url, depth, maxAge, signal, render = false } = task
  const { store, reader, now } = parts
  if (await store.isBlocked(project, url)) return done(without({ url, depth, status: 'skipped', reason: 'taken_down' }))
  const known = await store.find(project, url)
  if (known !== null && now() - known.data.retrieved_at < maxAge * 1000) return done(unchanged(task, known))
  const validators = known === null ? undefined : { etag: known.data.etag, lastModified: known.data.last_modified }
  // a page that its scripts make may change while its HTML does not
  const hasValidators =
    render === false && validators !== undefined && (validators.etag ?? validators.lastModified) !== null
  const owner = { project, tenant: null }
  const request = { url, owner, render, maxBytes, timeoutMs, signal, ...(hasValidators && { known: validators }) }
  const read = await reader.read({ ...request, enter: (at) => entered(parts, task, at) })
  if (read.read === null && known !== null) return async () => unchanged(task, await store.touch(known))
  return () => indexed(parts, task, { ...read, known })
}

/** Waits for the turn of a URL's host. @throws {PagePostponed} when it does not come now */
const entered = async ({ turns }: IndexingParts, task: PageTask, at: URL): Promise<() => void> => {
  if (turns === undefined) return () => {}
  const { job, signal, paceUntil } = task
  const turn = await turns.enter(at, { job, signal, ...(paceUntil !== undefined && { until: paceUntil }) })
  if (turn.kind === 'taken') return turn.leave
  throw new PagePostponed(turn.kind === 'late' ? null : turn.ms)
}

const unchanged = ({ url, depth }: PageTask, { data }: WebPageRow): PageOutcome => {
  const canonical = data.canonical_url === url ? {} : { canonicalUrl: data.canonical_url }
  return without({ url, depth, status: 'indexed', change: 'unchanged', ...canonical }, followable(data))
}

const followable = ({ follow, links }: Pick<NewPage, 'follow' | 'links'>): readonly string[] =>
  follow ? links.flatMap((link) => (link.nofollow ? [] : [link.url])) : []

const indexed = async (
  parts: IndexingParts,
  { project, url, depth }: PageTask,
  { page, read, known }: ReadPage & { readonly known: WebPageRow | null },
): Promise<PageOutcome> => {
  if (read === null) return without({ url, depth, status: 'failed', reason: 'fetch_failed' })
  const robots = [...read.robots, ...(page.header('x-robots-tag') ?? '').toLowerCase().split(/[,\s]+/)]
  const follow = !robots.includes('nofollow') && !robots.includes('none')
  const links = followable({ follow, links: read.links })
  const skipped = (reason: string, more: Partial<CrawledPage> = {}): PageOutcome =>
    without({ url, depth, status: 'skipped', reason, ...more }, links)
  const isUnindexed = robots.includes('noindex') || robots.includes('none')
  const forbidden = isUnindexed ? 'noindex' : storeRefusalOf(page.header('cache-control'))
  if (forbidden !== null) return { ...skipped(forbidden), row: await removed(parts, known) }
  if (read.content.trim() === '') return skipped('no_text')
  const name = canonicalOf(read.canonical, page.finalUrl)
  // a page that has moved is not found at its earlier address any more
  const moved = name === url ? null : await removed(parts, known)
  const twin = (reason: string, more: Partial<CrawledPage> = {}) => ({ ...skipped(reason, more), row: moved })
  if (await parts.store.isBlocked(project, name)) return twin('taken_down')
  if ((await parts.store.twin(project, read.contentHash, name)) !== null) return twin('duplicate_content')
  const canonical = name === url ? {} : { canonicalUrl: name }
  const stored = name === url ? known : await parts.store.find(project, name)
  if (stored !== null && !mayReplace(stored, page.finalUrl)) return twin('duplicate', canonical)
  const isSame = stored?.data.content_hash === read.contentHash
  const row = await parts.store.save(project, name, await pageOf(parts, { page, read, name, follow }))
  if (typeof row === 'string') return twin(row)
  parts.indexed(row)
  const change = stored === null ? 'new' : isSame ? 'unchanged' : 'changed'
  return { page: { url, depth, status: 'indexed', change, ...canonical }, links, row }
}

/**
 * Removes a page that its site no longer has: at once if that is for good, otherwise at the second crawl that does not find
 * it, since a site may lack all of its pages while it is changed.
 */
const gone = async (
  parts: IndexingParts,
  { project, url, depth }: PageTask,
  { isForGood, finalUrl, code }: PageGone,
): Promise<PageOutcome> => {
  let row: WebPageRow | null = null
  for (const address of new Set([url, normalUrl(new URL(finalUrl))])) {
    const known = await parts.store.find(project, address)
    if (known === null) continue
    const missingMs = parts.now() - (known.data.missing_at ?? Number.POSITIVE_INFINITY)
    if (isForGood || missingMs >= confirmedMs) row = await removed(parts, known)
    else await parts.store.missed(known)
  }
  return { ...without({ url, depth, status: 'failed', reason: code }), row }
}

/** Removes a page that was stored before its site forbade it. */
const removed = async (parts: IndexingParts, known: WebPageRow | null): Promise<WebPageRow | null> => {
  if (known === null) return null
  await parts.store.remove(known)
  parts.removed(known)
  return known
}

/**
 * Whether a page may replace the stored one of the same canonical URL: the canonical page itself may always, and a page
 * that names it as canonical only replaces what it stored itself, as long as the canonical page has not been read.
 */
const mayReplace = ({ data }: WebPageRow, finalUrl: string): boolean => {
  const url = normalUrl(new URL(finalUrl))
  return url === data.canonical_url || url === normalUrl(new URL(data.url))
}

/** Returns the canonical URL of a page. A page may only name a canonical URL on its own host. */
const canonicalOf = (canonical: string | null, finalUrl: string): string => {
  const final = new URL(finalUrl)
  const named = (canonical === null ? null : URL.parse(canonical)) ?? final
  return normalUrl(named.host === final.host ? named : final)
}

const pageOf = async (
  { embedder }: IndexingParts,
  {
    page,
    read,
    name,
    follow,
  }: {
    readonly page: ReadPage['page']
    readonly read: NonNullable<ReadPage['read']>
    readonly name: string
    readonly follow: boolean
  },
): Promise<NewPage> => {
  const text = read.content.slice(0, kept.text)
  const chunks = pagePassages(chunksOf(text)).slice(0, kept.passages)
  const vectors = await vectorsOf(
    embedder,
    chunks.map((chunk, at) =>
      [aboveOf(read.title, chunk, at), text.slice(chunk.start, chunk.end)].filter(Boolean).join('\n'),
    ),
  )
  const passages: readonly StoredPassage[] = chunks.map(({ start, end, heading }, at) => ({
    ...{ start, end, heading, vector: vectors?.[at] ?? null },
  }))
  return {
    ...{
      url: page.finalUrl,
      canonical_url: name,
      title: read.title,
      description: read.description,
      text,
      passages,
      follow,
    },
    content_hash: read.contentHash,
    language: read.language,
    embedder: vectors === null ? null : (embedder?.id ?? null),
    links: read.links.slice(0, kept.links).map(({ url, nofollow }) => ({ url, nofollow })),
    published_at: msOf(read.publishedAt),
    modified_at: msOf(read.modifiedAt),
    retrieved_at: page.retrievedAt,
    etag: page.header('etag'),
    last_modified: page.header('last-modified'),
  }
}

/** Returns the vectors of texts; null without an embedder or when it fails: words find the page then. */
const vectorsOf = async (embedder: Embedder | null, texts: readonly string[]): Promise<readonly string[] | null> => {
  if (embedder === null || texts.length === 0) return null
  try {
    return (await embedder.embed(texts, 'passage')).map(textOfVector)
  } catch {
    return null
  }
}

const msOf = (time: string | null): number | null => (time === null ? null : Date.parse(time))
