import type { Dispatcher } from 'undici'
import { boundedBody } from '#outgoing/bounded-body.ts'
import { type SsrfGuard, SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { mimeTypeOf } from '#src/pages/mime-type.ts'
import { badImage, type RemoteSource } from './image-sources.ts'

/** The same for a URL of another scheme. */
const notAllowed =
  'is a URL that is not allowed: only public addresses by https, and hosts in ALLOWED_PRIVATE_CONTENT_HOSTS of this server, are'

export interface RemoteImages {
  readonly guard: Pick<SsrfGuard, 'check' | 'request'>
  /** Timeout in ms for one image, including all redirects. */
  readonly timeoutMs?: number
}

const defaultTimeoutMs = 15_000
const maxRedirects = 5

/** Rejects a URL that the SSRF guard does not allow, without a request. @throws {ServiceError} `bad_request` */
export const checkAddress = ({ guard }: RemoteImages, url: URL, at: string): void => {
  try {
    guard.check(url.href)
  } catch (error) {
    throw badImage(at, notAllowed, error)
  }
}

/**
 * Fetches an image for providers that do not fetch URLs themselves. All requests, including redirects, go through the
 * SSRF guard and use https only.
 *
 * @throws {ServiceError} `bad_request` when the image cannot be fetched, `image_too_large`; `cancelled` when the caller
 * disconnected.
 */
export const fetchImage = async (
  { guard, timeoutMs = defaultTimeoutMs }: RemoteImages,
  source: RemoteSource,
  options: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<{ readonly bytes: Buffer; readonly mimeType: string }> => {
  const { at } = source
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)])
  try {
    const answer = await follow(guard, source, signal)
    const { statusCode, headers, body } = answer
    if (statusCode !== 200) {
      body.destroy()
      throw badImage(at, `cannot be fetched: its server responded with ${statusCode}`)
    }
    const { maxBytes } = options
    const { bytes, isCut } = await boundedBody(body, { maxBytes })
    if (isCut) {
      const message = `${at} exceeds the limit of ${maxBytes} bytes.`
      throw new ServiceError('image_too_large', { param: at, message })
    }
    return { bytes, mimeType: mimeTypeOf(String(headers['content-type'] ?? ''))?.essence ?? '' }
  } catch (error) {
    if (error instanceof ServiceError) throw error
    if (options.signal.aborted) throw new ServiceError('cancelled', { cause: error })
    if (error instanceof SsrfRefused) throw badImage(at, notAllowed, error)
    throw badImage(at, signal.aborted ? 'cannot be fetched in time' : 'cannot be fetched', error)
  }
}

const follow = async (
  guard: RemoteImages['guard'],
  { url: first, at }: RemoteSource,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> => {
  let url = first
  for (let hops = 0; hops <= maxRedirects; hops += 1) {
    const headers = { accept: 'image/*' }
    const answer = await guard.request(url.href, { kind: 'image', method: 'GET', headers, signal, maxRedirects: 0 })
    const { location } = answer.headers
    if (answer.statusCode < 300 || answer.statusCode >= 400 || typeof location !== 'string') return answer
    answer.body.destroy()
    const next = URL.parse(location, url.href)
    if (next === null || (next.protocol !== 'https:' && next.protocol !== url.protocol)) {
      throw badImage(at, 'redirects to something other than an https:// URL')
    }
    url = next
  }
  throw badImage(at, 'redirects too often')
}
