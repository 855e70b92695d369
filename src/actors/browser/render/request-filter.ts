import type { BrowserContext, Request, Route } from 'playwright'
import type { RenderRequest } from '#actors/capability/page-renderer.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** Resources that a page can be read without. */
const unread = new Set(['image', 'media', 'font', 'ping', 'manifest', 'texttrack', 'eventsource'])
const calls = new Set(['xhr', 'fetch'])

/**
 * Decides about the requests of a rendered page. Documents must be allowed by robots.txt; nothing is submitted, so that
 * a reader changes nothing; and what does not contribute text is not loaded.
 */
export class RequestFilter {
  readonly #request: Pick<RenderRequest, 'url' | 'allowed'>
  readonly #refused: (refusal: ServiceError) => void

  /** @param refused called when a document of the page itself is refused */
  constructor(request: Pick<RenderRequest, 'url' | 'allowed'>, refused: (refusal: ServiceError) => void) {
    this.#request = request
    this.#refused = refused
  }

  async install(context: BrowserContext): Promise<void> {
    await context.route(
      () => true,
      async (route) => {
        const isAllowed = await this.#isAllowed(route)
        // the page stays as it is; after another error the browser would show an error page
        await (isAllowed ? route.continue() : route.abort('aborted')).catch(() => {})
      },
    )
    await context.routeWebSocket(
      () => true,
      (socket) => void socket.close(),
    )
  }

  async #isAllowed(route: Route): Promise<boolean> {
    const request = route.request()
    const type = request.resourceType()
    if (unread.has(type)) return false
    if (request.isNavigationRequest()) return this.#isDocument(request)
    return ['GET', 'HEAD'].includes(request.method()) || calls.has(type)
  }

  /** Frames of other hosts are not read, so they are not loaded either. */
  async #isDocument(request: Request): Promise<boolean> {
    const url = URL.parse(request.url())
    if (request.method() !== 'GET' || url === null) return false
    const isFrame = request.frame().parentFrame() !== null
    if (!/^https?:$/.test(url.protocol)) return isFrame
    if (isFrame && !isSameHost(url, new URL(this.#request.url))) return false
    try {
      await this.#request.allowed(url)
      return true
    } catch (error) {
      if (!isFrame && error instanceof ServiceError) this.#refused(error)
      return false
    }
  }
}

const isSameHost = (one: URL, other: URL): boolean =>
  one.hostname === other.hostname ||
  one.hostname.endsWith(`.${other.hostname}`) ||
  other.hostname.endsWith(`.${one.hostname}`)
