import type { BrowserContext, Page, Request } from 'playwright'
import type { BrowserAction, BrowserRequest, BrowserStep } from '#machines/browser-job/browser-job.ts'
import { GuardedProxy } from '#outgoing/guarded-proxy.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { handOverTimeoutMs } from '#specs/resources/web/browse-limits.ts'
import { contextProxy } from './browser-flags.ts'
import { type RunningBrowser, startBrowser } from './browser-process.ts'
import { type HandedOverPage, LivePage } from './live/live-page.ts'
import { emptySecretFields, maskSecretFields } from './masked-fields.ts'
import { act, settled } from './page-actions.ts'
import { isAnswering } from './page-answers.ts'
import { maxOrigins, profileStateOf } from './profile-state.ts'
import { type PageRead, readPage } from './read-page.ts'
import type { ProfileState } from './schema.ts'
import { type AccessibilitySnapshot, snapshotOf } from './snapshot.ts'
import { Tabs } from './tabs.ts'
import { VisitFailed } from './visit-failed.ts'
import { answerMs, VisitLimit } from './visit-limit.ts'

export interface VisitParts {
  readonly guard: Pick<SsrfGuard, 'check' | 'connect'>
  /** @throws {VisitFailed} `browser_unavailable` */
  readonly path: () => Promise<string>
  readonly limits: VisitLimits
  /** ms since the epoch. */
  readonly now: () => number
}

interface VisitLimits {
  readonly maxMemoryBytes: number
  /** Maximum number of bytes received over all connections. */
  readonly maxBytes: number
}

/** A visit and its callbacks. */
export interface VisitRequest {
  /** Id of the job. */
  readonly id: string
  readonly request: BrowserRequest
  /** Initial cookies and storage. */
  readonly state: ProfileState | null
  readonly signal: AbortSignal
  /** Called before the first request that may change something elsewhere is sent; false prevents it from being sent. */
  readonly submitting: () => Promise<boolean>
  /** Called after each step; `picture` is a WebP image. Never rejects. */
  readonly stepped: (step: Omit<BrowserStep, 'picture'>, picture: Buffer | null) => Promise<void>
  /**
   * Waits for a person, who uses the page in the meantime. Resolves with the person's note; rejects when `signal`
   * aborts.
   *
   * @throws {VisitFailed} when it cannot wait
   */
  readonly handOver: (wait: PersonWait) => Promise<string | null>
}

/** A page that is handed over to a person until they continue the job. */
export interface PersonWait {
  /** Instructions for the person. */
  readonly message: string | null
  readonly timeoutMs: number
  readonly page: HandedOverPage
  /** Aborts when the visit and its browser end. */
  readonly signal: AbortSignal
}

/** Result of a visit. */
export interface Visited {
  readonly read: PageRead
  /** WebP. */
  readonly screenshot: Buffer | null
  readonly snapshot: AccessibilitySnapshot | null
  /** Cookies and storage at the end, if they are to be saved. */
  readonly state: ProfileState | null
}

/** Outcome of a visit, and the peak memory use of its browser. */
export type VisitEnd =
  | { readonly visited: Visited; readonly peakBytes: number | null }
  | { readonly failed: VisitFailed; readonly peakBytes: number | null }

const pictureMs = 5_000
/** 4 MiB. */
const maxScreenshotBytes = 4 * 1024 * 1024
const qualities = [85, 60, 30, 10]
const stepQuality = 40

/** Opens, acts on and reads a page in a separate browser, which has ended when this resolves. Never rejects. */
export const visit = async (parts: VisitParts, wanted: VisitRequest): Promise<VisitEnd> => {
  const proxy = await GuardedProxy.open({ guard: parts.guard, maxBytes: parts.limits.maxBytes })
  const early = Promise.withResolvers<never>()
  early.promise.catch(() => {})
  const fail = (code: string, message: string) => early.reject(new VisitFailed(code, message))
  let visiting: Visit | null = null
  const limit = new VisitLimit(wanted.request, {
    isAnswering: async () => visiting !== null && (await visiting.isAnswering(answerMs)),
    over: (message) => fail('fetch_timeout', message),
  })
  const over = new AbortController()
  wanted.signal.addEventListener('abort', () => fail('cancelled', 'The job was ended.'), { once: true })
  let peakBytes: number | null = null
  try {
    const visited = await browsed()
    return { visited, peakBytes }
  } catch (error) {
    return { failed: failureFor(error), peakBytes }
  } finally {
    over.abort()
    limit.end()
    await proxy.close()
  }

  async function browsed(): Promise<Visited> {
    wanted.signal.throwIfAborted()
    const running = await startBrowser({
      path: await parts.path(),
      mark: wanted.id,
      maxMemoryBytes: parts.limits.maxMemoryBytes,
      onTooLarge: () => fail('browser_out_of_memory', 'The page exceeded the memory limit of a job.'),
    })
    running.browser.on('disconnected', () => fail('browser_crashed', 'The browser stopped before the job ended.'))
    try {
      const tooMany = () => fail('fetch_failed', 'The page opens too many windows.')
      const crashed = () => fail('browser_crashed', 'The page was closed before the job ended.')
      const seen = { ...wanted, tooMany, crashed, handOver: waited }
      visiting = new Visit(parts, seen, proxy)
      return await Promise.race([visiting.run(await opened(running, proxy, wanted)), early.promise])
    } finally {
      await running.close()
      peakBytes = running.peakBytes()
    }

    /** The time for which a person is waited for does not count towards the time of the job. */
    async function waited(wait: PersonWait): Promise<string | null> {
      limit.pause()
      try {
        return await wanted.handOver({ ...wait, signal: AbortSignal.any([wait.signal, over.signal]) })
      } finally {
        limit.resume()
      }
    }
  }
}

