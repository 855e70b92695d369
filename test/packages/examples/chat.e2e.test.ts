import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Troupe } from '#client/index.ts'
import { decide, mintToken } from '#client/server/index.ts'
import { axeFaults } from '#test/e2e/pages/axe.ts'
import { closePages, openBrowser } from '#test/e2e/pages/open-browser.ts'
import { startToolServer, type ToolServer } from '#test/e2e/tool-server.ts'
import { World } from '#test/e2e/world.ts'
import { atNight } from '#test/setup/at-night.ts'
import { ours } from '../packed.ts'
import { bundled, type PageServer, servePage } from './bundled.ts'

let owner = { tenant_id: '', external_user_id: 'ada' }

let [world, tool, server, browser]: [World, ToolServer, PageServer, Browser] = Object(Array(4))
let agent = ''
let minted = 0
let life = 900
beforeAll(async () => {
  tool = await startToolServer()
  world = await World.start({ tools: [tool] })
  browser = await openBrowser()
  const tenant = await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })
  owner = { ...owner, tenant_id: tenant.body.id }
  const refund = { type: 'http', name: 'issue_refund', url: tool.url, needsApproval: true, approver: 'end_user' }
  const made = await world.api.post('/v1/agents', { name: 'Shop', config: { model: 'simulated-1', tools: [refund] } })
  agent = made.body.id
  const troupe = new Troupe({ baseUrl: world.url, key: world.secretKey })
  const code = await bundled('examples/chat/page.tsx')
  const html = `<!doctype html><title>Chat</title><body data-base-url="${world.url}" data-agent_id="${agent}"><div id="root"></div><script type="module" src="/code.js"></script>`
  server = await servePage({ html, code }, () => {
    minted++
    return mintToken(troupe, { ...owner, permissions: ['sessions:turn', 'sessions:approve'], expires_in: life })
  })
})
afterEach(() => closePages(browser))
afterAll(async () => {
  server.close()
  await world.stop()
  await tool.close()
})

const open = async (session = ''): Promise<Page> => {
  const page = await (await browser.newContext()).newPage()
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(`${server.url}/#${session}`)
  return page
}
const errors: string[] = []

const say = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Message').fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}

const lines = (page: Page) => page.getByRole('listitem').allTextContents()

const newestSession = async (): Promise<string> => (await world.api.get('/v1/sessions?limit=1')).body.data[0].id

describe('the example of a chat', () => {
  it('has at most 40 lines, none of which is about streams, tokens’ lives or retries', () => {
    const code = readFileSync(ours('examples/chat/page.tsx'), 'utf8')
    expect(code.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(40)
    expect(code).not.toMatch(/EventSource|reducer|retry|expires|setTimeout/)
  })

  it('streams answers, and runs a tool once that its user approves', async () => {
    const page = await open()
    await say(page, 'reply exactly: Hello from the server.')
    await expect.poll(() => lines(page)).toEqual(['reply exactly: Hello from the server.', 'Hello from the server.'])
    const calls = tool.calls.length
    await say(page, 'Please use issue_refund for order 7')
    const group = page.getByRole('group', { name: /issue_refund/ })
    await group.waitFor()
    // the document around the component is this test's
    expect((await axeFaults(page)).filter((each) => !/html-has-lang|page-has-heading-one/.test(each))).toEqual([])
    await group.getByRole('button', { name: 'Approve' }).click()
    await expect.poll(() => page.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true)
    expect(await group.count()).toBe(0)
    expect(tool.calls.length - calls).toBe(1)
    expect(errors).toEqual([])
  })

  it('goes on after the server was killed, and after a reload', async () => {
    const page = await open()
    await say(page, 'reply exactly: begin')
    await expect.poll(() => lines(page)).toContain('begin')
    await say(page, 'slow please')
    await expect.poll(async () => (await lines(page)).at(-1)?.length ?? 0).toBeGreaterThan(20)
    await world.crash()
    await expect.poll(() => page.getByRole('status').textContent()).not.toBe('live')
    await world.restart()
    await expect.poll(() => page.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true)
    const shown = await lines(page)
    expect(shown).toHaveLength(4)
    const session = await newestSession()
    const log = await world.api.log(session)
    expect(shown.at(-1)).toBe(log.at(-1)?.payload.output)
    const again = await open(session)
    await expect.poll(() => lines(again)).toEqual(shown)
    expect(errors).toEqual([])
  })

  it('sends nothing twice and loses nothing while its network is away', async () => {
    const page = await open()
    await say(page, 'reply exactly: begin')
    await expect.poll(() => lines(page)).toContain('begin')
    // the text is shown before the turn has ended, and until then nothing can be sent
    await expect.poll(() => page.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true)
    await page.context().setOffline(true)
    await say(page, 'reply exactly: later')
    await expect.poll(() => lines(page)).toHaveLength(3)
    if (atNight) await page.waitForTimeout(60_000)
    await page.context().setOffline(false)
    await expect.poll(() => lines(page)).toEqual(['reply exactly: begin', 'begin', 'reply exactly: later', 'later'])
    expect(errors).toEqual([])
  })

  it('renews tokens of a few seconds without a failed message', async () => {
    life = 3
    minted = 0
    const page = await open()
    for (let turn = 0; turn < 8; turn++) {
      await say(page, `reply exactly: answer ${turn}`)
      await expect.poll(() => lines(page)).toContain(`answer ${turn}`)
      await expect.poll(() => page.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true)
    }
    life = 900
    expect(minted).toBeGreaterThan(0)
    expect(errors).toEqual([])
  })
})

describe('a decision on the server of a page', () => {
  it('is made only about a call of a session of the user who is signed in', async () => {
    const troupe = new Troupe({ baseUrl: world.url, key: world.secretKey })
    const session = troupe.sessions.open(null, { create: { agent_id: agent, ...owner } })
    const sent = session.send('Please use issue_refund for order 8')
    const stop = session.subscribe(() => {})
    await expect.poll(() => session.getSnapshot().approvals).toHaveLength(1)
    const [{ action_id = '' } = {}] = session.getSnapshot().approvals
    const request = { decision: 'approve', session_id: String(session.id), action_id, ...owner } as const
    const other = troupe.sessions.open(null, { create: { agent_id: agent, ...owner } })
    await other.send('reply exactly: Hi.')
    for (const wrong of [{ external_user_id: 'eve' }, { tenant_id: 'ten_other' }, { session_id: String(other.id) }])
      await expect(decide(troupe, { ...request, ...wrong })).rejects.toMatchObject({ code: 'forbidden' })
    const deciding = new Troupe({ baseUrl: world.url, key: world.secretKey })
    expect(await decide(deciding, request)).toBe('approved')
    expect(deciding.opened.size, 'conversations that a server of many users keeps').toBe(0)
    expect(await sent).toMatchObject({ status: 'completed' })
    stop()
  })
})
