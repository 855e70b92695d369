import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright'
import { startServer } from '../scripts/quickstart/server-process.ts'
import { findChromium } from '../scripts/services/chromium.ts'
import { startMongod } from '../scripts/services/mongod.ts'
import { freePort } from '../scripts/services/service.ts'
import { actorRows, definitions, kinds } from '../src/actors/capabilities.ts'
import { attention } from '../src/actors/observation/attention.ts'
import { findAnything } from '../src/actors/observation/find.ts'
import { fleet } from '../src/actors/observation/fleet.ts'
import { Headlines } from '../src/actors/observation/headlines.ts'
import { listActors } from '../src/actors/observation/list-actors.ts'
import { StateDurations } from '../src/actors/observation/state-durations.ts'
import { idAt } from '../src/actors/runtime/ids.ts'
import { openMongoStorage } from '../src/storage/mongo/open-mongo-storage.ts'
import type { Storage, StoredRecord } from '../src/storage/ports.ts'
import { projectScope } from '../src/storage/scope.ts'
import { openSqliteStorage } from '../src/storage/sqlite/open-sqlite-storage.ts'
import { sized } from './extent.ts'
import type { Row } from './row.ts'

const actors = sized(100_000, 1_000)
const events = sized(10_000, 400)
const rounds = sized(60, 2)
const project = 'prj_console'
const scope = projectScope(project)

/** Measures what users of the console wait for: lists over many actors, and a browser that shows many events. */
export async function benchConsole(): Promise<readonly Row[]> {
  return [...(await benchLists()), ...(await benchBrowser())]
}

const states = ['active.idle', 'active.working.thinking', 'paused', 'completed', 'expired'] as const

const rowOf = (index: number): StoredRecord => {
  const actor_state = states[index % states.length] ?? states[0]
  const data = { status: 'active', turn_count: 1, agent_id: `agt_${index % 7}`, metadata: {}, total_cost: '0' }
  const at = Date.now() - (actors - index) * 1_000
  return {
    ...{ id: idAt('ses', at), project, tenant: `ten_${index % 50}`, user: null, version: 1 },
    ...{ created_at: at, updated_at: at, expires_at: null },
    data: { ...data, actor_state, actor_activity: actor_state === 'completed' ? 'ended' : 'waiting' },
  }
}

const benchLists = async (): Promise<readonly Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-console-'))
  const { url, stop } = await startMongod()
  try {
    return [
      ...(await listsOf(openSqliteStorage({ path: join(folder, 'many.db') }))),
      ...(await listsOf(await openMongoStorage({ url, database: 'console' }))),
    ]
  } finally {
    await stop()
    rmSync(folder, { recursive: true })
  }
}

const listsOf = async (storage: Storage): Promise<readonly Row[]> => {
  await storage.records.prepare(kinds)
  const kind = actorRows.session
  if (kind === undefined) throw new Error('sessions have rows')
  for (let first = 0; first < actors; first += 1_000) {
    await storage.records.project(Array.from({ length: 1_000 }, (_, index) => ({ kind, record: rowOf(first + index) })))
  }
  const host = { rows: { shown: async () => {} }, find: noActor, load: async () => null }
  const now = Date.now
  const parts = {
    host,
    headlines: new Headlines(storage),
    records: storage.records,
    commits: storage.commits,
    definitions,
    rowsOfMachine: actorRows,
    now,
    dwells: new StateDurations(storage, now),
  }
  const list = (query: object) => () => listActors(parts, { ...call, scope, query: { limit: 50, ...query } })
  const reads: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['list, newest', list({})],
    ['list by state', list({ state: 'paused' })],
    ['list by state and tenant', list({ state: 'paused', tenant_id: 'ten_7' })],
    ['list by activity and agent', list({ activity: 'waiting', agent_id: 'agt_3' })],
    ['find by the beginning of an id', () => findAnything(parts, scope, 'ses_01')],
    ['fleet', () => fleet(parts, scope)],
    ['attention', () => attention(parts, scope)],
  ]
  const rows: Row[] = []
  for (const [name, read] of reads) {
    const taken = await timesOf(read)
    // the fleet query counts every state of every machine: it is not a list, and has no bound
    const bound = name === 'fleet' ? {} : { bound: { of: 'ours', atMost: 100 } as const }
    rows.push({ measure: `${storage.name}, ${actors} actors, ${name}, p99`, unit: 'ms', ours: taken, ...bound })
  }
  await storage.close()
  return rows
}

const noActor = (): Promise<never> => Promise.reject(new Error('no actors here'))

const call = {
  ...{ principal: { kind: 'public' as const }, params: { project_id: project }, body: undefined, requestId: '' },
  ...{ remoteAddress: '', idempotency: null, after: null, accept: '', files: [], signal: new AbortController().signal },
}

/** Returns the 99th percentile of the times of `read`, in ms, after one warm-up call. */
const timesOf = async (read: () => Promise<unknown>): Promise<number> => {
  await read()
  const taken: number[] = []
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now()
    await read()
    taken.push(performance.now() - begin)
  }
  return at(taken, 0.99)
}

const at = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN

const owner = { email: 'owner@example.com', password: 'twelve letters and more' }

