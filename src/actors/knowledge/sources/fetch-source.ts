import { boundedBody } from '#outgoing/bounded-body.ts'
import { type SsrfGuard, SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { maxFileBytes } from '#specs/resources/knowledge/knowledge-limits.ts'
import { charsetOf, typeOfPage } from './content-type.ts'
import { SyncFailed } from './sync-failed.ts'

const timeoutMs = 30_000
const maxRedirects = 5

/** Response of a source's URL. */
export interface Fetched {
  readonly bytes: Uint8Array
  readonly mimeType: string
  /** Character encoding that its server declares; null for none. */
  readonly charset: string | null
}

/** Fetches a source's URL through the SSRF guard, which checks every redirect. @throws {SyncFailed} */
export const fetchSource = async (
  guard: Pick<SsrfGuard, 'request'>,
  url: string,
  outer: AbortSignal,
): Promise<Fetched> => {
  const limit = AbortSignal.timeout(timeoutMs)
  try {
    return await followed(guard, url, AbortSignal.any([outer, limit]))
  } catch (error) {
    if (error instanceof SyncFailed) throw error
    if (error instanceof SsrfRefused)
      throw new SyncFailed(
        'url_refused',
        `The address of the URL, or of one that it redirects to, is refused: ${error.message}.`,
        true,
      )
    throw new SyncFailed(
      'unreachable',
      limit.aborted ? 'The URL did not respond in time.' : 'The URL cannot be reached.',
    )
  }
}

const followed = async (guard: Pick<SsrfGuard, 'request'>, first: string, signal: AbortSignal): Promise<Fetched> => {
  let url = first
  for (let hops = 0; hops <= maxRedirects; hops += 1) {
    const headers = {
      accept: 'text/html, text/markdown, text/plain, application/pdf, application/json, text/csv, */*;q=0.1',
      'user-agent': 'Troupe-Knowledge/1',
    }
    const answer = await guard.request(url, {
      kind: 'knowledge_source',
      method: 'GET',
      headers,
      signal,
      maxRedirects: 0,
    })
    const { statusCode, headers: answered, body } = answer
    const { location } = answered
    if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') {
      body.destroy()
      const next = URL.parse(location, url)
      if (next === null) break
      url = next.href
      continue
    }
    if (statusCode !== 200) {
      body.destroy()
      const isLasting = statusCode >= 400 && statusCode < 500 && statusCode !== 408 && statusCode !== 429
      throw new SyncFailed('http_error', `The URL answered ${statusCode}.`, isLasting)
    }
    const { bytes, isCut } = await boundedBody(body, { maxBytes: maxFileBytes })
    if (isCut) throw new SyncFailed('too_large', 'The content is larger than 20 MB.', true)
    const declared = String(answered['content-type'] ?? '')
    const mimeType = typeOfPage(declared, new URL(url).pathname)
    if (mimeType === null) throw new SyncFailed('unsupported_type', 'Content of this type is not supported.', true)
    return { bytes, mimeType, charset: charsetOf(declared) }
  }
  throw new SyncFailed('redirect_refused', 'The URL redirects too often or without a target.', true)
}
