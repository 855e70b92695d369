import { readFileSync } from 'node:fs'
import type { Browser, BrowserContext, Page } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { drawnOf } from '#test/setup/at-night.ts'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { axeFaults } from './axe.ts'
import { openBrowser } from './open-browser.ts'

const executablePath = process.env.CHROMIUM_PATH

const refund = {
  type: 'function',
  function: { name: 'refund', parameters: { type: 'object', properties: { order: { type: 'string' } } } },
  needsApproval: true,
  risk_level: 'high',
} as const

/** Records each highlighted state in order. It runs in the browser. */
const watchChart = `
window.seen = []
new MutationObserver(() => {
  const current = document.querySelector('[data-standing=current]')?.getAttribute('data-state') ?? ''
  if (window.seen.at(-1) !== current) window.seen.push(current)
}).observe(document.querySelector('.chart'), { subtree: true, attributes: true, attributeFilter: ['data-standing'] })
`

let world: World
let browser: Browser
let context: BrowserContext
let page: Page
let complaints: string[]
let project: string

/** Browser storage of the owner, who signs in once: each test has its own context. */
let signedIn: Awaited<ReturnType<BrowserContext['storageState']>> | undefined

const open = async (options: Parameters<Browser['newContext']>[0] = {}) => {
  context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    ...(signedIn && { storageState: signedIn }),
    ...options,
  })
  context.setDefaultTimeout(patience.timeout)
  page = await context.newPage()
  complaints = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
}

