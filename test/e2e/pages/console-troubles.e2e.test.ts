import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Browser, Locator, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patience } from '../patience.ts'
import { gatedTurn, refundTool, startToolServer, type ToolServer } from '../tool-server.ts'
import { World } from '../world.ts'
import { closePages, openBrowser } from './open-browser.ts'

const executablePath = process.env.CHROMIUM_PATH

let tool: ToolServer
/** URL of a closed server. */
let broken: string
let hanging: ToolServer
let world: World
let browser: Browser

/** A signed-in user whose clicks are counted. */
class Reader {
  static readonly #signedIn = new Map<World, Reader>()
  clicks = 0
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  /** The home page, which a sign-in shows: the owner signs in once to each installation. */
  static async atHome(world: World): Promise<Reader> {
    const known = Reader.#signedIn.get(world)
    if (known === undefined) return Reader.#signIn(world)
    known.clicks = 0
    await known.page.goto(world.url)
    await known.page.getByRole('heading', { name: 'Home' }).waitFor()
    return known
  }

  static async #signIn(world: World): Promise<Reader> {
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage()
    page.setDefaultTimeout(patience.timeout)
    await page.goto(world.url)
    await page.getByLabel('E-mail').fill(world.ownerEmail)
    await page.getByLabel('Password').fill(world.ownerPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    const reader = new Reader(page)
    Reader.#signedIn.set(world, reader)
    return reader
  }

  async click(what: Locator): Promise<void> {
    this.clicks++
    await what.click()
  }

  /** The first row of the home page in this section with this text, or with a link to the actor of this id. */
  need(title: string, says: string): Locator {
    const rows = this.page.getByRole('region', { name: title }).getByRole('listitem')
    return rows.filter(/_[0-9a-z]{26}$/.test(says) ? { has: this.page.getByTitle(says) } : { hasText: says }).first()
  }
}

const config = { model: 'simulated-1' }
const idOf = async (path: string, body: object): Promise<string> => {
  const answer = await world.api.post(path, body)
  expect(answer.status, path).toBeLessThan(300)
  return answer.body.id
}

/** A fault: how to cause it, its section on the home page, and the text that names its cause. */
interface Trouble {
  readonly plant: () => Promise<string>
  readonly title: string
  readonly cause: RegExp
}

const hangingTurn = () => ({
  ...gatedTurn(hanging, { effect: 'idempotent', needsApproval: false }),
  pause_on_tool_calls: false,
})

const troubles: Readonly<Record<string, Trouble>> = {
  'a paused turn': {
    plant: async () => {
      const session = await world.api.createSession()
      await (await world.api.turn(session, gatedTurn(tool))).all()
      return session
    },
    title: 'Waiting for a person',
    cause: /issue_refund/,
  },
  'a waiting run': {
    plant: async () => {
      const agent = await idOf('/v1/agents', {
        name: 'Waits',
        config: { ...config, tools: [refundTool(tool, { needsApproval: true })] },
      })
      return idOf(`/v1/agents/${agent}/runs`, { input: { prompt: 'Please use issue_refund for order 7' } })
    },
    title: 'Waiting for a person',
    cause: /issue_refund/,
  },
  'a failing tool': {
    plant: async () => {
      const session = await world.api.createSession()
      const tools = [{ ...refundTool(tool, { needsApproval: false }), name: 'lookup_order', url: `${tool.url}/closed` }]
      const turn = { input: 'Please use lookup_order for order 3', tools, pause_on_tool_calls: false }
      await (await world.api.turn(session, turn)).all()
      return 'lookup_order'
    },
    title: 'Failed in the last 24 hours',
    cause: /failed once.*status 401/,
  },
  'a failing provider': {
    plant: async () => {
      const session = await world.api.createSession()
      await (await world.api.turn(session, { input: 'fail please' })).all()
      return 'provider_error'
    },
    title: 'Failed in the last 24 hours',
    cause: /The provider returned an error/,
  },
  'an expired approval': {
    plant: async () => {
      await idOf('/v1/actions', { tool: 'late_refund', arguments: {}, expires_in: 1 })
      return 'expired'
    },
    title: 'Failed in the last 24 hours',
    cause: /expired/,
  },
  'a refused budget': {
    plant: async () => {
      const tenant = await idOf('/v1/tenants', { external_id: 'poor', name: 'Poor' })
      await idOf('/v1/limits', { subject: 'tenant', subject_id: tenant, budget_total_usd: '0' })
      const session = await idOf('/v1/sessions', { tenant_id: tenant })
      await (await world.api.turn(session, { input: 'hello' })).all()
      return 'budget'
    },
    title: 'Failed in the last 24 hours',
    cause: /budget/i,
  },
  'a hanging tool': {
    plant: async () => {
      const session = await world.api.createSession()
      void world.api.turn(session, hangingTurn()).catch(() => {})
      return session
    },
    title: 'Slow',
    cause: /has not answered/,
  },
  'a slow effect of a run': {
    plant: async () => {
      const tools = [refundTool(hanging, { needsApproval: false, effect: 'idempotent' })]
      const agent = await idOf('/v1/agents', { name: 'Slow', config: { ...config, tools } })
      await idOf(`/v1/agents/${agent}/runs`, { input: { prompt: 'Please use issue_refund for order 8' } })
      return 'open.started'
    },
    title: 'Slow',
    cause: /has not answered/,
  },
  'a stuck child': {
    plant: async () => {
      const tools = [refundTool(hanging, { needsApproval: false, effect: 'idempotent' })]
      const child = await idOf('/v1/agents', { name: 'Child', config: { ...config, tools } })
      const parent = await idOf('/v1/agents', {
        name: 'Parent',
        config: { ...config, subagents: [{ agent_id: child }] },
      })
      const prompt = `Please use delegate_to_${child} with task: "Please use issue_refund for order 9"`
      return idOf(`/v1/agents/${parent}/runs`, { input: { prompt } })
    },
    title: 'Slow',
    cause: /has not answered.*waits for it/,
  },
}

