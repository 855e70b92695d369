import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { inputValues } from '#actors/sessions/input-values.ts'
import { closePages, openBrowser } from '#test/e2e/pages/open-browser.ts'
import { bundledProgram, type PageServer, servePage } from '../examples/bundled.ts'
import { ours, stranger } from '../packed.ts'

/** What the servers of two tools request of a person: by a flat form, and by another one. */
const requested = (message: string, properties: object, required: readonly string[] = []) => ({
  ...{ server: 'Travel', server_url: 'http://127.0.0.1/mcp', mode: 'form', message, url: null, secret_fields: ['pin'] },
  schema: { type: 'object', properties, required },
})
const seat = requested(
  'Which seat?',
  {
    name: { type: 'string', title: 'Your name', minLength: 2 },
    seat: {
      type: 'string',
      title: 'Seat',
      oneOf: [
        { const: 'a', title: 'Aisle' },
        { const: 'w', title: 'Window' },
      ],
    },
    meals: { type: 'array', items: { type: 'string', enum: ['lunch', 'dinner', 'snack'] } },
    bags: { type: 'integer', title: 'Bags', maximum: 3, default: 1 },
    insured: { type: 'boolean', title: 'Insured' },
    at: { type: 'string', title: 'Boarding', format: 'date-time' },
    note: { type: 'string', title: 'Note', description: 'Shown to the crew.', default: 'none' },
    pin: { type: 'string', title: 'PIN' },
  },
  ['name', 'seat', 'bags'],
)
const nested = requested('Where to?', { to: { type: 'object' } })

/** A chat in the strict mode of React, on a server in memory. */
const chat = `
import { pageFunctions, Troupe, textOf } from '@troupe/client'
import { scriptedServer } from '@troupe/client/test'
import { Approval, TroupeProvider, useApprovals, useConnection, useMessages, useRun } from '@troupe/react'
import { memo, StrictMode, useEffect, version } from 'react'

const server = scriptedServer([{ text: 'Hello.' }, { tool: 'refund', arguments: { order: 7 }, next: ${JSON.stringify({ tool: 'book', input: seat, next: { tool: 'route', input: nested, next: { text: 'Done.' } } })} }, { tool: 'ship', approver: 'operator', next: { text: 'Shipped.' } }].flatMap((script) => (script.tool === 'refund' ? [{ tool: 'get_title', run_by: 'caller', next: script }] : [script])))
const client = new Troupe({ baseUrl: 'http://test', token: async () => ({ token: 'ect_test', expires_at: new Date(Date.now() + 900_000).toISOString() }), fetch: server.fetch })
const renders = {}
const groups = new Set()
const Line = memo(({ message }) => {
  renders[message.id] = (renders[message.id] ?? 0) + 1
  return <li>{textOf(message)}</li>
})
const options = { functions: pageFunctions({ get_title: { run: () => document.title } }) }
const Chat = () => {
  const messages = useMessages()
  const approvals = useApprovals()
  const { send, isIdle } = useRun()
  const { status } = useConnection()
  useEffect(() => document.querySelectorAll('[role=group]').forEach((group) => groups.add(group.textContent)))
  return (
    <main>
      <ul>{messages.map((message) => <Line key={message.id} message={message} />)}</ul>
      {approvals.map((action) => <Approval key={action.action_id} action={action} />)}
      <button disabled={!isIdle} onClick={() => send('Hello')}>Send</button>
      <output>{status}</output>
    </main>
  )
}
const App = () => <StrictMode><TroupeProvider client={client} options={options}><Chat /></TroupeProvider></StrictMode>
`

const onServer = `${chat}
import { renderToString } from 'react-dom/server'
export const html = renderToString(<App />)
const waiting = { action_id: 'act_1', turn_number: 1, tool: 'list_issues', arguments: {}, reason: 'connection_required' }
const connection = { connection_id: 'con_1', connector: 'github', authorize_url: 'http://127.0.0.1/sign-in', expires_at: null }
const shown = (connection) => renderToString(<TroupeProvider client={client}><Approval action={{ ...waiting, approver: 'end_user', connection }} /></TroupeProvider>)
const opens = { ...${JSON.stringify(seat)}, mode: 'url', schema: null, url: 'http://127.0.0.1/pay' }
export const connects = [shown(connection), shown({ ...connection, authorize_url: null }), renderToString(<TroupeProvider client={client}><Approval action={{ ...waiting, approver: 'end_user', input: opens }} /></TroupeProvider>)]
export { version }
`

const inPage = `${chat}
import { hydrateRoot } from 'react-dom/client'
const seen = { recovered: [], requests: server.requests, version, renders, groups, root: null }
globalThis.seen = seen
seen.root = hydrateRoot(document.getElementById('root'), <App />, { onRecoverableError: (error) => seen.recovered.push(String(error)) })
`

let browser: Browser
let older = ''
beforeAll(async () => {
  ;[browser, older] = await Promise.all([openBrowser(), stranger('react@18.3.1', 'react-dom@18.3.1')])
})
afterEach(() => closePages(browser))
afterAll(() => rmSync(older, { recursive: true }))

/** Renders the chat on the server, and opens the page with its HTML. */
const rendered = async (
  folder: string,
): Promise<{
  version: string
  html: string
  connects: readonly string[]
  server: PageServer
}> => {
  const file = join(tmpdir(), `server-${process.pid}-${crypto.randomUUID()}.mjs`)
  writeFileSync(file, await bundledProgram(onServer, 'node', folder))
  const { html, version, connects } = await import(pathToFileURL(file).href)
  rmSync(file)
  const page = `<!doctype html><title>Chat</title><div id="root">${html}</div><script type="module" src="/code.js"></script>`
  const server = await servePage(
    { html: page, code: await bundledProgram(inPage, 'browser', folder) },
    async () => null,
  )
  return { version, html, connects, server }
}