const signIn = async () => {
  await open()
  await show()
  await page.getByLabel('E-mail').fill(world.ownerEmail)
  await page.getByLabel('Password').fill(world.ownerPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  signedIn = await context.storageState()
  await context.close()
}

const show = (hash = '') => page.goto(`${world.url}/${hash}`)

const lit = (state: string) => page.locator(`[data-state="${state}"][data-standing=current]`).waitFor()
const runTurn = async (session: string, body: object) => (await world.api.turn(session, body)).all()
const pausedSession = async () => {
  const session = await world.api.createSession()
  const frames = await runTurn(session, { input: 'Use the tool refund for order 7', tools: [refund] })
  return { session, action: String(frames.at(-1)?.data.action_id) }
}

interface ShownStep {
  readonly seq: number
  readonly to: string | null
}

const stepsOf = async (actor: string): Promise<readonly ShownStep[]> => {
  const dashboard = await world.dashboard()
  return (await dashboard.get(`/api/projects/${project}/actors/${actor}/steps?limit=200`)).body.data
}

/** The highlighted state and the turn in the context that the page shows after each of `times` presses of a key. */
const shownByKeys = (
  key: string,
  times: number,
): Promise<readonly { readonly state: string; readonly turn: string }[]> =>
  page.evaluate(`(async () => {
    const shown = []
    for (let press = 0; press < ${times}; press++) {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }))
      await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))
      const turn = [...document.querySelectorAll('table.context tr')].find((row) => /^turn/.test(row.textContent.trim()))
      const state = document.querySelector('[data-standing=current]')?.getAttribute('data-state')
      shown.push({ state, turn: turn?.textContent.trim() ?? '' })
    }
    return shown
  })()`)

// one of these tests runs axe forty times
describe.skipIf(executablePath === undefined)('pages of the console', { timeout: 480_000 }, () => {
  beforeAll(async () => {
    world = await World.start()
    browser = await openBrowser()
    await signIn()
    const { body } = await (await world.dashboard()).get('/api/projects?limit=100')
    project = body.data[0].id
  })
  afterAll(async () => {
    await world.stop()
  })
  beforeEach(() => open())
  afterEach(() => context.close())

  it('list a waiting action on the home page, from which it can be approved with edited arguments', async () => {
    const { session, action } = await pausedSession()
    await show()
    const waits = page.getByRole('region', { name: 'Waiting for a person' })
    const row = waits.getByRole('listitem').filter({ has: page.locator(`a[data-id="${session}"]`) })
    await row.getByText('high risk').waitFor()
    expect(await row.textContent()).toContain('order 7')
    await row.getByRole('link', { name: 'refund', exact: true }).click()
    await page.locator(`h1[title="${action}"]`).waitFor()
    const form = page.getByRole('form', { name: 'Decide' })
    await form.getByLabel('Arguments').fill('{"order": "order 8"}')
    expect(await form.getByLabel('What you changed').textContent()).toContain('order 8')
    await form.getByRole('button', { name: 'Approve as edited' }).click()
    await form.getByRole('alert').waitFor()
    await form.getByLabel('Output').fill('Refunded')
    await form.getByLabel('Reason').fill('the customer named another order')
    const held = Promise.withResolvers<void>()
    await page.route('**/approve', (route) => held.promise.then(() => route.continue()))
    await form.getByRole('button', { name: 'Approve as edited' }).click()
    // one decision at a time
    await form.locator('[aria-disabled=true]', { hasText: 'Reject' }).waitFor()
    held.resolve()
    await form.waitFor({ state: 'detached' })
    const stored = await world.api.get(`/v1/actions/${action}`)
    expect(stored.body).toMatchObject({ arguments: { order: 'order 8' }, note: 'the customer named another order' })
  })

  it('have all waiting calls on one page, with what led to each, where keys choose, mark and reject them', async () => {
    const [first, second] = [await pausedSession(), await pausedSession()]
    await show()
    await page.getByRole('link', { name: 'Decide them in one place' }).click()
    await page.getByRole('heading', { name: 'Approvals' }).waitFor()
    const chosen = page.getByRole('list', { name: 'Waiting calls' }).locator('.chosen a')
    expect(await chosen.getAttribute('href')).toContain(second.action)
    await page.keyboard.press('x')
    await page.keyboard.press('j')
    await expect.poll(() => chosen.getAttribute('href')).toContain(first.action)
    await page.keyboard.press('x')
    const detail = page.getByRole('region', { name: 'Call of refund' })
    await detail.locator('.messages').getByText('Use the tool refund for order 7').waitFor()
    await detail.getByLabel('Sums').getByText('Cost').waitFor()
    // the caller runs this tool, so that it has its output
    await detail.getByLabel('Output of the tool').waitFor()
    await page.getByLabel('Reason for the marked calls').fill('not today')
    await page.getByRole('heading', { name: 'Approvals' }).click()
    await page.keyboard.press('r')
    await page.getByRole('status').getByText('2 rejected.').waitFor()
    for (const { action } of [first, second]) {
      const { body } = await world.api.get(`/v1/actions/${action}`)
      expect(body.status).toBe('rejected')
    }
    await page.goto(`${world.url}/#/audit`)
    await page.getByRole('row').filter({ hasText: 'not today' }).first().waitFor()
    expect(complaints).toEqual([])
  })

  it('list failures on the home page with their message, and link to the affected sessions', async () => {
    const sessions = [await world.api.createSession(), await world.api.createSession()]
    for (const session of sessions) await runTurn(session, { input: 'fail please' })
    await show()
    const failed = page.getByRole('region', { name: 'Failed in the last 24 hours' })
    await failed.getByText('The provider returned an error').waitFor()
    await failed.getByRole('link', { name: /times/ }).click()
    for (const session of sessions) await page.locator(`a[data-id="${session}"]`).waitFor()
    await page.locator(`a[data-id="${sessions[0]}"]`).click()
    // the cause is above the fold at any length of the log
    const error = page.locator('.log-error').filter({ hasText: 'provider_error' })
    await error.waitFor()
    expect((await error.boundingBox())?.y).toBeLessThan(300)
  })

  it('find an actor by the beginning of its id with the keyboard alone', async () => {
    const session = await world.api.createSession()
    await show()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type(session.slice(0, -2))
    await page.getByRole('option').getByTitle(session).waitFor()
    await page.keyboard.press('Enter')
    await page.locator(`h1[title="${session}"]`).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Find' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect(complaints).toEqual([])
  })

  it('highlight every state of a turn in the order of its commits, even a short one', async () => {
    const session = await world.api.createSession()
    await show(`#/actors/${session}`)
    await lit('active.idle')
    await page.locator('.stream[data-status=live]').waitFor()
    await page.evaluate(watchChart)
    const before = (await stepsOf(session)).length
    await runTurn(session, { input: 'Use the tool refund for order 7', tools: [refund] })
    await lit('paused')
    await world.api.post(`/v1/sessions/${session}/cancel`, {})
    await lit('active.idle')
    const moved = (await stepsOf(session)).slice(before).flatMap(({ to }) => (to === null ? [] : [to]))
    expect(moved).toEqual(['active.working.thinking', 'paused', 'active.idle'])
    await expect.poll(() => page.evaluate('window.seen')).toEqual(moved)
  })

  it('step through the commits of an actor with the arrow keys, and back to the present', async () => {
    const session = await world.api.createSession()
    for (let turn = 0; turn < 26; turn++) await runTurn(session, { input: `turn ${turn}` })
    const steps = await stepsOf(session)
    expect(steps.length).toBeGreaterThan(50)
    await show(`#/actors/${session}`)
    await lit('active.idle')
    await page.getByText(`Commit ${steps.at(-1)?.seq} of ${steps.at(-1)?.seq}, live`).waitFor()
    await page.getByRole('tab', { name: 'Steps' }).click()
    const stateAt = (index: number) => steps.slice(0, index + 1).findLast(({ to }) => to !== null)?.to ?? ''
    const last = steps.length - 1
    await page.keyboard.press('ArrowLeft')
    expect(await page.locator('[data-standing=current]').getAttribute('data-state')).toBe(stateAt(last - 1))
    const back = await shownByKeys('ArrowLeft', last - 1)
    expect(back.map(({ state }) => state)).toEqual(back.map((_, at) => stateAt(last - 2 - at)))
    expect(page.url()).toContain('step=1')
    // the context is that of the selected commit
    const fields = page.getByRole('table', { name: 'Context' }).getByRole('row')
    await page.getByRole('tab', { name: 'Context' }).click()
    await fields.filter({ hasText: /^turn.*0$/ }).waitFor()
    const forth = await shownByKeys('ArrowRight', last)
    const turnsAt = (index: number) =>
      steps.slice(0, index + 1).filter(({ to }) => to === 'active.working.thinking').length
    expect(forth.map(({ turn }) => Number(/\d+$/.exec(turn)?.[0]))).toEqual(forth.map((_, at) => turnsAt(at + 1)))
    await page.goto(page.url().replace(/(\?step=\d+)?$/, '?step=1'))
    await page.reload()
    await page.getByText(`Commit 1 of`).waitFor()
    await page.getByRole('button', { name: 'Back to now' }).click()
    await page.getByText(', live:').waitFor()
  })

  it('save an actor as a bundle, and open a dropped bundle as a read-only page', async () => {
    const { session } = await pausedSession()
    await show(`#/actors/${session}`)
    await lit('paused')
    const saving = page.waitForEvent('download')
    await page.locator('summary', { hasText: 'Save' }).click()
    await page.getByRole('button', { name: 'Save bundle' }).click()
    expect((await saving).suggestedFilename()).toMatch(/^session paused \d{4}-\d\d-\d\d \d\d\.\d\d \w{4}\.json$/)
    const file = await (await saving).path()
    const drawing = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Moving picture' }).click()
    expect(readFileSync(await (await drawing).path(), 'utf8')).toMatch(/^<svg .*animateMotion.*<\/svg>\n$/s)
    const text = readFileSync(file, 'utf8')
    const drop = (content: string) =>
      page.evaluate(`(() => {
        const data = new DataTransfer()
        data.items.add(new File([${JSON.stringify(content)}], 'saved.json', { type: 'application/json' }))
        dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))
      })()`)
    await page.getByRole('link', { name: 'Home' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await drop(text.replaceAll('issue', '<img src=x onerror=alert(1)>').replaceAll(session, 'ses_saved'))
    await page.locator('h1[title=ses_saved]').waitFor()
    await page.getByText('A saved bundle').waitFor()
    await lit('paused')
    await page.getByRole('tab', { name: 'Log' }).click()
    await page.getByRole('log').locator('[data-event="turn.paused"]').waitFor()
    expect(await page.getByRole('group', { name: 'Act' }).count()).toBe(0)
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('button', { name: 'Back to now' }).waitFor()
    for (const wrong of ['', '[]', '{"bundle":1,"actor":{"machine":"../x"}}', '{"bundle":1,"actor":null}']) {
      await page.goto(`${world.url}/#/bundle`)
      await page.getByRole('heading', { name: 'Open a bundle' }).waitFor()
      await drop(wrong)
      await page.getByText('is not a bundle').waitFor()
      await page.goto(`${world.url}/#/home`)
      await page.getByRole('heading', { name: 'Home' }).waitFor()
    }
    expect(complaints).toEqual([])
  })

  it('fork a session at a turn with a reason that is shown, and replay a run with a changed input', async () => {
    const session = await world.api.createSession()
    for (const input of ['one', 'two']) await runTurn(session, { input })
    await show(`#/actors/${session}`)
    await page.getByRole('button', { name: 'Fork' }).click()
    const form = page.getByRole('form', { name: 'Fork' })
    await form.getByLabel(/^Last turn/).fill('1')
    await form.getByLabel('Reason').fill('to try another way')
    await form.getByRole('button', { name: 'Fork' }).click()
    const link = page.getByRole('group', { name: 'Act' }).getByRole('link', { name: /^ses_/ })
    const forked = await link.textContent()
    // an audit log entry follows its commit with a delay: the first request comes before it
    let reads = 0
    await page.route(
      (url) => url.searchParams.get('resource_id') === forked,
      (route) => (reads++ === 0 ? route.fulfill({ json: { data: [] } }) : route.continue()),
    )
    await link.click()
    await page.getByRole('region', { name: 'Decisions' }).getByText('to try another way').waitFor()
    expect(reads).toBeGreaterThan(1)
    await page.getByRole('tab', { name: 'Log' }).click()
    await page.getByRole('log').locator('[data-event="session.forked"]').waitFor()
    const agent = await world.api.post('/v1/agents', { name: 'Again', config: { model: 'simulated-1' } })
    const made = await world.api.post(`/v1/agents/${agent.body.id}/runs`, { input: { prompt: 'hello' } })
    await page.goto(`${world.url}/#/actors/${made.body.id}`)
    await lit('completed')
    await page.getByRole('button', { name: 'Run again' }).click()
    const again = page.getByRole('form', { name: 'Run again' })
    // the form waits for the input of the run, and accepts none before
    await again.getByLabel('Input').fill('{"prompt": "good bye"}')
    expect(await again.getByLabel('What you changed').textContent()).toContain('good bye')
    await again.getByRole('button', { name: 'Run again' }).click()
    // the new run is opened
    await expect.poll(() => page.locator('h1').getAttribute('title')).not.toBe(made.body.id)
    await lit('completed')
    await page.getByRole('log').getByText('good bye').first().waitFor()
    expect(complaints).toEqual([])
  })

  it("follow a run's log live with the server's timestamps, and show a waiting run in the colour for waiting", async () => {
    const agent = await world.api.post('/v1/agents', {
      name: 'Support',
      config: { model: 'simulated-1', tools: [refund] },
    })
    const run = await world.api.post(`/v1/agents/${agent.body.id}/runs`, {
      input: { prompt: 'Use the tool refund for order 7' },
    })
    await show(`#/actors/${run.body.id}`)
    await lit('open.started.requires_action')
    const chip = page.locator('.state-now .chip')
    expect(await chip.getAttribute('data-tone')).toBe('wait')
    await page.locator('.stream[data-status=live]').waitFor()
    await (await world.dashboard()).post(`/v1/runs/${run.body.id}/cancel`, {}, { headers: { 'x-project-id': project } })
    await page.getByRole('tab', { name: 'Log' }).click()
    const last = page.getByRole('log').locator('[data-event="run.cancelled"]')
    await last.waitFor()
    const dashboard = await world.dashboard()
    const { body } = await dashboard.get(`/api/projects/${project}/actors/${run.body.id}/events?limit=200`)
    expect(await last.locator('time').getAttribute('datetime')).toBe(body.data.at(-1).created_at)
    expect(await page.getByRole('log').locator('[tabindex]:not([tabindex="-1"]), a:not([tabindex])').count()).toBe(0)
  })

  it.each([1280, 390])('have no axe violation at %i px in either theme, and do not scroll sideways', async (width) => {
    await context.close()
    await open({ viewport: { width, height: 800 }, reducedMotion: 'reduce' })
    const { session, action } = await pausedSession()
    await show()
    const hold = async (what: string) => expect([what, await axeFaults(page)]).toEqual([what, []])
    const pages = 'home overview approvals audit nowhere list/session fleet skills nodes stuck bundle'.split(' ')
    const hashes = [...drawnOf(pages, 2), `actors/${session}`, `actors/${action}`]
    for (const hash of hashes) {
      // without the heading of the page before
      await page.evaluate("document.getElementById('view').replaceChildren()")
      await page.goto(`${world.url}/#/projects/${project}/${hash}`)
      await page.locator('#view h1').waitFor()
      await hold(hash)
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      expect([hash, overflow]).toEqual([hash, 0])
    }
    for (const tab of ['Steps', 'Waterfall', 'Messages', 'Context', 'Log']) {
      await page.getByRole('tab', { name: tab }).click()
      await hold(tab)
    }
    const sizes = await page
      .locator('.chart text')
      .evaluateAll((texts) => texts.map((text) => text.getBoundingClientRect().height))
    expect(Math.min(...sizes)).toBeGreaterThan(9)
    expect(complaints).toEqual([])
  })
})
