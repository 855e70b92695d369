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

  it('compares two versions of an agent side by side, with edited settings, a called function, and the code', async () => {
    const { page, world } = console
    const agent = (await world.api.post('/v1/agents', { name: 'Desk', config: { model: 'simulated-1' } })).body.id
    const tools = [{ type: 'http', name: 'refund', url: 'https://shop.example/refund' }]
    for (const [version, system_prompt] of [
      ['1.0.0', 'Be kind.'],
      ['1.1.0', 'Be brief.'],
    ])
      await world.api.post(`/v1/agents/${agent}/versions`, {
        version,
        config: { model: 'simulated-1', system_prompt, tools },
      })
    await console.show(`playground?mode=requests&a=${agent}@1.0.0&b=${agent}@1.1.0`, 'Playground')
    const [a, b] = ['A', 'B'].map((name) => page.getByRole('region', { name, exact: true }))
    if (a === undefined || b === undefined) throw new Error('there are two lanes')
    await b.getByText('Prompt, parameters and tools').click()
    await expect.poll(() => b.getByLabel('Instructions').inputValue()).toBe('Be brief.')
    await b.getByLabel('Temperature').fill('0.3')
    await a.getByText('Memory and knowledge').click()
    await a.getByLabel('Memory of user').fill('ada')
    await page.getByLabel('Attach').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('png') })
    await page.getByText('a.png').waitFor()
    expect(await console.faults('playground-requests')).toEqual([])
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('button', { name: 'Remove 1' }).click()
    await page.getByRole('textbox', { name: 'Message' }).fill('Use the tool refund for order 7')
    await page.getByRole('button', { name: 'Send to both' }).click()
    for (const lane of [a, b]) await lane.getByText(/^\d+ \+ \d+ tokens, .*s$/).waitFor()
    await page.getByRole('textbox', { name: 'Output of the function' }).fill('Refunded order 7')
    await page.getByRole('textbox', { name: 'Output of the function' }).press('Enter')
    for (const lane of [a, b]) await lane.getByText(/The tool refund answered: Refunded order 7/).waitFor()
    await b.getByText('Code', { exact: true }).click()
    await b.getByRole('button', { name: 'Python' }).click()
    const code = await b.getByLabel('Code in Python').textContent()
    expect(code).toContain('"temperature": 0.3')
    expect(code).toContain('"instructions": "Be brief."')
    expect(console.complaints).toEqual([])
  })

  it('opens a request of the log, which is sent again with another prompt', async () => {
    const { page, world } = console
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hello from the log' },
    ]
    const answer = await world.api.post('/v1/chat/completions', { model: 'simulated-1', messages })
    await console.show(`gateway?request=${answer.headers.get('x-request-id')}`, 'Gateway')
    await page.getByRole('link', { name: 'Open in the playground' }).click()
    const message = page.getByRole('textbox', { name: 'Message' })
    await expect.poll(() => message.inputValue()).toBe('Hello from the log')
    const lane = page.getByRole('region', { name: 'Request', exact: true })
    await lane.getByText('Prompt, parameters and tools').click()
    await lane.getByLabel('Instructions').fill('Be brief.')
    const sent = page.waitForRequest((request) => request.url().endsWith('/v1/responses'))
    await message.press('Enter')
    expect((await sent).postDataJSON()).toMatchObject({ model: 'simulated-1', instructions: 'Be brief.' })
    await lane.getByText('You said: Hello from the log').waitFor()
    expect(console.complaints).toEqual([])
  })
})
