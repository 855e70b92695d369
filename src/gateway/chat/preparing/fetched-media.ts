import type { Route } from '#gateway/call/routes.ts'
import { dataUrlOf } from '#gateway/providers/image-format.ts'
import { usualImages } from '#gateway/providers/provider-format.ts'
import { providerFormats } from '#gateway/providers/provider-formats.ts'
import { ImageBytes } from '#gateway/vision/image-bytes.ts'
import { byUrl } from '#gateway/vision/image-sources.ts'
import type { RemoteImages } from '#gateway/vision/remote-image.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { arrayOf, isObject, objectOf, textOf } from '#outgoing/wire.ts'
import { providers } from '#specs/data/providers.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { ChatRunRequest } from '../chat-run-request.ts'

/** How this server fetches what requests name by URL, and which servers it knows to be private. */
export interface MediaParts {
  readonly guard: Pick<SsrfGuard, 'isPrivate'>
  readonly remote: RemoteImages
}

const publishedHosts: ReadonlyMap<string, string> = new Map(
  providers.flatMap(({ id, keyless, baseUrl }) => {
    const url = keyless === true ? null : URL.parse(baseUrl)
    return url === null ? [] : [[id, url.host] as const]
  }),
)

const inside = new WeakMap<Route, boolean>()

/**
 * Whether the server of a route may stand in the operator's network: one at a private address, or the operator's own at
 * another address than that of its provider. What it would fetch for a caller, the caller could not reach.
 */
const isInside = (route: Route, guard: MediaParts['guard']): boolean => {
  const known = inside.get(route)
  if (known !== undefined) return known
  const { source, provider, baseUrl } = route
  const isOwn = source === 'managed' && new URL(baseUrl).host !== publishedHosts.get(provider)
  const found = source !== 'simulated' && (isOwn || guard.isPrivate(baseUrl))
  inside.set(route, found)
  return found
}

/** Whether a request names by URL what the server of this route must not fetch. */
export const hasMediaToFetch = ({ body, textOnly }: ChatRunRequest, route: Route, { guard }: MediaParts): boolean =>
  textOnly !== true &&
  isInside(route, guard) &&
  arrayOf(body.messages).some((message) => arrayOf(objectOf(message).content).some((part) => urlOf(part) !== null))

/**
 * Returns the request with the bytes of its images in place of their URLs.
 *
 * @param run the call, after whose end nothing more is fetched.
 * @throws {ServiceError} `bad_request`, `unsupported_format`, `image_too_large`, `invalid_field`, each naming the part.
 */
export const withFetchedMedia = async (
  input: ChatRunRequest,
  route: Route,
  { remote, run }: Pick<MediaParts, 'remote'> & { readonly run: { readonly isOver: boolean } },
): Promise<ChatRunRequest> => {
  const limits = providerFormats[route.format].imageLimits ?? usualImages
  const reading = new ImageBytes(remote, new AbortController().signal)
  const fetched = async (part: unknown, at: string): Promise<unknown> => {
    const url = urlOf(part)
    if (url === null || run.isOver) return part
    if (objectOf(part).type !== 'image_url') throw invalidField(at, 'This server takes media only as data, not by URL.')
    return {
      ...objectOf(part),
      image_url: { ...objectOf(objectOf(part).image_url), url: dataUrlOf(await reading.read(byUrl(url, at), limits)) },
    }
  }
  const messages: unknown[] = []
  // sequential, so that the error names the first invalid image, and to bound memory use
  for (const [place, message] of arrayOf(input.body.messages).entries()) {
    const { content } = objectOf(message)
    if (!isObject(message) || !Array.isArray(content)) {
      messages.push(message)
      continue
    }
    const parts: unknown[] = []
    for (const [index, part] of content.entries())
      parts.push(await fetched(part, `messages[${place}].content[${index}].image_url.url`))
    messages.push({ ...message, content: parts })
  }
  const { history: _history, encoded: _encoded, ...rest } = input
  return { ...rest, body: { ...input.body, messages }, bytes: null }
}

/** The URL in a part that is not its data; null for none. Servers know parts such as `image_url`, `video_url` and `file`. */
const urlOf = (part: unknown): string | null => {
  if (!isObject(part)) return null
  const { type, file } = part
  const named = textOf(type)
  const given = named.endsWith('_url') ? part[named] : named === 'file' ? objectOf(file).file_url : undefined
  const url = typeof given === 'string' ? given : textOf(objectOf(given).url)
  return url === '' || /^data:/i.test(url) ? null : url
}
