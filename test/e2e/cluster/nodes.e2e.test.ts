import type { Browser, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closePages, openBrowser } from '../pages/open-browser.ts'
import { ClusterWorld } from './cluster-world.ts'

const executablePath = process.env.CHROMIUM_PATH
const patience = { timeout: 60_000 }

let world: ClusterWorld
let browser: Browser

const signIn = async (page: Page, url: string, hash: string) => {
  page.setDefaultTimeout(patience.timeout)
  const { ownerEmail, ownerPassword } = world.cluster.credentials
  await page.goto(`${url}/${hash}`)
  await page.getByLabel('E-mail').fill(ownerEmail)
  await page.getByLabel('Password').fill(ownerPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

const nodeRow = (page: Page, text: string | RegExp) =>
  page.getByRole('table', { name: 'Nodes' }).getByRole('row').filter({ hasText: text })

describe.skipIf(executablePath === undefined)('the nodes of a cluster in the console', () => {
  beforeAll(async () => {
    world = await ClusterWorld.start(3)
    // sessions keep their owners from here on
    await world.settled()
    browser = await openBrowser()
  }, 180_000)
  afterAll(async () => {
    if (browser !== undefined) await closePages(browser)
    await world?.stop()
  })

  it('are all shown with their live sessions and shards, and a killed one disappears', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    const sessions = await Promise.all(world.apis.map((api) => api.createSession()))
    const [first] = world.nodes
    if (first === undefined) throw new Error('the cluster has no node')
    await signIn(page, first.url, '#/nodes')
    for (const { name } of world.nodes) await nodeRow(page, new RegExp(`^${name}.*running`)).waitFor(patience)
    await nodeRow(page, /node-1.*this one/).waitFor(patience)
    for (const session of sessions) await page.getByRole('link').and(page.getByTitle(session)).waitFor(patience)

    const session = sessions[1] ?? ''
    const { owner } = await world.sides(session)
    await page.getByRole('link').and(page.getByTitle(session)).click()
    await page.locator('.facts dt', { hasText: 'Node' }).waitFor(patience)
    expect(await page.locator('.facts dt:text-is("Node") + dd').textContent()).toBe(owner.name)

    await page.getByRole('heading', { name: 'Installation' }).click()
    await page.getByRole('link', { name: 'Nodes' }).click()
    await nodeRow(page, 'node-3').waitFor(patience)
    await page
      .locator('.shard-legend')
      .getByText(/node-3, \d+ shards$/)
      .waitFor(patience)
    await world.nodes[2]?.kill9()
    await nodeRow(page, 'node-3').waitFor({ state: 'detached', ...patience })
    // the remaining nodes report lost leases as takeovers
    const takeovers = page.getByRole('table', { name: 'Takeovers' }).getByRole('row')
    await takeovers.filter({ hasText: 'node-3' }).first().waitFor(patience)
    expect(await page.getByRole('list', { name: 'Shards by node' }).getByRole('listitem').count()).toBe(
      (await world.leases()).leases.length,
    )
    for (const name of ['node-1', 'node-2']) await nodeRow(page, new RegExp(`^${name}.*running`)).waitFor(patience)
    await page.close()
    expect(complaints).toEqual([])
  })

  it('are shown while Redis is down, without the facts that only the directory has', async () => {
    const page = await browser.newPage()
    const [first] = world.nodes
    await signIn(page, first?.url ?? '', '#/nodes')
    await nodeRow(page, /^node-2.*running/).waitFor(patience)
    await world.cluster.redis.kill9()
    await nodeRow(page, /^node-2.*not known/).waitFor(patience)
    await nodeRow(page, /^node-1.*this one.*running/).waitFor(patience)
    expect(await nodeRow(page, /not known/).count()).toBeGreaterThan(0)
    await world.cluster.redis.restart()
    await nodeRow(page, /^node-2.*running/).waitFor(patience)
    await page.close()
  })
})