const benchBrowser = async (): Promise<readonly Row[]> => {
  const executablePath = findChromium()
  if (executablePath === null) return []
  const folder = mkdtempSync(join(tmpdir(), 'troupe-console-'))
  const key = `csk_${'k'.repeat(43)}`
  const server = await startServer({
    ...{ PORT: String(await freePort()), DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'error', SIMULATED_PROVIDER: 'on' },
    ...{ BOOTSTRAP_SECRET_KEY: key, BOOTSTRAP_OWNER_EMAIL: owner.email, BOOTSTRAP_OWNER_PASSWORD: owner.password },
  })
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    const paint = await firstPaint(page, server.url)
    const { frames, worst } = await scrolled(page, server.url)
    const behind = await followed(page, { url: server.url, key })
    return [
      { measure: 'first paint', unit: 'ms', ours: paint, bound: { of: 'ours', atMost: 1_000 } },
      {
        measure: `${events} events, frames while scrolling`,
        unit: '1/s',
        ours: frames,
        bound: { of: 'ours', atLeast: 55 },
      },
      { measure: `${events} events, p99 of a frame`, unit: 'ms', ours: worst },
      {
        measure: '200 events a second, page is behind',
        unit: 'ms',
        ours: behind,
        bound: { of: 'ours', atMost: 2_000 },
      },
    ]
  } finally {
    await browser.close()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const firstPaint = async (page: Page, url: string): Promise<number> => {
  await page.goto(url)
  await page.getByLabel('E-mail').fill(owner.email)
  await page.getByLabel('Password').fill(owner.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  const found = await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime`)
  return Number(found)
}

/** Opens a saved actor with many events, loads all of them, and scrolls from the end to the beginning. */
const scrolled = async (page: Page, url: string) => {
  await page.goto(`${url}/#/bundle`)
  await page.getByRole('heading', { name: 'Open a bundle' }).waitFor()
  const created_at = new Date().toISOString()
  const log = Array.from({ length: events }, (_, index) => ({
    ...{ sequence: index + 1, event_type: 'tool_call.completed', turn_number: 1, created_at },
    payload: { tool: 'look', action_id: `act_${index}`, output: `line ${index} `.repeat(10) },
  }))
  const actor = {
    id: 'ses_many',
    machine: 'session',
    version: 5,
    active: ['active', 'active.idle'],
    last_sequence: events,
  }
  await page.locator('input[type=file]').setInputFiles({
    ...{ name: 'many.json', mimeType: 'application/json' },
    buffer: Buffer.from(JSON.stringify({ bundle: 1, actor, steps: [], log })),
  })
  await page.getByRole('heading', { name: 'ses_many' }).waitFor()
  const earlier = page.getByRole('button', { name: 'Load earlier' })
  while (await earlier.isVisible()) await earlier.click({ timeout: 2_000 }).catch(() => {})
  const lengths: readonly number[] = JSON.parse(String(await page.evaluate(scrollThrough)))
  return { frames: 1_000 / at(lengths, 0.5), worst: at(lengths, 0.99) }
}

/** Script for the browser: scrolls by one step per animation frame and returns the frame times in ms. */
const scrollThrough = `new Promise((resolve) => {
  const log = document.querySelector('.log')
  const lengths = []
  let last = performance.now()
  log.scrollTop = log.scrollHeight
  const step = (now) => {
    lengths.push(now - last)
    last = now
    log.scrollTop -= 400
    if (lengths.length < 300 && log.scrollTop > 500) requestAnimationFrame(step)
    else resolve(JSON.stringify(lengths.slice(5)))
  }
  requestAnimationFrame(step)
})`

/**
 * Measures how long after its commit the page shows the newest event, while sessions stream about 200 events a second
 * into one log.
 */
const followed = async (page: Page, { url, key }: { readonly url: string; readonly key: string }): Promise<number> => {
  const post = (path: string, body: object) =>
    fetch(url + path, {
      ...{ method: 'POST', body: JSON.stringify(body) },
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
  const { id } = JSON.parse(await (await post('/v1/sessions', {})).text())
  await page.goto(`${url}/#/actors/${id}`)
  await page.locator('.stream[data-status=live]').waitFor()
  let behind = 0
  const until = Date.now() + sized(8_000, 500)
  while (Date.now() < until) {
    // a turn of many short words, one event each
    await (await post(`/v1/sessions/${id}/turns`, { input: `say ${'so '.repeat(200)}` })).text()
    const ended = Date.now()
    const { data } = JSON.parse(
      await (
        await fetch(`${url}/v1/sessions/${id}/events?limit=1&page=1`, { headers: { authorization: `Bearer ${key}` } })
      ).text(),
    )
    if (data.length === 0) throw new Error('the session has no event')
    const turns = JSON.parse(
      await (await fetch(`${url}/v1/sessions/${id}`, { headers: { authorization: `Bearer ${key}` } })).text(),
    ).turn_count
    await page
      .locator('.log [data-event="turn.completed"]')
      .nth(turns - 1)
      .waitFor({ state: 'attached', timeout: 20_000 })
    behind = Math.max(behind, Date.now() - ended)
  }
  return behind
}
