import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright'
import { patience } from '../patience.ts'
import { World, type WorldOptions } from '../world.ts'
import { axeFaults } from './axe.ts'
import { openBrowser } from './open-browser.ts'

/** The heading of a page by its text, that of an actor by its id: an actor is headed by what it is about. */
export const headed = (page: Page, heading: string) =>
  /_[0-9a-z]{26}$/.test(heading)
    ? page.locator(`h1[title="${heading}"]`)
    : page.getByRole('heading', { name: heading, exact: true, level: 1 })

/** A test installation whose owner is signed in to its console in a browser. */
export class OpenConsole {
  readonly world: World
  readonly page: Page
  readonly project: string
  /** Messages of the browser: errors, warnings, content policy violations. */
  readonly complaints: string[] = []
  readonly #context: BrowserContext

  private constructor(world: World, opened: { context: BrowserContext; page: Page; project: string }) {
    this.world = world
    this.page = opened.page
    this.project = opened.project
    this.#context = opened.context
    this.page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.complaints.push(message.text())
    })
    this.page.on('pageerror', (error) => this.complaints.push(error.message))
  }

  static async start(options: WorldOptions = {}): Promise<OpenConsole> {
    const world = await World.start(options)
    const browser = await openBrowser()
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    context.setDefaultTimeout(patience.timeout)
    const page = await context.newPage()
    const { body } = await (await world.dashboard()).get('/api/projects?limit=100')
    const opened = new OpenConsole(world, { context, page, project: body.data[0].id })
    await opened.#signIn()
    return opened
  }

  async #signIn(): Promise<void> {
    await this.page.goto(this.world.url)
    await this.page.getByLabel('E-mail').fill(this.world.ownerEmail)
    await this.page.getByLabel('Password').fill(this.world.ownerPassword)
    await this.page.getByRole('button', { name: 'Sign in' }).click()
    await this.page.getByRole('heading', { name: 'Home' }).waitFor()
  }

  /** Opens a page of the project by its path in the URL. @param heading for an actor, its id */
  async show(place: string, heading: string): Promise<void> {
    await this.page.goto(`${this.world.url}/#/projects/${this.project}/${place}`)
    await headed(this.page, heading).waitFor()
  }

  /**
   * Faults of the current page in both themes on desktop and phone screens: axe violations, and scrolling sideways. With
   * `CONSOLE_PICTURES`, screenshots are saved in that folder.
   */
  async faults(name: string): Promise<readonly string[]> {
    const found: string[] = []
    for (const width of [390, 1280]) {
      await this.page.setViewportSize({ width, height: 800 })
      found.push(...(await axeFaults(this.page)).map((each) => `${width} ${each}`))
      const sideways = await this.page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      if (sideways !== 0) found.push(`${width} scrolls sideways by ${sideways} px`)
      await this.#keepPictures(`${name}-${width}`)
    }
    return found
  }

  async #keepPictures(name: string): Promise<void> {
    const folder = process.env.CONSOLE_PICTURES
    if (folder === undefined) return
    for (const colorScheme of ['dark', 'light'] as const) {
      await this.page.emulateMedia({ colorScheme })
      await this.page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`), fullPage: true })
    }
  }

  async stop(): Promise<void> {
    await this.#context.close()
    await this.world.stop()
  }
}
