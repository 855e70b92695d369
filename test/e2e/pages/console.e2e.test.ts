import type { Browser, BrowserContext, Page } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { openBrowser } from './open-browser.ts'

const executablePath = process.env.CHROMIUM_PATH

const weather = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
  needsApproval: true,
} as const

let world: World
let browser: Browser
let context: BrowserContext
let page: Page
let complaints: string[]
let requested: string[]

const open = async (options: Parameters<Browser['newContext']>[0] = {}) => {
  context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  context.setDefaultTimeout(patience.timeout)
  page = await context.newPage()
  complaints = []
  requested = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => requested.push(request.url()))
}

const signIn = async (hash = '') => {
  await page.goto(`${world.url}/${hash}`)
  await page.getByLabel('E-mail').fill(world.ownerEmail)
  await page.getByLabel('Password').fill(world.ownerPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

const read = async (actor: string) => {
  await signIn(`#/actors/${actor}`)
  await live()
  await page.getByRole('tab', { name: 'Log' }).click()
}

const live = () => page.locator('.stream[data-status=live]').waitFor()
const lit = (state: string) => page.locator(`[data-state="${state}"][data-standing=current]`).waitFor()
const rowOf = (actor: string) => page.getByRole('row').filter({ has: page.locator(`a[data-id="${actor}"]`) })
const runTurn = async (session: string, body: object) => (await world.api.turn(session, body)).all()
const entry = (name: string) => page.getByRole('log').locator(`[data-event="${name}"]`)

const tabTo = async (name: string) => {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab')
    const focused = page.locator('a:focus', { hasText: name }).or(page.locator(`a:focus[data-id="${name}"]`))
    if ((await focused.count()) === 1) return
  }
  throw new Error(`no Tab leads to ${name}`)
}

/** Rendered font size of each state's name, and whether it is in the window. */
const measuredTexts = `[...document.querySelectorAll('.chart .state text')].map((text) => {
  const { left, top, right, bottom } = text.getBoundingClientRect()
  const inView = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight
  return { px: parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a, inView }
})`

/** Sequence numbers in the log of the page, with joined texts resolved into their events. */
const shownSequences = async (): Promise<readonly number[]> => {
  const ranges = await page.locator('.entry-head .seq').allTextContents()
  return ranges.flatMap((range) => {
    const [first = 0, last = first] = range.split('–').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

const storedSequences = async (session: string) => (await world.api.log(session)).map(({ sequence }) => sequence)

describe.skipIf(executablePath === undefined)('the console', () => {
  beforeAll(async () => {
    world = await World.start()
    browser = await openBrowser()
  })
  afterAll(async () => {
    await world.stop()
  })
  beforeEach(() => open())
  afterEach(() => context.close())

  it('lists the sessions of a project by status, and new ones as they are created', async () => {
    const idle = await world.api.createSession()
    const paused = await world.api.createSession()
    await runTurn(paused, { input: 'Use the tool get_weather for Oslo', tools: [weather] })
    await signIn('#/sessions')
    await rowOf(idle).getByText('idle', { exact: true }).waitFor()
    await rowOf(paused).getByText('paused', { exact: true }).waitFor()
    await page.locator('select[name=state]').selectOption('paused')
    await page.locator(`a[data-id="${idle}"]`).waitFor({ state: 'detached' })
    await rowOf(paused).waitFor()
    expect(page.url()).toContain('state=paused')
    await page.getByRole('link', { name: 'Clear' }).click()
    const later = await world.api.createSession()
    await page.locator(`a[data-id="${later}"]`).click()
    await lit('active.idle')
    expect(await page.title()).toBe(`session …${later.slice(-5)} · Troupe`)
    expect(complaints).toEqual([])
  })

  it('highlights the state of a running turn and follows its log, with requests to this server only', async () => {
    const session = await world.api.createSession()
    await read(session)
    await lit('active.idle')
    const running = runTurn(session, { input: 'Say something slow please' })
    await lit('active.working.thinking')
    await page.locator('.output').first().waitFor()
    await running
    await lit('active.idle')
    await entry('turn.completed').waitFor()
    const [last] = (await world.api.log(session)).slice(-1)
    expect(await page.locator('.output').first().textContent()).toBe(last?.payload.output)
    expect(await shownSequences()).toEqual(await storedSequences(session))
    expect(complaints).toEqual([])
    // the edges taken stay marked on the chart, up to the selected commit
    const walked = page.locator('.edge.walked')
    expect(await walked.count()).toBe(2)
    await page.getByRole('slider').press('Home')
    await expect.poll(() => walked.count()).toBe(0)
    await page.getByRole('button', { name: 'Back to now' }).click()
    await expect.poll(() => walked.count()).toBe(2)
    expect(requested.filter((url) => !url.startsWith(`${world.url}/`))).toEqual([])
    expect(requested.filter((url) => /csk_|token|password/i.test(url))).toEqual([])
  })

  it('shows the action that a paused session waits for, and its progress once that is approved', async () => {
    const session = await world.api.createSession()
    await read(session)
    const frames = await runTurn(session, { input: 'Use the tool get_weather for Oslo', tools: [weather] })
    await lit('paused')
    const action = String(frames.at(-1)?.data.action_id)
    const waiting = page.getByRole('region', { name: 'Open actions' })
    await waiting.getByText('pending approval').waitFor()
    await waiting.getByRole('link', { name: 'get_weather' }).click()
    await page.locator(`h1[title="${action}"]`).waitFor()
    await lit('pending_approval')
    const results = [{ action_id: action, output: 'Sunny' }]
    const { status } = await world.api.post(`/v1/actions/${action}/approve`, { tool_results: results })
    expect(status).toBe(200)
    await lit('executed')
    await page.locator(`a[data-id="${session}"]`).first().click()
    await lit('active.idle')
    await entry('turn.completed').waitFor()
    // ids in the log are links, which the Tab key reaches while payloads are expanded
    const inLog = entry('turn.paused').getByRole('link', { name: action })
    expect(await inLog.getAttribute('tabindex')).toBe('-1')
    await page.getByRole('log').press('Enter')
    expect(await inLog.getAttribute('tabindex')).toBe('0')
    await inLog.press('Enter')
    await page.locator(`h1[title="${action}"]`).waitFor()
    expect(complaints).toEqual([])
  })

  it('resumes the log without gaps after a crash of the server', async () => {
    const session = await world.api.createSession()
    await runTurn(session, { input: 'before the crash' })
    await read(session)
    await entry('turn.completed').waitFor()
    await world.crash()
    await page.locator('.stream[data-status=reconnecting]').waitFor()
    await world.restart()
    await live()
    await runTurn(session, { input: 'after the crash' })
    await expect.poll(() => entry('turn.completed').count()).toBe(2)
    expect(await shownSequences()).toEqual(await storedSequences(session))
    await page.locator('#notice').waitFor({ state: 'hidden' })
  })

  it('shows the newest events of a long log first, and older ones on request', async () => {
    const session = await world.api.createSession()
    const turns = 80
    for (let turn = 0; turn < turns; turn++) await runTurn(session, { input: `turn ${turn}` })
    const stored = await storedSequences(session)
    expect(stored.length).toBeGreaterThan(200)
    await read(session)
    expect(await shownSequences()).toEqual(stored.slice(-200))
    const earlier = page.getByRole('button', { name: 'Load earlier' })
    while (await earlier.isVisible()) {
      const before = await page.locator('.entry').count()
      await earlier.click()
      await expect.poll(() => page.locator('.entry').count()).toBeGreaterThan(before)
    }
    expect(await shownSequences()).toEqual(stored)
  })

  it('reports a deleted session, an unknown id and an unknown page as not existing, with a way home', async () => {
    const session = await world.api.createSession()
    await read(session)
    await world.api.get(`/v1/sessions/${session}`, { method: 'DELETE' })
    await page.getByRole('alert').getByText('What this address names does not exist').waitFor()
    for (const nowhere of ['actors/ses_unknown', 'nowhere']) {
      await page.goto(`${world.url}/#/${nowhere}`)
      await page.getByRole('heading', { name: 'Not found' }).waitFor()
      await page.locator('#view').getByRole('link', { name: 'Home' }).click()
      await page.getByRole('heading', { name: 'Home' }).waitFor()
    }
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Find a page').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' })
    expect(await page.title()).toContain('Home')
  })

  it('shows operators the node and its live actors, and members neither', async () => {
    const session = await world.api.createSession()
    await signIn()
    await page.getByRole('heading', { name: 'Installation' }).click()
    await page.getByRole('link', { name: 'Nodes' }).click()
    const compaction = page
      .getByRole('table', { name: 'Housekeeping' })
      .getByRole('row')
      .filter({ hasText: 'compaction' })
    await compaction.getByText('running').waitFor()
    const node = page.getByRole('table', { name: 'Nodes' }).getByRole('row').filter({ hasText: 'this one' })
    await node.filter({ hasText: 'running' }).filter({ hasText: '256' }).waitFor()
    const live = page.getByRole('table', { name: 'Live actors' }).getByRole('row')
    await live.filter({ has: page.locator(`a[data-id="${session}"]`) }).waitFor()
    await page.locator(`a[data-id="${session}"]`).click()
    await lit('active.idle')
    expect(complaints).toEqual([])

    const password = 'a long enough password'
    const status = await page.evaluate(async (secret) => {
      const { data }: { data: { id: string }[] } = JSON.parse(await (await fetch('/api/projects')).text())
      const body = JSON.stringify({ email: 'member@example.com', password: secret, role: 'member' })
      const headers = { 'content-type': 'application/json' }
      return (await fetch(`/api/projects/${data[0]?.id}/members`, { method: 'POST', headers, body })).status
    }, password)
    expect(status).toBe(201)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('E-mail').fill('member@example.com')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await lit('active.idle')
    expect(
      await page
        .locator('.side')
        .getByText(/Installation|Nodes/)
        .allTextContents(),
    ).toEqual(['Installations'])
    await page.goto(`${world.url}/#/nodes`)
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('table').count()).toBe(0)
  })

  it.each([
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ])('fits the charts of a session and a run on $width x $height px, with text of 11 px or more', async (viewport) => {
    await context.close()
    await open({ viewport })
    const session = await world.api.createSession()
    await runTurn(session, { input: 'Use the tool get_weather for Oslo', tools: [weather] })
    const agent = await world.api.post('/v1/agents', { name: 'Sky', config: { model: 'simulated-1' } })
    const run = await world.api.post(`/v1/agents/${agent.body.id}/runs`, { input: { prompt: 'hello' } })
    await signIn()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    for (const [actor, state] of [
      [session, 'paused'],
      [run.body.id, 'completed'],
    ]) {
      await page.goto(`${world.url}/#/actors/${actor}`)
      await lit(state)
      const texts: readonly { px: number; inView: boolean }[] = await page.evaluate(measuredTexts)
      expect(texts.length).toBeGreaterThan(7)
      expect(texts.every(({ inView }) => inView)).toBe(true)
      expect(Math.min(...texts.map(({ px }) => px))).toBeGreaterThanOrEqual(11)
    }
    expect(complaints).toEqual([])
  })

  it('zooms and moves the chart by keys, wheel and buttons, and shows the header and reasons of a chosen commit', async () => {
    const session = await world.api.createSession()
    await runTurn(session, { input: 'Use the tool get_weather for Oslo', tools: [weather] })
    await signIn(`#/actors/${session}`)
    await lit('paused')
    const box = page.getByRole('group', { name: 'State chart' })
    const width = async () => Number((await box.locator('svg').getAttribute('viewBox'))?.split(' ')[2])
    const fitted = await width()
    await page.getByRole('button', { name: 'Zoom in' }).click()
    expect(await width()).toBeLessThan(fitted)
    await box.focus()
    await page.keyboard.press('0')
    expect(await width()).toBe(fitted)
    await page.keyboard.press('-')
    expect(await width()).toBeGreaterThan(fitted)
    await page.getByRole('button', { name: 'Fit the chart' }).click()
    await box.hover()
    await page.mouse.wheel(0, -300)
    await expect.poll(width).toBeLessThan(fitted)
    // the event that led here, and the guard of the transient state that decided
    expect(await page.locator('.edge-name').allTextContents()).toEqual(['model_answered', '[someWait]'])
    const film = page.getByRole('list', { name: 'Commits' })
    await film.getByRole('button', { name: 'turn' }).click()
    await page.locator('.state-now').getByText('at commit 2').waitFor()
    expect(await page.locator('.state-now .chip').textContent()).toBe('thinking')
    const why = page.getByRole('region', { name: 'Why it is here' })
    await why.getByText(/^In active.working.thinking .* by request turn/).waitFor()
    await why.getByText(/^Waiting for callModel .*\.$/).waitFor()
    await why.getByText('model_answered [someWait]').waitFor()
    expect(await page.locator('.messages p').allTextContents()).toEqual(['Use the tool get_weather for Oslo'])
    expect(complaints).toEqual([])
  })

  it('refuses a wrong password, and ends the session on sign-out', async () => {
    await page.goto(world.url)
    await page.getByLabel('E-mail').fill(world.ownerEmail)
    await page.getByLabel('Password').fill('not the password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').filter({ hasText: /\w/ }).waitFor()
    await signIn()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await context.cookies()).toEqual([])
    const answer = await page.request.get(`${world.url}/api/projects`)
    expect(answer.status()).toBe(401)
  })

  it.each([
    { width: 375, colorScheme: 'light' },
    { width: 375, colorScheme: 'dark' },
    { width: 820, colorScheme: 'dark' },
  ] as const)(
    'fits a screen of $width px ($colorScheme) without scrolling sideways',
    async ({ width, colorScheme }) => {
      await context.close()
      await open({ viewport: { width, height: 720 }, colorScheme })
      const session = await world.api.createSession()
      await runTurn(session, {
        input: `Use the tool get_weather for ${'Llanfairpwllgwyngyll'.repeat(8)}`,
        tools: [weather],
      })
      const overflow = () =>
        page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
      await page.goto(world.url)
      await page.getByLabel('E-mail').waitFor()
      expect(await overflow()).toBe(0)
      await signIn('#/sessions')
      await page.locator(`a[data-id="${session}"]`).waitFor()
      expect(await overflow()).toBe(0)
      await page.locator(`a[data-id="${session}"]`).click()
      await lit('paused')
      expect(await overflow()).toBe(0)
      const chart = page.getByRole('group', { name: 'State chart' })
      const [box, state] = [await chart.boundingBox(), await page.locator('[data-state=paused]').boundingBox()]
      expect(state?.x).toBeGreaterThanOrEqual(box?.x ?? 0)
      expect((state?.x ?? 0) + (state?.width ?? 0)).toBeLessThanOrEqual((box?.x ?? 0) + (box?.width ?? 0))
      await page.getByRole('heading', { name: 'Installation' }).click()
      await page.getByRole('link', { name: 'Nodes' }).click()
      await page.locator(`a[data-id="${session}"]`).waitFor()
      expect(await overflow()).toBe(0)
      expect(complaints).toEqual([])
    },
  )

  it('can be used with the keyboard alone', async () => {
    const session = await world.api.createSession()
    await page.goto(`${world.url}/#/sessions`)
    await page.keyboard.type(world.ownerEmail)
    await page.keyboard.press('Tab')
    await page.keyboard.type(world.ownerPassword)
    await page.keyboard.press('Enter')
    const link = page.locator(`a[data-id="${session}"]`)
    await link.waitFor()
    await tabTo(session)
    await page.keyboard.press('Enter')
    await page.locator(`h1[title="${session}"]`).waitFor()
    await tabTo('Skip to content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.locator('a:focus').textContent()).toBe('Session')
    await page.locator(`h1[title="${session}"]`).waitFor()
  })
})
