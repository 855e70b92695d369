import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OpenConsole } from '../open-console.ts'

const refund = {
  type: 'function',
  function: { name: 'refund', parameters: { type: 'object', properties: { order: { type: 'string' } } } },
  needsApproval: true,
}

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('the fleet in the console', () => {
  let console: OpenConsole
  let paused = ''

  beforeAll(async () => {
    console = await OpenConsole.start()
    const { api } = console.world
    paused = await api.createSession()
    await (await api.turn(paused, { input: 'Use the tool refund for order 7', tools: [refund] })).all()
    await (await api.turn(await api.createSession(), { input: 'fail please' })).all()
    await console.show('fleet', 'Fleet')
  })
  afterAll(() => console?.stop())

  it('counts actors by state, with their failures by edge, and lists the actors of a state', async () => {
    const { page } = console
    const sessions = page.getByRole('region', { name: 'session', exact: true })
    await sessions
      .locator('.edge.failing')
      .getByText(/^\d+ failed$/)
      .first()
      .waitFor()
    await sessions.getByRole('table').getByRole('link', { name: 'paused' }).click()
    await page.locator(`a[data-id="${paused}"]`).waitFor()
    expect(page.url()).toContain('/list/session?state=paused')
  })

  it('moves a token for the steps of the last minute along their edge, at little cost and only where motion is wanted', async () => {
    const { page, world } = console
    await (await world.api.turn(await world.api.createSession(), { input: 'Hello' })).all()
    await console.show('fleet', 'Fleet')
    const sessions = page.getByRole('region', { name: 'session', exact: true })
    await sessions
      .getByText(/^\d+\/min$/)
      .first()
      .waitFor()
    const token = sessions.locator('.token').first()
    const before = await token.boundingBox()
    await expect.poll(() => token.boundingBox()).not.toEqual(before)
    const metrics = await page.context().newCDPSession(page)
    await metrics.send('Performance.enable', { timeDomain: 'threadTicks' })
    const busy = async () =>
      (await metrics.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0
    const from = await busy()
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 3000))')
    // a twentieth of a core; within the chart they took two fifths of a second
    expect((await busy()) - from).toBeLessThan(0.15)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await page.reload()
    await sessions.locator('.passed').first().waitFor()
    for (const each of await sessions.locator('.token').all()) expect(await each.isVisible()).toBe(false)
    expect(await page.evaluate('document.getAnimations().length')).toBe(0)
    expect(console.complaints).toEqual([])
  })
})
