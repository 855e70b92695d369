import { contentHashOf } from '#outgoing/content-hash.ts'
import { acceptedCodings, unpackedBody } from '#outgoing/decompression.ts'
import { JsonDepth } from '#outgoing/json-depth.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { derivedId } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { BodyOf, ResultOf } from '#specs/index.ts'
import type { SearchEngineSettings } from '#specs/search-engines.ts'
import type { Json } from '#storage/index.ts'
import { sinceOf } from '../search/filters.ts'
import { isOfHost } from '../search/page-filter.ts'
import type { PageStore } from '../store/page-store.ts'
import { type ForeignResult, readResults } from './read-results.ts'

export interface ForeignSearchParts {
  readonly engines: readonly SearchEngineSettings[]
  /**
   * Guard for requests to engines. The operator configures engines, so they may be on private hosts that
   * ALLOWED_PRIVATE_HOSTS lists.
   */
  readonly guard: Pick<SsrfGuard, 'request'>
  readonly store: Pick<PageStore, 'isBlocked'>
  /** ms since the epoch. */
  readonly now: () => number
}

export type ForeignSearch = BodyOf<'web.search'> & { readonly project: string; readonly engine: string }

type Answer = ResultOf<'web.search'>

const maxBytes = 1024 * 1024
const maxDepth = 40
const waitMs = 15_000

/**
 * Searches with a third-party engine, which receives nothing but the query. The engine's order is kept, filters are
 * applied to its results, and pages that were taken down are removed. No page is read.
 *
 * @throws {ServiceError} `invalid_field` for an unknown engine or a filter that it does not support, `fetch_failed`,
 * `fetch_timeout`
 */
export const thirdPartySearch = async (parts: ForeignSearchParts, search: ForeignSearch): Promise<Answer> => {
  const { project, query, limit, domain } = search
  const engine = engineOf(parts, search)
  const since = sinceOf(search, parts.now())
  const found = await answerOf(parts, engine, search)
  const host = domain?.toLowerCase()
  const fitting = found.filter(
    ({ url, publishedAt }) =>
      (since === undefined || (publishedAt !== null && publishedAt >= since)) &&
      (host === undefined || isOfHost(url, host)),
  )
  const blocked = await Promise.all(fitting.map(({ url }) => parts.store.isBlocked(project, url)))
  const results = fitting
    .filter((_, index) => blocked[index] === false)
    .slice(0, limit)
    .map((result, place) => resultOf(result, place, parts.now()))
  return { query, count: results.length, searchEngine: engine.name, results, untrusted: true }
}

const engineOf = ({ engines }: ForeignSearchParts, { engine: name, language }: ForeignSearch): SearchEngineSettings => {
  const engine = engines.find((each) => each.name === name)
  if (engine === undefined) {
    const names = engines.map((each) => each.name).join(', ')
    const message =
      names === '' ? 'This server has no third-party search engines.' : `The engines of this server are ${names}.`
    throw invalidField('engine', message)
  }
  if (language !== undefined && !engine.url.includes('{language}'))
    throw invalidField('language', `The engine ${name} does not support language.`)
  return engine
}

const answerOf = async (
  { guard }: ForeignSearchParts,
  engine: SearchEngineSettings,
  search: ForeignSearch,
): Promise<readonly ForeignResult[]> => {
  const signal = AbortSignal.timeout(waitMs)
  try {
    const { statusCode, headers, body } = await guard.request(urlOf(engine, search), {
      kind: 'web_search',
      method: 'GET',
      headers: { accept: 'application/json', 'accept-encoding': acceptedCodings, ...engine.headers },
      signal,
      maxRedirects: 0,
    })
    const coding = headers['content-encoding']?.toString()
    const { bytes, isCut } = await unpackedBody(body, { coding, maxBytes })
    if (statusCode !== 200) throw failed(engine, `answered ${statusCode}`)
    const found = isCut || !new JsonDepth(maxDepth).push(bytes) ? null : readResults(jsonOf(bytes), engine.paths)
    if (found === null) throw failed(engine, 'returned something other than a list of results')
    return found
  } catch (error) {
    if (error instanceof ServiceError) throw error
    if (signal.aborted)
      throw new ServiceError('fetch_timeout', {
        message: `The engine ${engine.name} did not respond in time.`,
        cause: error,
      })
    throw failed(engine, 'cannot be reached', error)
  }
}

const urlOf = ({ url, max }: SearchEngineSettings, { query, limit, language }: ForeignSearch): string =>
  url
    .replaceAll('{limit}', String(Math.min(limit, max)))
    .replaceAll('{language}', () => encodeURIComponent(language ?? 'all'))
    .replaceAll('{query}', () => encodeURIComponent(query.toWellFormed()))

/** Returns the error for a failed search. It does not quote the response, which might contain the key. */
const failed = ({ name }: SearchEngineSettings, what: string, cause?: unknown): ServiceError =>
  new ServiceError('fetch_failed', { message: `The engine ${name} ${what}.`, ...(cause !== undefined && { cause }) })

const jsonOf = (bytes: Buffer): Json => {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return null
  }
}

const resultOf = (
  { url, title, snippet, publishedAt }: ForeignResult,
  place: number,
  now: number,
): Answer['results'][number] => {
  const retrievedAt = new Date(now).toISOString()
  const contentHash = contentHashOf(snippet)
  return {
    ...{ id: derivedId('wpg', now, url), title, url, canonicalUrl: url, snippet, contentHash, retrievedAt },
    // engines return an order, but no comparable score
    score: 1 / (place + 1),
    publishedAt: publishedAt === null ? null : new Date(publishedAt).toISOString(),
    evidence: { quote: snippet, contentHash, retrievedAt },
    corpus: 'engine',
  }
}
