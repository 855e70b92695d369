import type { Locator } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pngOf } from '#test/gateway/vision/vision-world.ts'
import { OpenConsole } from './open-console.ts'

const refund = {
  type: 'function',
  function: { name: 'refund', parameters: { type: 'object', properties: { order: { type: 'string' } } } },
  needsApproval: true,
}

/** The size of what was drawn on a canvas. */
const sizeOf = (canvas: Locator) =>
  canvas.evaluate((element) => [Number(Reflect.get(element, 'width')), Number(Reflect.get(element, 'height'))])

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

  it('gives back a message that is refused, and runs a turn again with its images', async () => {
    const { page, world } = console
    const square = pngOf(24, 16)
    const attach = (name: string, buffer: Buffer) =>
      form.getByLabel('Attach images').setInputFiles([{ name, mimeType: 'image/png', buffer }])
    await console.show('playground', 'Playground')
    const form = page.getByRole('form', { name: 'Say' })
    await form.getByLabel('Message').fill('What is this?')
    await attach('broken.png', Buffer.from('no image'))
    await form.getByRole('button', { name: 'Send' }).click()
    await page.getByText('unsupported_format').waitFor()
    expect(console.complaints).toEqual([expect.stringContaining('400')])
    console.complaints.length = 0
    await expect.poll(() => form.getByLabel('Message').inputValue()).toBe('What is this?')
    await form.getByRole('button', { name: 'Remove image 1' }).click()
    await attach('square.png', square)
    await form.getByRole('button', { name: 'Send' }).click()
    await page.getByText('completed:').waitFor()
    expect(await form.getByLabel('Message').inputValue()).toBe('')
    const session = new URLSearchParams(page.url().split('?')[1]).get('session') ?? ''
    await console.show(`actors/${session}`, session)
    await page.getByRole('button', { name: 'Run again' }).click()
    const again = page.getByRole('form', { name: 'Run again' })
    await again.getByText('Sends the message of turn 1, with its images,').waitFor()
    await again.getByRole('button', { name: 'Run again' }).click()
    await expect.poll(() => page.locator('h1').getAttribute('title')).not.toBe(session)
    const made = String(await page.locator('h1').getAttribute('title'))
    const image = { type: 'input_image', mime_type: 'image/png', bytes: square.length }
    expect((await world.api.log(made))[0]?.payload).toMatchObject({
      input: [{ type: 'input_text', text: 'What is this?' }, image],
    })
    // the same image has another id in each session
    const steps = page.getByRole('region', { name: 'Steps' })
    const differs = steps.locator('.chip', { hasText: 'images' })
    await console.show(`compare?a=${session}&b=${made}`, 'Compare')
    await steps.locator('[aria-label=Images]').getByText('image/png').first().waitFor({ state: 'attached' })
    expect(await differs.count()).toBe(0)
    const { id } = (await world.api.post('/v1/sessions', {})).body
    const image_url = `data:image/png;base64,${pngOf(8, 8).toString('base64')}`
    const input = [
      { type: 'input_text', text: 'What is this?' },
      { type: 'input_image', image_url },
    ]
    await (await world.api.turn(id, { input })).all()
    await console.show(`compare?a=${session}&b=${id}`, 'Compare')
    await differs.waitFor()
  })

  it('sends images that are chosen, pasted or dropped, and shows them wherever the turn is shown', async () => {
    const { page, world } = console
    const [square, other] = [pngOf(24, 16), pngOf(8, 8)]
    await console.show('playground', 'Playground')
    const form = page.getByRole('form', { name: 'Say' })
    await form.getByLabel('Attach images').setInputFiles([
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no image') },
      { name: 'square.png', mimeType: 'image/png', buffer: square },
    ])
    await form.getByText('notes.txt: not added. JPEG, PNG, WEBP or GIF up to 20 MB each.').waitFor()
    for (const [kind, name] of [
      ['paste', 'pasted.png'],
      ['drop', 'dropped.png'],
    ] as const)
      await page.evaluate(`(() => {
        const data = new DataTransfer()
        data.items.add(new File([Uint8Array.from(${JSON.stringify([...other])})], '${name}', { type: 'image/png' }))
        const given = { bubbles: true, cancelable: true, ${kind === 'paste' ? 'clipboardData' : 'dataTransfer'}: data }
        document.querySelector('.talk textarea').dispatchEvent(new ${kind === 'paste' ? 'ClipboardEvent' : 'DragEvent'}('${kind}', given))
      })()`)
    for (const name of ['square.png', 'pasted.png', 'dropped.png']) await form.getByRole('img', { name }).waitFor()
    expect(await console.faults('playground-images')).toEqual([])
    await page.setViewportSize({ width: 1280, height: 800 })
    await form.getByRole('button', { name: 'Remove pasted.png' }).click()
    const sent = page.waitForRequest((request) => request.url().includes('/turns'))
    await form.getByRole('button', { name: 'Send' }).click()
    const { input } = (await sent).postDataJSON()
    expect(input).toEqual(
      [square, other].map((bytes) => ({
        type: 'input_image',
        image_url: `data:image/png;base64,${bytes.toString('base64')}`,
      })),
    )
    const drawn = page.locator('[data-kind=input]').getByRole('img', { name: 'image 1' })
    await expect.poll(() => sizeOf(drawn)).toEqual([216, 144])
    await page.getByText('completed:').waitFor()
    expect(await form.getByRole('img').count()).toBe(0)
    const session = new URLSearchParams(page.url().split('?')[1]).get('session') ?? ''
    await console.show(`actors/${session}`, session)
    await page.getByRole('heading', { level: 1, name: '2 images', exact: true }).waitFor()
    await expect.poll(() => sizeOf(drawn)).toEqual([216, 144])
    await page.getByRole('tab', { name: 'Log' }).click()
    const row = page.locator('[data-event="turn.started"]')
    await expect.poll(() => sizeOf(row.getByRole('img', { name: 'image 1' }))).toEqual([216, 144])
    await row.getByRole('button', { name: 'Open image 1' }).click()
    const whole = page.getByRole('dialog', { name: 'image 1' }).getByRole('img')
    await expect.poll(() => sizeOf(whole)).toEqual([24, 16])
    await page.keyboard.press('Escape')
    await whole.waitFor({ state: 'detached' })
    expect(await console.faults('session-images')).toEqual([])
    await page.setViewportSize({ width: 1280, height: 800 })
    const refunds = {
      input: [{ type: 'input_text', text: 'Use the tool refund for order 7' }, input[0]],
      tools: [refund],
    }
    await (await world.api.turn(session, refunds)).all()
    await console.show('approvals', 'Approvals')
    const detail = page.getByRole('region', { name: 'Call of refund' })
    await expect.poll(() => sizeOf(detail.getByRole('img', { name: 'image 1' }).last())).toEqual([216, 144])
    expect(console.complaints).toEqual([])
  })

  it('refuses images over a WebSocket that its frames cannot hold', async () => {
    const { page } = console
    await console.show('playground?by=ws', 'Playground')
    const buffer = Buffer.alloc(1024 * 1024)
    await page.getByLabel('Attach images').setInputFiles({ name: 'large.png', mimeType: 'image/png', buffer })
    await page.getByRole('alert').getByText('A message over a WebSocket has at most 1 MB.').waitFor()
    expect(await page.getByRole('form', { name: 'Say' }).getByRole('img').count()).toBe(0)
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
    await page.getByText('a.png cannot be shown').waitFor()
    expect(await console.faults('playground-requests')).toEqual([])
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('button', { name: 'Remove a.png' }).click()
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

  it('keeps what is typed while the agent that a request starts from is still being read', async () => {
    const { page, world } = console
    const config = { model: 'simulated-1', system_prompt: 'Be kind.' }
    const agent = (await world.api.post('/v1/agents', { name: 'Desk', config })).body.id
    await world.api.post(`/v1/agents/${agent}/versions`, { version: '1.0.0', config })
    const [ofAgent, held] = [new RegExp(`/agents/${agent}$`), Promise.withResolvers<void>()]
    await page.route(ofAgent, (route) => held.promise.then(() => route.continue()))
    await console.show('approvals', 'Approvals')
    await console.show(`playground?mode=requests&a=${agent}@1.0.0`, 'Playground')
    const lane = page.getByRole('region', { name: 'Request', exact: true })
    await lane.getByText('Prompt, parameters and tools').click()
    await expect.poll(() => lane.getByLabel('Instructions').inputValue()).toBe('Be kind.')
    await lane.getByLabel('Temperature').fill('0.3')
    const read = page.waitForResponse(ofAgent)
    held.resolve()
    await (await read).finished()
    await page.unroute(ofAgent)
    const sent = page.waitForRequest((request) => request.url().endsWith('/v1/responses'))
    await page.getByRole('textbox', { name: 'Message' }).fill('Hello')
    await page.getByRole('textbox', { name: 'Message' }).press('Enter')
    expect((await sent).postDataJSON()).toMatchObject({ instructions: 'Be kind.', temperature: 0.3 })
    await lane.getByText('You said: Hello').waitFor()
    expect(console.complaints).toEqual([])
  })

  it('opens a request of the log, which is sent again with another prompt', async () => {
    const { page, world } = console
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hello from the log' },
    ]
    const answer = await world.api.post('/v1/chat/completions', { model: 'simulated-1', messages })
    await console.show(`gateway?open=${answer.headers.get('x-request-id')}`, 'Gateway')
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