const webhookTrouble: Trouble = {
  plant: async () => {
    await idOf('/v1/webhooks', { name: 'broken hook', url: broken, events: ['*'] })
    await idOf('/v1/actions', { tool: 'noticed', arguments: {} })
    return 'broken hook'
  },
  title: 'Failing webhooks',
  cause: /has failed since then \(unreachable\)/,
}

const leadsToCause = async (world: World, trouble: Omit<Trouble, 'plant'> | undefined, planted: string) => {
  const { title, cause } = trouble ?? { title: '', cause: /^$/ }
  const reader = await Reader.atHome(world)
  const row = reader.need(title, planted)
  await row.waitFor()
  await expect.poll(() => row.textContent()).toMatch(cause)
  expect(reader.clicks, 'clicks from the sign-in to the cause').toBe(0)
  await reader.click(row.getByRole('link').first())
  // the actor's page explains its state
  await reader.page.getByRole('region', { name: 'Why it is here' }).waitFor()
  // an open page costs processor time while others are read
  await reader.page.goto('about:blank')
}

describe.skipIf(executablePath === undefined)('a fault in the console', () => {
  const planted = new Map<string, string>()
  /** An installation whose server is killed repeatedly. */
  let fragile: World
  let held: ToolServer
  /** A tool whose calls are each followed by a kill of the server. */
  let deadly: ToolServer

  beforeAll(async () => {
    ;[tool, hanging, held, deadly] = [
      await startToolServer(),
      await startToolServer(),
      await startToolServer(),
      await startToolServer(),
    ]
    hanging.hold()
    const closed = await startToolServer()
    broken = closed.url
    await closed.close()
    world = await World.start({ tools: [tool, hanging, closed] })
    fragile = await World.start({ tools: [held, deadly], ownProcess: true })
    browser = await openBrowser()
  }, 120_000)
  afterAll(async () => {
    if (browser !== undefined) await closePages(browser)
    hanging?.answer()
    deadly?.answer()
    await Promise.all([world?.stop(), fragile?.stop()])
    await Promise.all([tool, hanging, held, deadly].map((server) => server?.close()))
  })

  const crashed = async (meanwhile: () => void = () => {}): Promise<void> => {
    await fragile.crash()
    meanwhile()
    await fragile.restart()
  }

  it('is named with its cause on the page after the sign-in, and one click from its log: a lost lease', {
    timeout: 120_000,
  }, async () => {
    const config = { model: 'simulated-1', on_interrupted: 'fail' }
    const agent = await fragile.api.post('/v1/agents', { name: 'Unrepeatable', config })
    const session = await fragile.api.createSession({ agent_id: agent.body.id })
    const stream = await fragile.api.turn(session, { input: 'slow please' })
    await stream.until(({ event }) => event === 'response.output_text.delta')
    // another process owns the actors from now on
    await crashed()
    await fragile.api.get(`/v1/sessions/${session}`)
    const trouble = { title: 'Failed in the last 24 hours', cause: /The server stopped while it was generating/ }
    await leadsToCause(fragile, trouble, 'interrupted')
    const reader = await Reader.atHome(fragile)
    await reader.need('Crashes of nodes', 'Took over').waitFor()
  })

  it('is named with its cause on the page after the sign-in, and one click from its log: a poison message', {
    timeout: 120_000,
  }, async () => {
    const session = await fragile.api.createSession()
    const frames = await (await fragile.api.turn(session, gatedTurn(held))).all()
    const action = String(frames.at(-1)?.data.action_id)
    await crashed(() => {
      const database = new DatabaseSync(join(fragile.toolEnv.DATA_DIR, 'troupe.db'))
      database.exec(`update commits set snapshot = json_set(snapshot, '$.context.calls', null)
        where actor = '${session}' and seq = (select max(seq) from commits where actor = '${session}')`)
      database.close()
    })
    void fragile.api.post(`/v1/actions/${action}/approve`, {}).catch(() => {})
    await leadsToCause(fragile, { title: 'Stuck', cause: /poison message/ }, 'poison message')
  })

  it('is named with its cause on the page after the sign-in, and one click from its log, and can be revived: a parked actor', {
    timeout: 240_000,
  }, async () => {
    const session = await fragile.api.createSession()
    deadly.hold()
    const turn = { ...gatedTurn(deadly, { effect: 'idempotent', needsApproval: false }), pause_on_tool_calls: false }
    void fragile.api.turn(session, turn).catch(() => {})
    // the fourth start is alone, after a quiet period
    for (let starts = 1; starts <= 4; starts++) {
      await deadly.called(starts)
      await crashed()
    }
    await leadsToCause(fragile, { title: 'Stuck', cause: /The process ended 4 times/ }, 'parked actor')
    const reader = await Reader.atHome(fragile)
    await reader.click(reader.need('Stuck', 'parked actor').getByRole('link').first())
    await reader.page.getByRole('button', { name: 'Revive' }).click()
    const form = reader.page.getByRole('form', { name: 'Revive' })
    await form.getByLabel('Reason').fill('the tool answers again')
    deadly.answer()
    await form.getByRole('button', { name: 'Revive' }).click()
    await reader.page.getByRole('region', { name: 'Decisions' }).getByText('the tool answers again').waitFor()
    await reader.page.locator('[data-state="active.idle"][data-standing=current]').waitFor()
  })

  describe('in one installation', () => {
    beforeAll(async () => {
      for (const [name, { plant }] of Object.entries(troubles)) planted.set(name, await plant())
    }, 120_000)

    it('is named with its cause on the page after the sign-in, and can be replayed: a failing webhook', {
      timeout: 120_000,
    }, async () => {
      const name = await webhookTrouble.plant()
      const reader = await Reader.atHome(world)
      const row = reader.need(webhookTrouble.title, name)
      await row.waitFor()
      await expect.poll(() => row.textContent()).toMatch(webhookTrouble.cause)
      expect(reader.clicks, 'clicks from the sign-in to the cause').toBe(0)
      await reader.click(row.getByRole('link').first())
      await reader.click(reader.page.locator('a[data-id^=dlv_]').first())
      await reader.page.getByText('delivery.attempted').first().waitFor()
      const failed = await reader.page.locator('h1').getAttribute('title')
      await reader.page.getByRole('button', { name: 'Replay' }).click()
      const form = reader.page.getByRole('form', { name: 'Replay' })
      await form.getByLabel('Reason').fill('the receiver is back')
      await form.getByRole('button', { name: 'Replay' }).click()
      const again = reader.page.getByRole('status').getByRole('link', { name: /^dlv_/ })
      expect(await again.textContent()).not.toBe(failed)
      await again.click()
      await reader.page.getByText('delivery.attempted').first().waitFor()
    })

    it('shows a failed tool red in its log and marked in lists, and finds it by its name', async () => {
      const reader = await Reader.atHome(world)
      const { page } = reader
      await page.keyboard.press('/')
      await page.getByRole('combobox', { name: 'Find' }).fill('lookup_order')
      await page.getByRole('option').filter({ hasText: 'tool_http_error' }).click()
      const row = page.getByRole('row').filter({ hasText: '1 failed' })
      await row.getByRole('link').first().click()
      await page.getByText(/lookup_order failed: tool_http_error/).waitFor()
      await page.getByRole('tab', { name: 'Log' }).click()
      await page.locator('[data-event="tool_call.completed"][data-failed]').waitFor()
      // the server runs the tool, so that no person has its output
      await page.goto(`${world.url}/#/approvals`)
      const waiting = page.getByRole('list', { name: 'Waiting calls' })
      await waiting
        .getByRole('link', { name: /issue_refund/ })
        .first()
        .click()
      const call = page.getByRole('region', { name: 'Call of issue_refund' })
      await call.getByRole('form', { name: 'Decide' }).waitFor()
      expect(await call.getByLabel(/^Output of the tool/).count()).toBe(0)
    })

    it.each(Object.keys(troubles))(
      'is named with its cause on the page after the sign-in, and one click from its log: %s',
      { timeout: 120_000 },
      async (name) => {
        await leadsToCause(world, troubles[name], planted.get(name) ?? '')
      },
    )
  })
})
