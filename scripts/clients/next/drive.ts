import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { chromium, type Page } from 'playwright'
import { findChromium } from '#scripts/services/chromium.ts'
import { freePort } from '#scripts/services/service.ts'

/*
 * Starts the built app of this folder, as an operator does, and uses its page: HTML from the server, a turn whose call the page
 * approves, and one whose call the route for decisions rejects.
 */
const check = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what)
}

const readyMs = 30_000

const opened = async (url: string): Promise<string> => {
  for (const end = Date.now() + readyMs; Date.now() < end; await pause(100)) {
    const html = await fetch(url).then(
      (answer) => (answer.ok ? answer.text() : null),
      () => null,
    )
    if (html !== null) return html
  }
  throw new Error('the app did not start')
}

const tenantOf = async (): Promise<string> => {
  const answer = await fetch(`${process.env.TROUPE_URL}/v1/tenants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${process.env.TROUPE_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ external_id: 'next', name: 'Next' }),
  })
  return Object(await answer.json()).id
}

const lines = (page: Page) => page.getByRole('listitem').allTextContents()

/** Sends the message, and returns the call that waits for a decision. */
const waitingCall = async (page: Page): Promise<ReturnType<Page['getByRole']>> => {
  await page.getByRole('button', { name: 'Send' }).click()
  const call = page.getByRole('group', { name: /issue_refund/ })
  await call.waitFor()
  return call
}

const idle = (page: Page) => page.waitForSelector('button:text("Send"):enabled')

const used = async (url: string, page: Page): Promise<void> => {
  const printed: string[] = []
  page.on('console', (message) => message.type() === 'error' && printed.push(message.text()))
  page.on('pageerror', ({ message }) => printed.push(message))
  await page.goto(url)
  const first = await waitingCall(page)
  await first.getByRole('button', { name: 'Approve' }).click()
  await idle(page)
  const [, answer = ''] = await lines(page)
  check(answer.includes('r1'), `the output of the approved call is not in the answer: ${answer}`)
  const second = await waitingCall(page)
  const [session_id, action_id] = [
    await page.getByRole('main').getAttribute('data-session'),
    await second.getAttribute('data-action'),
  ]
  const body = JSON.stringify({ decision: 'reject', session_id, action_id })
  const decided = await fetch(`${url}/decide`, { method: 'POST', body })
  check(decided.ok, `the route for decisions answered ${decided.status} ${await decided.text()}`)
  await idle(page)
  check((await page.getByRole('group').count()) === 0, 'a rejected call still waits')
  check(printed.length === 0, `the page printed ${printed}`)
}

const port = await freePort()
const url = `http://127.0.0.1:${port}`
const env = { ...process.env, TENANT: await tenantOf() }
const args = ['node_modules/next/dist/bin/next', 'start', '--hostname', '127.0.0.1', '--port', String(port)]
const app = spawn(process.execPath, args, { env, stdio: 'inherit' })
const browser = await chromium.launch({ executablePath: findChromium() ?? '', args: ['--no-sandbox', '--disable-gpu'] })
try {
  const html = await opened(url)
  check(html.includes('data-session="new"') && html.includes('Send</button>'), `the server rendered ${html}`)
  await used(url, await browser.newPage())
} finally {
  await browser.close()
  app.kill()
  await once(app, 'exit')
}
