import type { CDPSession, Frame, Page } from 'playwright'

/** A page as it looks. */
export interface PageFrame {
  /** From 1, rising. */
  readonly number: number
  /** JPEG in base64. */
  readonly image: string
  /** Of the window, in CSS pixels. */
  readonly width: number
  readonly height: number
  readonly url: string
  /** ms since the epoch. */
  readonly taken_at_ms: number
}

/** Between two frames, in ms. */
const paceMs = 120
/** Without a picture for so long, the page stands still, in ms. */
const quietMs = 2 * paceMs
/** Pictures are not larger than this, in pixels. */
const mostPixels = { width: 1_280, height: 1_280 } as const
const quality = 60
/** Of base64; a picture of `mostPixels` at this quality stays far below. */
const maxImageLength = 2_000_000
/** With so many pictures that it has heard nothing of, the browser takes no other, and does not make up for it. */
const mostUnheard = 2
/** Without a reader for so long no pictures are taken, in ms. */
const idleMs = 5_000
/** A page that does not change shows its first picture by itself after this time at the latest, in ms. */
const firstMs = 1_000
const maxUrlLength = 2_048

/** Pictures of a page for those who look at it: the newest alone is kept, and none is taken when it has no reader. */
export class PageFrames {
  readonly #page: Page
  readonly #now: () => number
  readonly #waiting = new Set<(frame: PageFrame | null) => void>()
  #session: Promise<CDPSession | null> | null = null
  #newest: PageFrame | null = null
  #timers: { idle?: NodeJS.Timeout; still?: NodeJS.Timeout } = {}
  /** Whether the page may look other than its newest picture, and no other may come. */
  #isBehind = false
  #isClosed = false

  constructor(page: Page, now: () => number) {
    this.#page = page
    this.#now = now
  }

  /** Readers that wait for a frame. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** The newest frame after number `after`; null when there is none within `ms`, or no more at all. */
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

  /** Pictures are taken from now on, until there was no reader for a while. */
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
      if (unheard >= mostUnheard) this.#isBehind = true
      // the browser takes the next picture when it hears of this: that is the pace
      setTimeout(() => {
        session.send('Page.screencastFrameAck', { sessionId }).catch(() => {})
        unheard -= 1
        if (this.#isBehind) this.#takeStillIn(quietMs)
      }, paceMs).unref()
    })
    this.#page.on('framenavigated', this.#onNavigated)
    const { width: maxWidth, height: maxHeight } = mostPixels
    await session.send('Page.startScreencast', { format: 'jpeg', quality, maxWidth, maxHeight })
    this.#takeStillIn(firstMs)
    return session
  }

  /** The pictures of the page that was left may come after the address of this one, and take the place of its own. */
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
    // a reader who comes back sees the page as it is then
    this.#newest = null
    const opened = await session
    await opened?.detach().catch(() => {})
  }

  #takeStillIn(ms: number): void {
    clearTimeout(this.#timers.still)
    if (this.#session !== null) this.#timers.still = setTimeout(() => void this.#takeStill(), ms)
  }

  /** What does not move is not painted, and so not shown by itself; neither is what was painted while pictures were unheard of. */
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
