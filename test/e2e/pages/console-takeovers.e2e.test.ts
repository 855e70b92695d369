import { hostname } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OpenConsole } from './open-console.ts'

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('the page of an actor', () => {
  let console: OpenConsole

  beforeAll(async () => {
    console = await OpenConsole.start()
  })
  afterAll(() => console?.stop())

  const touchedAfterCrash = async (session: string) => {
    await console.world.crash()
    await console.world.restart()
    await (await console.world.api.turn(session, { input: 'Hello' })).all()
  }

  it('reads no further once it is left while it loads', async () => {
    const { page, world, project } = console
    const session = await world.api.createSession()
    const left = Promise.withResolvers<void>()
    let reads = 0
    await page.route('**/steps?*', async (route) => {
      reads += 1
      const response = await route.fetch()
      const body = await response.json()
      await left.promise
      await route.fulfill({ response, json: { ...body, last_seq: 1_000_000 } })
    })
    await page.goto(`${world.url}/#/projects/${project}/actors/${session}`)
    await expect.poll(() => reads).toBe(1)
    await console.show('audit', 'Audit log')
    const answered = page.waitForResponse('**/steps?*')
    left.resolve()
    await answered
    await console.show('stuck', 'Stuck work')
    await console.show('home', 'Home')
    expect(reads).toBe(1)
    await page.unroute('**/steps?*')
  })

  it('shows the nodes that ran it, when, and which of them took over after a crash', async () => {
    const { page, world, project } = console
    const session = await world.api.createSession()
    await console.show(`actors/${session}`, session)
    await page.locator('.stream[data-status=live]').waitFor()
    const takeovers = page.getByRole('region', { name: 'Takeovers' })
    expect(await takeovers.count()).toBe(0)
    await touchedAfterCrash(session)
    await takeovers.getByText('after a crash').waitFor()
    await touchedAfterCrash(session)
    const owners = takeovers.getByRole('listitem')
    await expect.poll(() => owners.count()).toBe(3)
    const said = await owners.allTextContents()
    expect(said.map((text) => text.startsWith(hostname()))).toEqual([true, true, true])
    expect(said.map((text) => /after a crash|the first/.exec(text)?.[0])).toEqual([
      'after a crash',
      'after a crash',
      'the first',
    ])
    expect(said.map((text) => / on, /.test(text))).toEqual([true, false, false])
    const dashboard = await world.dashboard()
    const { data } = (await dashboard.get(`/api/projects/${project}/actors/${session}/steps?limit=200`)).body
    const kept: readonly { seq: number; owner: { epoch: number; since: string } }[] = data.filter(
      (step: { owner: unknown }) => step.owner !== null,
    )
    expect(kept.map(({ seq }) => seq)[0]).toBe(1)
    const epochs = kept.map(({ owner }) => owner.epoch)
    expect(epochs).toEqual([...new Set(epochs)].sort((a, b) => a - b))
    const times = kept.map(({ owner }) => owner.since)
    expect(times).toEqual([...new Set(times)].sort())
    await page.getByRole('tab', { name: 'Steps' }).click()
    expect(await page.getByText(/^taken over by/).count()).toBe(2)
    expect(await console.faults('takeovers')).toEqual([])
  })
})
