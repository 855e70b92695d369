import type { Browser, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patience } from '../patience.ts'
import { gatedTurn, startToolServer, type ToolServer } from '../tool-server.ts'
import { World } from '../world.ts'
import { closePages, openBrowser } from './open-browser.ts'

const executablePath = process.env.CHROMIUM_PATH

let tool: ToolServer
let world: World
let browser: Browser

const signIn = async (): Promise<Page> => {
  const page = await browser.newPage()
  page.setDefaultTimeout(patience.timeout)
  await page.goto(`${world.url}/#/stuck`)
  await page.getByLabel('E-mail').fill(world.ownerEmail)
  await page.getByLabel('Password').fill(world.ownerPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  return page
}

/** A session during whose tool call the process was killed four times in a row. */
const parkedSession = async (): Promise<string> => {
  const session = await world.api.createSession()
  tool.hold()
  const turn = { ...gatedTurn(tool, { effect: 'idempotent', needsApproval: false }), pause_on_tool_calls: false }
  void world.api.turn(session, turn).catch(() => {})
  for (let starts = 1; starts <= 4; starts++) {
    await tool.called(starts)
    await world.crash()
    await world.restart()
  }
  return session
}

describe.skipIf(executablePath === undefined)('stuck work in the console', () => {
  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ tools: [tool] })
    browser = await openBrowser()
  })
  afterAll(async () => {
    if (browser !== undefined) await closePages(browser)
    await world?.stop()
    await tool?.close()
  })

  it('is shown with its reason, is discarded by a second press alone, skipped where it may be, and continues when it is retried', async () => {
    const session = await parkedSession()
    const page = await signIn()
    const row = page.getByRole('table', { name: 'Stuck work' }).getByRole('row').filter({ hasText: 'parked' })
    await row.waitFor()
    expect(await row.textContent()).toContain('The process ended 4 times')

    await row.getByRole('link').first().click()
    const panel = page.locator('.panel', { has: page.locator('.close') })
    await panel.locator('summary', { hasText: /^Skip$/ }).waitFor()
    await panel.locator('summary', { hasText: /^Discard$/ }).click()
    const form = panel.getByRole('form', { name: 'Discard stuck work' })
    await form.getByRole('button', { name: 'Discard stuck work' }).click()
    await form.getByRole('button', { name: /^Discard stuck work: ./ }).waitFor()
    const listed = /\/stuck(\/\w+)?(\?|$)/
    await page.route(listed, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: (await response.text()).replaceAll('parked_actor', 'refused_row') })
    })
    await page.getByRole('table', { name: 'Stuck work' }).getByText('row refused').waitFor()
    await panel.locator('summary', { hasText: /^Skip$/ }).waitFor({ state: 'detached' })
    await page.unroute(listed)
    await row.waitFor()

    tool.answer()
    await row.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('Nothing is stuck.').waitFor()
    const follower = await world.api.follow(session, '0')
    expect((await follower.until(({ event }) => event.startsWith('turn.completed'))).event).toBe('turn.completed')
    follower.stop()
    await page.close()
  })
})