/** Opens the context of the visit's pages, whose requests go through the proxy. */
const opened = ({ browser }: RunningBrowser, proxy: GuardedProxy, { request, state }: VisitRequest) =>
  browser.newContext({
    viewport: { width: request.width, height: request.height },
    proxy: contextProxy(proxy.url),
    acceptDownloads: false,
    serviceWorkers: 'block',
    ...(state !== null && { storageState: state }),
  })

/** Returns the failure for an error. Errors from Playwright are due to the page or the browser. */
const failureFor = (error: unknown): VisitFailed =>
  error instanceof VisitFailed
    ? error
    : new VisitFailed('browser_crashed', 'The page or the browser was closed before the job ended.', error)

/** A visit, with callbacks for a page that opens too many windows or crashes. */
type WatchedVisit = VisitRequest & { readonly tooMany: () => void; readonly crashed: () => void }

class Visit {
  readonly #parts: VisitParts
  readonly #wanted: WatchedVisit
  readonly #proxy: GuardedProxy
  /** Whether requests that may change something are allowed. Decided once per visit. */
  #submits: Promise<boolean> | null = null
  /** The last failed navigation of the page itself. */
  #failed: Request | null = null
  #tabs: Tabs | null = null
  /** Origins that were loaded, whose storage a profile can keep. */
  readonly #origins = new Set<string>()
  /** Whether a person has used the page. What they typed must not be stored. */
  #wasHandedOver = false

  constructor(parts: VisitParts, wanted: WatchedVisit, proxy: GuardedProxy) {
    this.#parts = parts
    this.#wanted = wanted
    this.#proxy = proxy
  }

