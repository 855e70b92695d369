import type { Browser, Page } from 'playwright'
import type { PageRenderer, RenderedPage, RenderRequest } from '#actors/capability/page-renderer.ts'
import { GuardedProxy } from '#outgoing/guarded-proxy.ts'
import { newId } from '#runtime/index.ts'
import { WorkTime } from '#runtime/internal.ts'
import { isErrorCode, ServiceError } from '#specs/errors/errors.ts'
import { contextProxy } from '../engine/browser-flags.ts'
import { startBrowser } from '../engine/browser-process.ts'
import { flatHtml, flatTree } from '../engine/flat-tree.ts'
import { evaluateInSite } from '../engine/frame-worlds.ts'
import { maxWindows } from '../engine/tabs.ts'
import type { VisitParts } from '../engine/visit.ts'
import { VisitFailed } from '../engine/visit-failed.ts'
import type { BrowserPool } from '../jobs/browser-pool.ts'
import { RequestFilter } from './request-filter.ts'

export interface RenderParts extends Omit<VisitParts, 'now'> {
  /** The pool of browser jobs. */
  readonly pool: BrowserPool
}

/** Maximum time in ms to wait for a browser. */
const waitMs = 30_000
/** Maximum time in ms for which requests of the page are waited for after it has loaded, and minimum time to read it. */
const quietMs = 3_000
const readMs = 1_500
/** Maximum number of bytes that a rendered page may load. */
const maxLoadedBytes = 50 * 1024 * 1024

/** Renders pages with the browsers of the pool, one browser for each page. */
export const rendererOf = (parts: RenderParts): PageRenderer => ({
  render: async (request) => {
    const isLate = AbortSignal.timeout(waitMs)
    const late = new AbortController()
    isLate.addEventListener('abort', () => late.abort(queueFull()), { once: true })
    const { owner, signal } = request
    return parts.pool.run(
      `${owner.project}/${owner.tenant ?? ''}`,
      () => renderPage(parts, request),
      AbortSignal.any([signal, late.signal]),
    )
  },
})

const queueFull = () =>
  new ServiceError('browser_queue_full', { message: 'All browsers of this server are in use. Try again later.' })

const renderPage = async (parts: RenderParts, request: RenderRequest): Promise<RenderedPage> => {
  const proxy = await GuardedProxy.open({ guard: parts.guard, maxBytes: maxLoadedBytes })
  const early = Promise.withResolvers<never>()
  early.promise.catch(() => {})
  const fail = (code: string, message: string) => early.reject(new VisitFailed(code, message))
  request.signal.addEventListener('abort', () => fail('cancelled', 'The request was ended.'), { once: true })
  try {
    request.signal.throwIfAborted()
    const running = await startBrowser({
      path: await parts.path(),
      mark: newId('req'),
      maxMemoryBytes: parts.limits.maxMemoryBytes,
      onTooLarge: () => fail('response_too_large', 'The page exceeded the memory limit of a browser.'),
    })
    running.browser.on('disconnected', () => fail('fetch_failed', 'The browser stopped before the page was read.'))
    const time = new WorkTime(request.timeoutMs, () => fail('fetch_timeout', 'The page was not rendered in time.'))
    try {
      const rendering = new Rendering(request, { proxy, time, fail, refuse: early.reject })
      return await Promise.race([rendering.run(running.browser), early.promise])
    } finally {
      time.end()
      await running.close()
    }
  } catch (error) {
    request.signal.throwIfAborted()
    throw refusalOf(error, request.url)
  } finally {
    await proxy.close()
  }
}

/** Converts a failure to an error of `web.fetch`. Errors from Playwright are due to the page or the browser. */
const refusalOf = (error: unknown, url: string): ServiceError => {
  if (error instanceof ServiceError) return error
  const about = { param: 'url', extra: { url }, cause: error }
  if (error instanceof VisitFailed && isErrorCode(error.code))
    return new ServiceError(error.code, { ...about, message: error.message })
  return new ServiceError('fetch_failed', { ...about, message: 'The page could not be rendered.' })
}

interface RenderingParts {
  readonly proxy: GuardedProxy
  readonly time: WorkTime
  readonly fail: (code: string, message: string) => void
  readonly refuse: (refusal: ServiceError) => void
}

class Rendering {
  readonly #request: RenderRequest
  readonly #parts: RenderingParts

  constructor(request: RenderRequest, parts: RenderingParts) {
    this.#request = request
    this.#parts = parts
  }

  async run(browser: Browser): Promise<RenderedPage> {
    const { proxy, fail, refuse } = this.#parts
    const context = await browser.newContext({
      proxy: contextProxy(proxy.url),
      acceptDownloads: false,
      serviceWorkers: 'block',
      userAgent: agentOf(browser, this.#request.userAgent),
    })
    await new RequestFilter(this.#request, refuse).install(context)
    const page = await context.newPage()
    page.on('crash', () => fail('fetch_failed', 'The page crashed while it was rendered.'))
    let windows = 0
    context.on('page', (other) => {
      windows += 1
      if (windows > maxWindows) fail('fetch_failed', 'The page opens too many windows.')
      void other.close().catch(() => {})
    })
    try {
      await this.#load(page)
      return { finalUrl: page.url(), html: await this.#read(page) }
    } catch (error) {
      throw this.#refused(page) ?? error
    }
  }

  async #load(page: Page): Promise<void> {
    const { url, allowed } = this.#request
    const response = await page.goto(url, { waitUntil: 'domcontentloaded', timeout: 0 })
    // redirects are followed by the browser, before they can be intercepted
    for (let from = response?.request() ?? null; from !== null; from = from.redirectedFrom())
      await allowed(new URL(from.url()))
    const status = response?.status() ?? 200
    if (status >= 400)
      throw new ServiceError('fetch_failed', {
        ...{ param: 'url', extra: { url, statusCode: status } },
        message: `The page responded with status ${status}.`,
      })
    await page.waitForLoadState('load', { timeout: this.#left(readMs) }).catch(() => {})
    await page.waitForLoadState('networkidle', { timeout: Math.min(quietMs, this.#left(readMs)) }).catch(() => {})
  }

  #left(kept: number): number {
    return Math.max(1, this.#parts.time.leftMs - kept)
  }

  async #read(page: Page): Promise<string> {
    const max = this.#request.maxLength
    const texts = await evaluateInSite(page, readerOf(max), this.#left(0))
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    if (texts[0]?.startsWith('1') || length > max)
      throw new ServiceError('response_too_large', { param: 'url', extra: { url: page.url(), maxBytes: max } })
    return texts.map((text) => text.slice(1)).join('\n')
  }

  #refused(page: Page): VisitFailed | null {
    const refusal = this.#parts.proxy.refusalOf(page.url()) ?? this.#parts.proxy.refusalOf(this.#request.url)
    return refusal === undefined ? null : new VisitFailed(refusal, 'The page could not be loaded.')
  }
}

/** The user agent of the browser, and ours after it. */
const agentOf = (browser: Browser, own: string): string => {
  const [major = '0'] = browser.version().split('.')
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36 ${own}`
}

/** Runs in the page: `0` and the HTML, or `1` if it is too long. */
const readerOf = (max: number): string => `(() => {
  ${flatTree}
  ${flatHtml}
  const { html, isCut } = shownHtml(${max})
  return (isCut ? '1' : '0') + html
})()`
