import type { CDPSession, Frame, Page } from 'playwright'

/** A picture of a page. */
export interface PageFrame {
  /** Sequence number from 1. */
  readonly number: number
  /** JPEG in base64. */
  readonly image: string
  /** Size of the viewport in CSS pixels. */
  readonly width: number
  readonly height: number
  readonly url: string
  /** ms since the epoch. */
  readonly taken_at_ms: number
}

/** Interval between two frames, in ms. */
const paceMs = 120
/** Time in ms without a picture after which the page counts as static. */
const quietMs = 2 * paceMs
/** Maximum size of pictures, in pixels. */
const maxPixels = { width: 1_280, height: 1_280 } as const
const quality = 60
/** Maximum length of a picture in base64; one of `maxPixels` at this quality is far smaller. */
const maxImageLength = 2_000_000
/** Number of unacknowledged pictures at which the browser skips further ones, and does not send them later. */
const maxUnacknowledged = 2
/** Time in ms without a reader after which no pictures are taken. */
const idleMs = 5_000
/** Time in ms after which the first picture is taken if the page has not changed until then. */
const firstMs = 1_000
const maxUrlLength = 2_048

/** Pictures of a page for its viewers. Only the newest is kept, and none is taken while there is no reader. */
export class PageFrames {
  readonly #page: Page
  readonly #now: () => number
  readonly #waiting = new Set<(frame: PageFrame | null) => void>()
  #session: Promise<CDPSession | null> | null = null
  #newest: PageFrame | null = null
  #timers: { idle?: NodeJS.Timeout; still?: NodeJS.Timeout } = {}
  /** Whether the page may have changed since its newest picture without another one being sent. */
  #isBehind = false
  #isClosed = false

  constructor(page: Page, now: () => number) {
    this.#page = page
    this.#now = now
  }

  /** Returns the newest frame after number `after`; null when there is none within `ms`, or the stream has ended. */
  async next(after: number, ms: number): Promise<PageFrame | null> {
    if (this.#isClosed) return null
    this.#begin()
    if (this.#newest !== null && this.#newest.number > after) return this.#newest
    return new Promise((resolve) => {
      const done = (frame: PageFrame | null): void => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        resolve(frame)
      }
      const timer = setTimeout(() => done(null), ms)
      this.#waiting.add(done)
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const done of [...this.#waiting]) done(null)
    await this.#stop()
    this.#newest = null
  }

  /** Starts taking pictures, until there has been no reader for `idleMs`. */
  #begin(): void {
    clearTimeout(this.#timers.idle)
    this.#timers.idle = setTimeout(() => void this.#stop(), idleMs)
    this.#session ??= this.#started().catch(() => null)
  }

  async #started(): Promise<CDPSession | null> {
    const session = await this.#page.context().newCDPSession(this.#page)
    if (this.#isClosed) return null
    let unheard = 0
    session.on('Page.screencastFrame', ({ data, sessionId, metadata }) => {
      this.#take(data, { width: metadata.deviceWidth, height: metadata.deviceHeight })
      unheard += 1
      if (unheard >= maxUnacknowledged) this.#isBehind = true
      // the browser sends the next picture after this acknowledgement, which sets the pace
      setTimeout(() => {
        session.send('Page.screencastFrameAck', { sessionId }).catch(() => {})
        unheard -= 1
        if (this.#isBehind) this.#takeStillIn(quietMs)
      }, paceMs).unref()
    })
    this.#page.on('framenavigated', this.#onNavigated)
    const { width: maxWidth, height: maxHeight } = maxPixels
    await session.send('Page.startScreencast', { format: 'jpeg', quality, maxWidth, maxHeight })
    this.#takeStillIn(firstMs)
    return session
  }

  /** Pictures of the previous page may arrive after a navigation and replace the new ones, so another is taken. */
  readonly #onNavigated = (frame: Frame): void => {
    if (frame !== this.#page.mainFrame()) return
    this.#isBehind = true
    this.#takeStillIn(quietMs)
  }

  async #stop(): Promise<void> {
    for (const timer of Object.values(this.#timers)) clearTimeout(timer)
    this.#page.off('framenavigated', this.#onNavigated)
    const session = this.#session
    this.#session = null
    // a reader that returns later should see the page as it is then
    this.#newest = null
    const opened = await session
    await opened?.detach().catch(() => {})
  }

  #takeStillIn(ms: number): void {
    clearTimeout(this.#timers.still)
    if (this.#session !== null) this.#timers.still = setTimeout(() => void this.#takeStill(), ms)
  }

  /** Takes a picture of a static page: the screencast only sends repaints, and skips some under backpressure. */
  async #takeStill(): Promise<void> {
    if (this.#isClosed || (this.#newest !== null && !this.#isBehind)) return
    this.#isBehind = false
    const size = this.#page.viewportSize()
    const before = this.#taken
    const picture = await this.#page
      .screenshot({ type: 'jpeg', quality, scale: 'css', timeout: idleMs })
      .catch(() => null)
    if (picture !== null && size !== null && this.#taken === before) this.#take(picture.toString('base64'), size)
  }

  #take(image: string, { width, height }: { readonly width: number; readonly height: number }): void {
    if (this.#isClosed || this.#session === null || image.length > maxImageLength) return
    const url = this.#page.url().slice(0, maxUrlLength)
    const number = ++this.#taken
    const frame = { number, image, width: Math.round(width), height: Math.round(height), url, taken_at_ms: this.#now() }
    this.#newest = frame
    for (const done of [...this.#waiting]) done(frame)
  }

  #taken = 0
}
