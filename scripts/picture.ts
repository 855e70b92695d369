import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { chromium, type Page } from 'playwright'
import { readCommandLine, refuseCommandLine } from '#src/start/command-line.ts'
import { quickstartLines } from './picture/quickstart-lines.ts'
import { terminalAnimation } from './picture/terminal-animation.ts'
import { startServer } from './quickstart/server-process.ts'
import { findChromium } from './services/chromium.ts'
import { freePort } from './services/service.ts'

/*
 * `npm run picture`: takes the screenshots of the docs from a real console in a headless Chromium: docs/console.png
 * (the live chart of a session that waits for an approval), the home, fleet and gateway pages, and the approval on a
 * phone. It also draws docs/quickstart.svg, a terminal in which a real quickstart runs. `-- --only quickstart` needs no
 * browser.
 */

const animation = resolve(import.meta.dirname, '../docs/quickstart.svg')
const usage = 'usage: npm run picture [-- --only console|quickstart]'
const { only } = readCommandLine({ usage, options: { only: { type: 'string' } } })
if (only !== undefined && only !== 'console' && only !== 'quickstart')
  refuseCommandLine(usage, '--only must be console or quickstart')

if (only !== 'console') {
  writeFileSync(animation, terminalAnimation(await quickstartLines()))
  console.log(`drew ${animation}`)
}
if (only === 'quickstart') process.exit()

const folder = mkdtempSync(join(tmpdir(), 'troupe-picture-'))
const key = `csk_${randomBytes(32).toString('base64url')}`
const owner = { email: 'owner@example.com', password: randomBytes(12).toString('base64url') }
const file = resolve(import.meta.dirname, '../docs/console.png')

const turn = {
  input: 'Please use issue_refund for order 1042',
  tools: [
    {
      type: 'function',
      needsApproval: true,
      risk_level: 'high',
      function: {
        name: 'issue_refund',
        description: 'Pays an order back.',
        parameters: { type: 'object', properties: { order: { type: 'string' } } },
      },
    },
  ],
}

const post = async (url: string, body: object): Promise<string> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return response.text()
}

const show = async (page: Page, url: string, session: string): Promise<void> => {
  await page.goto(`${url}/#/actors/${session}`)
  await page.getByLabel('E-mail').fill(owner.email)
  await page.getByLabel('Password').fill(owner.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('.stream[data-status=live]').waitFor()
  await page.getByRole('tabpanel').getByText('is pending approval').waitFor()
}

const pages = [
  ['home', 'Home'],
  ['fleet', 'Fleet'],
  ['overview', 'Overview'],
  ['approvals', 'Approvals'],
  ['gateway', 'Gateway'],
] as const

const take = async (page: Page, name: string): Promise<void> => {
  await page.screenshot({ path: resolve(file, '..', name) })
  console.log(`took docs/${name}`)
}

const executablePath = findChromium()
if (executablePath === null) {
  console.error('No Chromium found: install one or set CHROMIUM_PATH.')
  process.exit(1)
}
const server = await startServer({
  PORT: String(await freePort()),
  DATA_DIR: join(folder, 'data'),
  LOG_LEVEL: 'error',
  SIMULATED_PROVIDER: 'on',
  BOOTSTRAP_SECRET_KEY: key,
  BOOTSTRAP_OWNER_EMAIL: owner.email,
  BOOTSTRAP_OWNER_PASSWORD: owner.password,
})
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  const session: { readonly id: string } = JSON.parse(await post(`${server.url}/v1/sessions`, {}))
  await post(`${server.url}/v1/sessions/${session.id}/turns`, turn)
  const others = Array.from({ length: 5 }, (_, n) => (n === 3 ? 'fail please' : 'What is your refund policy?'))
  for (const input of others) {
    const other: { readonly id: string } = JSON.parse(await post(`${server.url}/v1/sessions`, {}))
    await post(`${server.url}/v1/sessions/${other.id}/turns`, { input })
  }
  await post(`${server.url}/v1/limits`, { subject: 'project', subject_id: null, budget_month_usd: '0.01' })
  for (const content of ['Where is order 1042?', 'Write to ada@example.com', 'What is your refund policy?'])
    await post(`${server.url}/v1/chat/completions`, { model: 'simulated-1', messages: [{ role: 'user', content }] })
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await show(page, server.url, session.id)
  mkdirSync(resolve(file, '..'), { recursive: true })
  await take(page, 'console.png')
  for (const [name, title] of pages) {
    await page.goto(`${server.url}/#/${name}`)
    await page.getByRole('heading', { name: title, exact: true }).waitFor()
    await page.locator('#view section').first().waitFor()
    await take(page, `console-${name}.png`)
  }
  await page.setViewportSize({ width: 390, height: 760 })
  await page.goto(`${server.url}/#/home`)
  await page.getByRole('link', { name: 'issue_refund' }).first().click()
  await page.getByRole('form', { name: 'Decide' }).waitFor()
  await take(page, 'console-approval.png')
} finally {
  await browser.close()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
