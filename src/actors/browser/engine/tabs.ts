import type { BrowserContext, Page } from 'playwright'

export interface TabsOptions {
  /** Called with each tab that is used. */
  readonly opened: (page: Page) => void
  /** Called when the page opens more windows than `maxWindows`. */
  readonly tooMany: () => void
}

/** Maximum number of windows that a page may try to open. */
export const maxWindows = 20
/** Maximum number of tabs that are open at a time. */
const maxTabs = 5
/** Time in ms in which a window appears that an action opens. */
const appearMs = 200
const loadMs = 10_000

/**
 * The tabs of a visit. A window that an action opens becomes the current tab; other windows are closed at once, such as
 * those that a page opens by itself. When the current tab is closed, the one before is current again.
 */
export class Tabs {
  readonly #options: TabsOptions
  /** The current one is last. */
  readonly #tabs: Page[]
  #next: Page | null = null
  #isActing = false
  #windows = 0

  private constructor(first: Page, options: TabsOptions) {
    this.#tabs = [first]
    this.#options = options
  }

  static async open(context: BrowserContext, options: TabsOptions): Promise<Tabs> {
    const first = await context.newPage()
    options.opened(first)
    const tabs = new Tabs(first, options)
    context.on('page', (page) => tabs.#opened(page))
    return tabs
  }

  /** The current tab; the first one when all are closed. */
  get current(): Page {
    const [first] = this.#tabs
    const open = this.#tabs.findLast((page) => !page.isClosed()) ?? first
    if (open === undefined) throw new Error('there is no tab')
    return open
  }

  /** Performs an action on the current tab, and follows to the window that it opens. */
  async act<T>(work: (page: Page) => Promise<T>): Promise<T> {
    await this.follow()
    this.#isActing = true
    try {
      const done = await work(this.current)
      if (this.#next === null) await new Promise((resolve) => setTimeout(resolve, appearMs))
      return done
    } finally {
      await this.follow()
    }
  }

  /** Ends that windows are followed, such as while a person uses the current tab. */
  rest(): void {
    this.#isActing = false
  }

  /** Makes the window that an action opened the current tab. */
  async follow(): Promise<void> {
    const next = this.#next
    this.#next = null
    if (next === null || next.isClosed()) return
    this.#tabs.push(next)
    await next.waitForLoadState('load', { timeout: loadMs }).catch(() => {})
  }

  #opened(page: Page): void {
    this.#windows += 1
    if (this.#windows > maxWindows) this.#options.tooMany()
    const open = this.#tabs.filter((each) => !each.isClosed()).length
    if (!this.#isActing || this.#next !== null || open >= maxTabs) {
      void page.close().catch(() => {})
      return
    }
    this.#next = page
    this.#options.opened(page)
  }
}
