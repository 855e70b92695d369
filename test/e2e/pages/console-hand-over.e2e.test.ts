import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { begun, path, waiting } from '../browser/jobs-of.ts'
import { LoginSite, password } from '../browser/login-site.ts'
import { patience } from '../patience.ts'
import { OpenConsole } from './open-console.ts'

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('a waiting browser job in the console', () => {
  let site: LoginSite
  let opened: OpenConsole
  beforeAll(async () => {
    site = await LoginSite.open()
    const env = {
      ...{ CHROMIUM_PATH: process.env.HEADLESS_SHELL_PATH ?? '', ALLOWED_PRIVATE_CONTENT_HOSTS: site.host },
      BROWSER_JOBS: '4',
    }
    opened = await OpenConsole.start({ env })
  }, 120_000)
  afterAll(async () => {
    await opened.stop()
    await site.close()
  })

  const handedOver = async (): Promise<string> => {
    const message = 'Please log in.'
    const actions = [{ type: 'handOver', message }]
    const body = { url: site.url('/'), actions, viewport: { width: 800, height: 500 } }
    const id = await begun(opened.world.api, body)
    await waiting(opened.world.api, id, message)
    return id
  }
  const jobOf = async (id: string) => (await opened.world.api.get(`${path}/${id}`)).body
  const screen = () => opened.page.getByRole('application')
  /** Clicks at a point of the job's page, in its live view. */
  const clickAt = async (x: number, y: number): Promise<void> => {
    const box = await screen().boundingBox()
    if (box === null) throw new Error('no picture')
    await opened.page.mouse.click(box.x + (x / 800) * box.width, box.y + (y / 500) * box.height)
  }
  const isDrawn = () =>
    expect.poll(() => screen().evaluate((each) => each.clientHeight / each.clientWidth)).toBeCloseTo(0.625, 1)

  it('is listed on the home page, shows its page, accepts clicks and keys, and continues', async () => {
    const { page } = opened
    const id = await handedOver()
    await opened.show('home', 'Home')
    await page.getByRole('region', { name: 'Waiting for a person' }).getByText('Please log in.').waitFor()
    await page.getByRole('link', { name: site.url('/') }).click()
    await page.getByText('The job is waiting for you').waitFor()
    await isDrawn()
    await page.getByText(site.url('/'), { exact: true }).first().waitFor()
    expect(await opened.faults('hand-over')).toEqual([])
    await clickAt(100, 35)
    await page.keyboard.type('ann')
    await page.keyboard.press('Tab')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await page.getByText(site.url('/inside?code=s3cr3t')).waitFor()
    expect(await opened.faults('hand-over-inside')).toEqual([])
    await page.getByLabel('Note, stored with the job').fill('Logged in.')
    await page.getByRole('button', { name: 'Continue' }).click()
    await vi.waitFor(async () => expect((await jobOf(id)).status).toBe('completed'), patience)
    expect(await jobOf(id)).toMatchObject({ result: { title: 'Orders' }, steps: [{}, { note: 'Logged in.' }] })
    await screen().waitFor({ state: 'detached' })
    expect(opened.complaints).toEqual([])
  })

  it('can be used without a mouse: text goes to the focused field, and Shift+Escape leaves the live view', async () => {
    const { page } = opened
    const id = await handedOver()
    await opened.show(`actors/${id}`, id)
    await isDrawn()
    await screen().focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Shift+Escape')
    expect(await page.evaluate('document.activeElement.closest("form").id')).toBe('live-typing')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Continue' }).waitFor()
    await screen().focus()
    await page.keyboard.press('Enter')
    await page.getByText(site.url('/inside?code=s3cr3t')).waitFor()
    await page.getByRole('button', { name: 'Cancel job' }).click()
    await page.getByRole('button', { name: 'Cancel the job?' }).click()
    await vi.waitFor(async () => expect((await jobOf(id)).status).toBe('cancelled'), patience)
    expect(opened.complaints).toEqual([])
  })
})
