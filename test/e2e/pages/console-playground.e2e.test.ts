import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OpenConsole } from './open-console.ts'

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('the playground of the console', () => {
  let console: OpenConsole

  beforeAll(async () => {
    console = await OpenConsole.start()
  })
  afterAll(() => console?.stop())

  it.each([
    ['SSE', ''],
    ['a WebSocket', '?by=ws'],
  ])('runs turns over %s, with approvals in the conversation', async (_, query) => {
    const { page } = console
    await console.show(`playground${query}`, 'Playground')
    await page.getByRole('textbox', { name: 'Message' }).fill('Hello there')
    await page.getByRole('textbox', { name: 'Message' }).press('Enter')
    const messages = page.getByRole('log', { name: 'Messages' }).locator('[data-kind]')
    await messages.filter({ hasText: 'You said: Hello there' }).waitFor()
    await messages.filter({ hasText: 'completed:' }).waitFor()
    expect(page.url()).toContain('session=ses_')
    await page.getByRole('button', { name: 'Use a tool' }).click()
    const form = page.getByRole('form', { name: 'Decide' })
    await form.getByLabel('Output').fill('Refunded order 7')
    if (query === '') expect(await console.faults('playground')).toEqual([])
    await form.getByRole('button', { name: 'Approve' }).click()
    await messages.filter({ hasText: 'The tool refund answered: Refunded order 7' }).waitFor()
    await form.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Fail', exact: true }).click()
    await messages.filter({ hasText: 'provider_error' }).waitFor()
    const said = (await messages.allTextContents()).filter((text) => !text.startsWith('completed'))
    await page.reload()
    await messages.filter({ hasText: 'provider_error' }).waitFor()
    expect((await messages.allTextContents()).filter((text) => !text.startsWith('completed'))).toEqual(said)
    expect(console.complaints).toEqual([])
  })
})
