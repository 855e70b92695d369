import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OpenConsole } from './open-console.ts'

interface ShownStep {
  readonly effects: readonly { readonly name: string }[]
}

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('the page of an actor', () => {
  let console: OpenConsole

  beforeAll(async () => {
    console = await OpenConsole.start()
  })
  afterAll(() => console?.stop())

  it('has a waterfall with a bar for each effect and started actor, in order and within the total time', async () => {
    const { page, world, project } = console
    const session = await world.api.createSession()
    const tools = [{ type: 'function', function: { name: 'refund' }, needsApproval: true }]
    await (await world.api.turn(session, { input: 'hello' })).all()
    const frames = await (await world.api.turn(session, { input: 'Use the tool refund', tools })).all()
    const action = String(frames.at(-1)?.data.action_id)
    const steps = `/api/projects/${project}/actors/${session}/steps?limit=200`
    const { data }: { data: readonly ShownStep[] } = (await (await world.dashboard()).get(steps)).body
    const effects = data.flatMap((step) => step.effects.map(({ name }) => name))
    expect(effects.length).toBeGreaterThan(1)
    await console.show(`actors/${session}`, session)
    await page.getByRole('tab', { name: 'Waterfall' }).click()
    const rows = page.locator('.waterfall').first().locator(':scope > li')
    await rows.filter({ has: page.getByRole('link', { name: action }) }).waitFor()
    const names = await rows.locator(':scope > .name').allTextContents()
    expect(names.filter((name) => name !== action)).toEqual(effects)
    const bars = await rows.locator(':scope > .bar-line > .bar').evaluateAll((found) =>
      found.map((bar) => {
        const [own, line] = [bar.getBoundingClientRect(), bar.parentElement?.getBoundingClientRect()]
        return { left: own.left - (line?.left ?? 0), right: (line?.right ?? 0) - own.right }
      }),
    )
    expect(bars.map(({ left }) => left)).toEqual(bars.map(({ left }) => left).toSorted((a, b) => a - b))
    for (const { left, right } of bars) {
      expect(left).toBeGreaterThanOrEqual(-1)
      expect(right).toBeGreaterThanOrEqual(-1)
    }
    await rows.getByRole('link', { name: action }).click()
    await page.getByRole('heading', { name: action }).waitFor()
    expect(console.complaints).toEqual([])
  })
  it('has a first bar in its waterfall for the time that a run was queued', async () => {
    const { page, world } = console
    const agent = await world.api.post('/v1/agents', { name: 'Clerk', config: { model: 'simulated-1' } })
    const made = await world.api.post(`/v1/agents/${agent.body.id}/runs`, { input: { prompt: 'hello' } })
    const { id } = made.body
    await console.show(`actors/${id}`, id)
    await page.getByRole('tab', { name: 'Waterfall' }).click()
    const first = page.locator('.waterfall > li').first()
    await first.getByText('begun').waitFor()
    expect(await first.locator('.name').textContent()).toBe('queue')
  })

  it('cancels a waiting turn with a reason, which it shows', async () => {
    const { page, world } = console
    const session = await world.api.createSession()
    const tools = [{ type: 'function', function: { name: 'refund' }, needsApproval: true }]
    await (await world.api.turn(session, { input: 'Use the tool refund', tools })).all()
    await console.show(`actors/${session}`, session)
    await page.getByRole('button', { name: 'Cancel turn' }).click()
    const form = page.getByRole('form', { name: 'Cancel turn' })
    await form.getByLabel('Reason').fill('the customer called')
    await form.getByRole('button', { name: 'Cancel turn' }).click()
    await page.getByRole('region', { name: 'Decisions' }).getByText('the customer called').waitFor()
    await page.getByRole('button', { name: 'Cancel turn' }).waitFor({ state: 'detached' })
    expect((await world.api.get(`/v1/sessions/${session}`)).body.status).toBe('active')
    const { data } = (await world.api.get(`/v1/audit-log?resource_id=${session}`)).body
    expect(data).toMatchObject([{ action: 'session.cancelled', reason: 'the customer called' }])
  })
})
