import type { Browser, Page } from 'playwright'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { bundledProgram, type PageServer, servePage } from '#test/packages/examples/bundled.ts'
import { answerTo } from '../gateway/simulated-answer.ts'
import { closePages, openBrowser } from '../pages/open-browser.ts'
import { PageWorld, pageTool } from './page.ts'

/** A page as users of `useChat` write it. It loads the turns that have ended, and resumes the one that has not. */
const program = `
import { useChat } from '@ai-sdk/react'
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses as isApproved,
  lastAssistantMessageIsCompleteWithToolCalls as isAnswered,
} from 'ai'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

const [session, token] = location.hash.slice(1).split(',')
const url = document.body.dataset.baseUrl + '/v1/sessions/' + session
const headers = { authorization: 'Bearer ' + token }
const counts = { sent: [], ran: 0 }
window.counts = counts

const Part = ({ part, answer }) => {
  if (part.type === 'text') return <span>{part.text}</span>
  if (!part.toolCallId) return null
  return (
    <fieldset aria-label={part.type}>
      <em>{part.state}</em>
      {part.state === 'approval-requested' && (
        <button type="button" onClick={() => answer({ id: part.approval.id, approved: true })}>Approve</button>
      )}
    </fieldset>
  )
}

const Chat = ({ initial }) => {
  const { messages, status, error, sendMessage, addToolApprovalResponse, addToolOutput } = useChat({
    id: session,
    messages: initial,
    resume: true,
    transport: new DefaultChatTransport({
      api: url + '/ui-messages',
      headers,
      body: { tools: [${JSON.stringify(pageTool)}] },
      fetch: (address, init) => {
        counts.sent.push(init.method ?? 'GET')
        return fetch(address, init)
      },
    }),
    sendAutomaticallyWhen: (state) => isApproved(state) || isAnswered(state),
    onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
      if (toolName !== 'get_page') return
      counts.ran++
      addToolOutput({ tool: toolName, toolCallId, output: { title: document.title } })
    },
  })
  const submit = (event) => {
    event.preventDefault()
    sendMessage({ text: new FormData(event.currentTarget).get('text') })
  }
  return (
    <main>
      <ol>
        {messages.map(({ id, parts }) => (
          <li key={id}>{parts.map((part, at) => <Part key={at} part={part} answer={addToolApprovalResponse} />)}</li>
        ))}
      </ol>
      <form onSubmit={submit}><input name="text" aria-label="Message" /></form>
      <p role="status">{error?.message ?? status}</p>
    </main>
  )
}

const listed = await (await fetch(url + '/messages', { headers })).json()
const ended = listed.data.filter(({ role, status }) => role === 'user' || status === 'completed')
const initial = ended.map(({ id, role, parts }) => ({ id, role, parts: parts.filter(({ type }) => type === 'text') }))
createRoot(document.getElementById('root')).render(<StrictMode><Chat initial={initial} /></StrictMode>)
`

let [world, server, browser]: [PageWorld, PageServer, Browser] = Object(Array(3))
beforeAll(async () => {
  world = await PageWorld.start()
  browser = await openBrowser()
  const code = await bundledProgram(program)
  const html = `<!doctype html><title>Orders</title><body data-base-url="${world.world.url}"><div id="root"></div><script type="module" src="/code.js"></script>`
  server = await servePage({ html, code }, async () => null)
})
afterEach(() => closePages(browser))
afterAll(async () => {
  server.close()
  await world.stop()
})

const errors: string[] = []
const open = async (): Promise<Page> => {
  const page = await (await browser.newContext()).newPage()
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(`${server.url}/#${await world.session()},${await world.token()}`)
  await expect.poll(() => statusOf(page)).toBe('ready')
  return page
}
const say = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Message').fill(text)
  await page.getByLabel('Message').press('Enter')
}
const statusOf = (page: Page) => page.getByRole('status').textContent()
const lines = (page: Page) => page.getByRole('listitem').allTextContents()
const countsOf = (page: Page): Promise<{ sent: readonly string[]; ran: number }> =>
  page.evaluate(() => Object(globalThis).counts)
const postsOf = async (page: Page) => (await countsOf(page)).sent.filter((method) => method === 'POST').length

it('useChat in a browser streams a turn, and goes on with it after a reload', async () => {
  const page = await open()
  await say(page, 'reply exactly: Hello there.')
  await expect.poll(() => lines(page)).toEqual(['reply exactly: Hello there.', 'Hello there.'])
  await say(page, 'slow please')
  await expect.poll(async () => (await lines(page)).at(-1)?.split(' ').length ?? 0).toBeGreaterThan(3)
  await page.reload()
  const whole = ['reply exactly: Hello there.', 'Hello there.', 'slow please', answerTo('slow please')]
  await expect.poll(() => lines(page)).toEqual(whole)
  await expect.poll(() => statusOf(page)).toBe('ready')
  await page.reload()
  await expect.poll(() => lines(page)).toEqual(whole)
  expect([await postsOf(page), errors]).toEqual([0, []])
})

it('useChat in a browser approves a call and gives the output of another, once each, and sends nothing for ever', async () => {
  const page = await open()
  const before = world.tool.calls.length
  await say(page, 'Please use all tools for order 1042')
  const refund = page.getByRole('group', { name: 'tool-issue_refund' })
  await refund.getByRole('button', { name: 'Approve' }).click()
  const states = () => page.locator('em').allTextContents()
  await expect.poll(states).toEqual(['output-available', 'output-available'])
  await expect.poll(() => statusOf(page)).toBe('ready')
  expect((await lines(page)).at(-1)).toContain('Orders')
  // whatever it would send again, it has sent by the end of another turn
  await say(page, 'reply exactly: Done.')
  await expect.poll(() => lines(page)).toContain('Done.')
  await expect.poll(() => statusOf(page)).toBe('ready')
  expect([await postsOf(page), (await countsOf(page)).ran, world.tool.calls.length - before]).toEqual([3, 1, 1])
  expect(errors).toEqual([])
})