const listed = (page: Page) => page.getByRole('listitem').allTextContents()

/** Answers both forms by their labels, and returns the values that were sent: the server accepts those of the flat form. */
const answeredForms = async (page: Page): Promise<readonly unknown[]> => {
  const sent = async (): Promise<readonly unknown[]> =>
    page.evaluate('seen.requests.flatMap(({ body }) => (body.content ? [body.content] : []))')
  const [book, route] = [page.getByRole('group', { name: /^book/ }), page.getByRole('group', { name: /^route/ })]
  const fields = book.getByRole('group', { name: 'Travel: Which seat?' })
  const [send, seats] = [book.getByRole('button', { name: 'Send' }), fields.getByRole('combobox', { name: 'Seat' })]
  await fields.getByRole('textbox', { name: 'Your name' }).fill('Ada')
  await send.click()
  expect(await book.locator('select:invalid').count()).toBe(1)
  await seats.selectOption('Window')
  await fields.getByRole('listbox', { name: 'meals' }).selectOption(['lunch', 'snack'])
  await fields.getByRole('checkbox', { name: 'Insured' }).check()
  await fields.getByLabel('Boarding').fill('2026-11-29T12:00')
  const [note, pin] = ['Note', 'PIN'].map((name) => fields.getByRole('textbox', { name }))
  expect(await note?.getAttribute('aria-describedby')).toBe(
    await fields.getByText('Shown to the crew.').getAttribute('id'),
  )
  expect(await pin?.getAttribute('aria-describedby')).toBe(await fields.getByText(/secrets/).getAttribute('id'))
  await note?.fill('')
  expect(await sent()).toEqual([])
  await send.click()
  const text = route.getByRole('textbox', { name: 'JSON' })
  await text.fill('to Oslo')
  await route.getByRole('button', { name: 'Send' }).click()
  const contents = await sent()
  expect(contents).toHaveLength(1)
  expect(JSON.parse(inputValues({ input: Object(seat) }, Object(contents[0])) ?? '')).toEqual(contents[0])
  await text.fill('{ "to": { "city": "Oslo" } }')
  await route.getByRole('button', { name: 'Send' }).click()
  await route.waitFor({ state: 'detached' })
  return sent()
}

describe.each([
  ['19', () => ours('.')],
  ['18', () => older],
])('with React %s', (major, folder) => {
  it('a chat is rendered on a server and hydrated without a warning, in strict mode, and its calls run once', async () => {
    const { version, html, connects, server } = await rendered(folder())
    expect(version.split('.')[0]).toBe(major)
    expect(html).toContain('Send</button>')
    const [link, apiKey, opened] = connects
    expect(link).toMatch(/<a href="http:\/\/127.0.0.1\/sign-in"[^>]*>Connect<\/a>/)
    expect(link).not.toContain('<button')
    expect(apiKey).toContain('Waits for an operator.')
    expect(opened).toMatch(/Which seat\?.*>http:\/\/127.0.0.1\/pay<\/a>.*Approve.*Reject/)
    const page = await (await browser.newContext()).newPage()
    const printed: string[] = []
    page.on('console', (message) => printed.push(`${message.type()} ${message.text()}`))
    page.on('pageerror', (error) => printed.push(error.message))
    await page.goto(server.url)
    await page.getByRole('button', { name: 'Send' }).click()
    await expect.poll(() => listed(page)).toEqual(['Hello', 'Hello.'])
    await page.getByRole('button', { name: 'Send' }).click()
    await page
      .getByRole('group', { name: /refund/ })
      .getByRole('button', { name: 'Approve' })
      .click()
    expect(await answeredForms(page)).toEqual([
      { name: 'Ada', seat: 'w', meals: ['lunch', 'snack'], bags: 1, insured: true, at: expect.any(String), note: '' },
      { to: { city: 'Oslo' } },
    ])
    await expect.poll(() => listed(page)).toEqual(['Hello', 'Hello.', 'Hello', 'Done.'])
    const rendersOfFirst = () => page.evaluate('Object.values(seen.renders).slice(0, 4)')
    const before = await rendersOfFirst()
    await page.getByRole('button', { name: 'Send' }).click()
    const operators = page.getByRole('group', { name: /ship/ })
    await operators.getByText('Waits for an operator.').waitFor()
    expect(await operators.getByRole('button').count()).toBe(0)
    expect(await rendersOfFirst(), 'a message that has not changed is rendered again').toEqual(before)
    // a call that the page runs by itself is never shown as one that a person decides about
    expect(await page.evaluate('[...seen.groups].join()')).not.toContain('get_title')
    const seen = await page.evaluate(
      '({ ...seen, root: null, groups: [...seen.groups], requests: seen.requests.map(({ request }) => request) })',
    )
    expect(seen).toMatchObject({ recovered: [] })
    const { requests }: { readonly requests: readonly string[] } = Object(seen)
    // strict mode subscribes twice, and opens one session with one stream
    const counted = (what: string) => requests.filter((each) => each === what).length
    expect([counted('POST /v1/sessions'), counted('POST /v1/sessions/ses_1/turns')]).toEqual([1, 3])
    expect(counted('GET /v1/sessions/ses_1/stream')).toBeLessThanOrEqual(1)
    expect(printed.filter((each) => !/React DevTools/.test(each))).toEqual([])
    server.close()
  })
})
