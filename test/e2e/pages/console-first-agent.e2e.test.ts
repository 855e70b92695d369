import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patience } from '../patience.ts'
import { startToolServer, type ToolServer } from '../tool-server.ts'
import { axeFaults } from './axe.ts'
import { OpenConsole } from './open-console.ts'

/** Presses of the mouse and fields that are filled in, counted by the page itself from the first one of its life. */
const counter = `
  globalThis.efforts = { clicks: 0, fields: [] }
  addEventListener('click', ({ isTrusted, detail }) => { if (isTrusted && detail > 0) efforts.clicks++ }, true)
  addEventListener('input', ({ target }) => {
    if (target.type !== 'checkbox' && !efforts.fields.includes(target)) efforts.fields.push(target)
  }, true)`

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('an empty server', () => {
  let console: OpenConsole
  let tool: ToolServer

  beforeAll(async () => {
    tool = await startToolServer()
    console = await OpenConsole.start({ tools: [tool] })
  })
  afterAll(async () => {
    await console?.stop()
    await tool?.close()
  })

  it('becomes an own agent with knowledge, a tool and an approval, published and tried, in 40 clicks and fields', async () => {
    const page = await console.page.context().browser()?.newPage()
    if (page === undefined) throw new Error('the browser has ended')
    page.setDefaultTimeout(patience.timeout)
    await page.addInitScript(counter)
    await page.goto(console.world.url)
    await page.getByLabel('E-mail').fill(console.world.ownerEmail)
    await page.getByLabel('Password').fill(console.world.ownerPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()

    const steps = page.getByRole('region', { name: 'First steps' })
    await steps.getByRole('link', { name: 'Add knowledge' }).click()
    await page.getByRole('form', { name: 'Create a knowledge base' }).getByLabel('Name').fill('Handbook')
    await page.getByRole('button', { name: 'Create' }).click()
    const base = page.getByRole('region', { name: 'Handbook' })
    await base.getByRole('region', { name: 'Sources' }).getByText('New source').click()
    await base.getByRole('textbox', { name: /^Text/ }).fill('Refunds take three days.')
    await base.getByRole('button', { name: 'Create' }).click()
    await base.getByText(/is ready/).waitFor()

    await page.getByRole('link', { name: 'Home' }).click()
    await steps.getByText('done', { exact: true }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await steps.getByRole('link', { name: 'Create an agent' }).click()
    const form = page.getByRole('form', { name: 'Create an agent' })
    await form.getByLabel('Name').first().fill('Support')
    await form.getByLabel('Model').first().fill('simulated-1')
    await form.getByLabel('Handbook').check()
    await form.getByRole('button', { name: 'Add http tool' }).click()
    const fields = form.getByRole('group', { name: '1. http tool' })
    await fields.getByLabel('Name').fill('issue_refund')
    await fields.getByLabel('URL').fill(tool.url)
    await fields.getByLabel('Needs approval').check()
    expect(await axeFaults(page)).toEqual([])
    await form.getByRole('button', { name: 'Create' }).click()

    const agent = page.getByRole('region', { name: 'Support', exact: true })
    const versions = agent.getByRole('region', { name: 'Versions' })
    await versions.getByText('New version').click()
    await versions.getByRole('button', { name: 'Create' }).click()
    await versions.getByRole('link', { name: '1.0.0' }).click()
    await versions.getByRole('button', { name: 'Publish a version without a review' }).click()
    await versions.getByText('published', { exact: true }).first().waitFor()

    await agent.getByRole('link', { name: 'Try it in the playground' }).click()
    await page.getByLabel('Message', { exact: true }).fill('Please use issue_refund for order 7')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText(/^issue_refund answered/).waitFor()
    expect(tool.calls.length).toBe(1)

    const clicks = await page.evaluate<number>('efforts.clicks')
    const filled = await page.evaluate<number>('efforts.fields.length')
    expect(clicks).toBeGreaterThan(10)
    expect(clicks + filled, `${clicks} clicks, ${filled} fields`).toBeLessThanOrEqual(40)
    const { data } = (await console.world.api.get('/v1/agents')).body
    expect(data[0].config).toMatchObject({ knowledge: [expect.stringMatching(/^kb_/)] })

    await page.getByRole('link', { name: 'Home' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await expect.poll(() => steps.count(), patience).toBe(0)
    await page.close()
  })
})