  async run(context: BrowserContext): Promise<Visited> {
    const { request } = this.#wanted
    const tabs = await this.#open(context)
    await this.#step(tabs, { type: 'navigate' }, () => this.#navigate(tabs.current))
    for (const action of request.actions) {
      await this.#step(tabs, action, async () => {
        const note = await this.#act(tabs, action)
        this.#requireReachable(tabs.current)
        return note
      })
    }
    await tabs.follow()
    const page = tabs.current
    this.#requireReachable(page)
    const { snapshot_tokens, profile } = request
    const isShown = !this.#wasHandedOver || (await emptySecretFields(page))
    const read = await readPage(page)
    return {
      read: { ...read, finalUrl: this.#shownUrl(read.finalUrl) },
      screenshot: request.screenshot && isShown ? await screenshotOf(page) : null,
      snapshot: snapshot_tokens === null || !isShown ? null : await snapshotOf(page, snapshot_tokens),
      state: profile?.save === true ? await profileStateOf(context, page, this.#origins) : null,
    }
  }

  /** @returns the person's note, if the action waited for a person. */
  async #act(tabs: Tabs, { type, ...action }: BrowserAction): Promise<string | null> {
    if (type !== 'handOver') {
      const work = (page: Page): Promise<void> => act(page, { type, ...action })
      await (type === 'click' || type === 'press' ? tabs.act(work) : work(tabs.current))
      return null
    }
    await tabs.follow()
    tabs.rest()
    const page = tabs.current
    this.#wasHandedOver = true
    const { message = null, timeoutMs = handOverTimeoutMs.default } = action
    const live = new LivePage(page, this.#parts.now)
    try {
      return await this.#wanted.handOver({ message, timeoutMs, page: live, signal: this.#wanted.signal })
    } finally {
      await live.close()
      await settled(page)
    }
  }

  /** Whether the current page's thread responds within `ms`. Never rejects. */
  isAnswering(ms: number): Promise<boolean> {
    return this.#tabs === null ? Promise.resolve(false) : isAnswering(this.#tabs.current, ms)
  }

  async #open(context: BrowserContext): Promise<Tabs> {
    await context.route(
      () => true,
      async (route) => {
        const isRead = ['GET', 'HEAD'].includes(route.request().method())
        if (isRead || (await this.#mayLeave())) await route.continue().catch(() => {})
        else await route.abort().catch(() => {})
      },
    )
    // messages that a page sends over a WebSocket may change something, like a form; those that it receives do not
    await context.routeWebSocket(
      () => true,
      (socket) => {
        const server = socket.connectToServer()
        let sent = Promise.resolve()
        socket.onMessage((message) => {
          sent = sent.then(async () => {
            if (await this.#mayLeave()) server.send(message)
          })
        })
      },
    )
    const tabs = await Tabs.open(context, {
      tooMany: () => this.#wanted.tooMany(),
      opened: (page) => this.#watch(page),
    })
    this.#tabs = tabs
    return tabs
  }

  #watch(page: Page): void {
    page.on('crash', () => this.#wanted.crashed())
    page.on('requestfailed', (request) => {
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) this.#failed = request
    })
    page.on('framenavigated', (frame) => {
      if (/^https?:/.test(frame.url()) && this.#origins.size <= maxOrigins)
        this.#origins.add(new URL(frame.url()).origin)
    })
  }

  #mayLeave(): Promise<boolean> {
    this.#submits ??= this.#wanted.submitting().catch(() => false)
    return this.#submits
  }

  #shownUrl(url: string): string {
    return this.#wasHandedOver ? withoutQuery(url) : url
  }

  async #navigate(page: Page): Promise<null> {
    const { url, wait_until, timeout_ms } = this.#wanted.request
    try {
      await page.goto(url, { waitUntil: wait_until, timeout: timeout_ms })
    } catch (error) {
      throw this.#failure(page, error)
    }
    return null
  }

  /** Fails if the page shows an error page of the browser because a navigation failed. @throws {VisitFailed} */
  #requireReachable(page: Page): void {
    if (page.url().startsWith('chrome-error:')) throw this.#failure(page, null)
  }

  #failure(page: Page, error: unknown): VisitFailed {
    const url = this.#failed?.url() ?? page.url()
    const refusal = this.#proxy.refusalOf(url)
    if (refusal !== undefined) return new VisitFailed(refusal, refusals[refusal], error)
    const message = error instanceof Error ? error.message : ''
    if (message.includes('Timeout')) return new VisitFailed('fetch_timeout', refusals.fetch_timeout, error)
    if (message.includes('Download is starting'))
      return new VisitFailed('unsupported_content_type', 'The URL is a file to download, not a page.', error)
    return new VisitFailed('fetch_failed', refusals.fetch_failed, error)
  }

  async #step(tabs: Tabs, { type, selector }: StepOf, work: () => Promise<string | null>): Promise<void> {
    const started_at_ms = this.#parts.now()
    const keep = async (status: BrowserStep['status'], sent: string | null = null): Promise<void> => {
      const page = tabs.current
      const duration_ms = this.#parts.now() - started_at_ms
      const isShown = !this.#wasHandedOver || (await maskSecretFields(page))
      const picture = isShown ? await pictureOf(page) : null
      const url = this.#shownUrl(page.url()).slice(0, 2048)
      const step = { type, selector: selector ?? null, status, url, started_at_ms, duration_ms }
      await this.#wanted.stepped(sent === null ? step : { ...step, note: sent }, picture)
    }
    let sent: string | null
    try {
      sent = await work()
    } catch (error) {
      await keep('failed')
      throw error
    }
    await keep('completed', sent)
  }
}

/** Removes the query of a URL: after a person's navigation, it may contain what they typed into a GET form. */
const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '')

type StepOf =
  | ({ readonly type: 'navigate' } & { readonly selector?: undefined })
  | Pick<BrowserAction, 'type' | 'selector'>

const refusals = {
  unsafe_url:
    'The page requested an address that is not public, and that ALLOWED_PRIVATE_CONTENT_HOSTS of this server does not list.',
  dns_unavailable: 'The host name of the page cannot be resolved.',
  fetch_timeout: 'The page did not load in time.',
  fetch_failed: 'The page could not be loaded.',
  response_too_large: 'The page exceeded the download limit of a job.',
} as const

const pictureOf = (page: Page): Promise<Buffer | null> =>
  page.screenshot({ type: 'webp', quality: stepQuality, timeout: pictureMs, scale: 'css' }).catch(() => null)

/** Returns a screenshot in the best quality that fits the size limit; null when none does. */
const screenshotOf = async (page: Page): Promise<Buffer | null> => {
  for (const quality of qualities) {
    const picture = await page.screenshot({ type: 'webp', quality, timeout: pictureMs, scale: 'css' }).catch(() => null)
    if (picture === null || picture.length <= maxScreenshotBytes) return picture
  }
  return null
}
