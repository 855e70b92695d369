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
    await page.locator(`h1[title="${action}"]`).waitFor()
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

  it('is compared with another run, marked in the list: steps side by side, with what differs in each and in sum', async () => {
    const { page, world } = console
    const parameters = { type: 'object', properties: { order: { type: 'string' } } }
    const tools = [{ type: 'function', function: { name: 'refund', parameters } }]
    const config = { model: 'simulated-1', tools }
    const agent = (await world.api.post('/v1/agents', { name: 'Clerk', config })).body.id
    const run = async (prompt: string) => {
      const { id } = (await world.api.post(`/v1/agents/${agent}/runs`, { input: { prompt } })).body
      await expect.poll(async () => (await world.api.get(`/v1/runs/${id}`)).body.status).toMatch(/completed|requires/)
      return id
    }
    const [called, answered] = [await run('Use the tool refund for order 7'), await run('reply exactly: nothing to do')]
    await console.show(`list/run?agent=${agent}`, 'Runs')
    expect(await page.getByRole('link', { name: 'Clerk' }).first().getAttribute('title')).toBe(agent)
    for (const id of [called, answered]) await page.locator(`input[title="${id}"]`).check()
    await page.getByRole('link', { name: 'Compare the two' }).click()
    await page.getByRole('heading', { name: 'Compare', level: 1 }).waitFor()
    expect(page.url()).toContain(`compare?a=${called}&b=${answered}`)
    const steps = page.getByRole('region', { name: 'Steps' })
    const call = steps.getByRole('listitem').filter({ hasText: 'refund' }).filter({ hasText: 'only in A' })
    expect(await call.getByLabel('Arguments of A').textContent()).toContain('7')
    await call.getByText('Not in B').first().waitFor()
    await page.getByRole('region', { name: 'Final answer' }).locator('ins').getByText('nothing to do').waitFor()
    const figures = page.getByRole('table', { name: 'Figures' })
    await figures.getByRole('row').filter({ hasText: 'Tokens' }).locator('.change').waitFor()
    await steps.getByRole('link', { name: 'Differences' }).click()
    await steps.locator('[aria-current]').getByText('Differences').waitFor()
    expect(await steps.getByRole('listitem').filter({ hasText: 'same' }).count()).toBe(0)
    expect(await console.faults('compare')).toEqual([])
    await page.getByRole('link', { name: 'Swap' }).click()
    await steps.getByText('only in B').first().waitFor()
    expect(page.url()).toContain(`compare?a=${answered}&b=${called}`)
    expect(console.complaints).toEqual([])
  })

  it('offers what it can be compared with, so that two turns of a session stand side by side', async () => {
    const { page, world } = console
    const session = await world.api.createSession()
    for (const input of ['reply exactly: one', 'reply exactly: two'])
      await (await world.api.turn(session, { input })).all()
    await console.show(`actors/${session}`, session)
    await page.getByRole('link', { name: 'Compare', exact: true }).click()
    await page.getByRole('link', { name: 'Another turn of this session' }).click()
    await page.getByRole('region', { name: 'B', exact: true }).waitFor()
    await page.getByLabel('Turn of A').selectOption({ label: '1: reply exactly: one' })
    await page.getByRole('region', { name: 'A', exact: true }).getByText('turn 1').waitFor()
    await page.getByLabel('Turn of B').selectOption({ label: '2: reply exactly: two' })
    await page.getByRole('region', { name: 'B', exact: true }).getByText('turn 2').waitFor()
    const answer = page.getByRole('region', { name: 'Final answer' })
    expect(await answer.locator('del').textContent()).toBe('one')
    expect(await answer.locator('ins').textContent()).toBe('two')
    expect(await console.faults('compare-turns')).toEqual([])
    expect(console.complaints).toEqual([])
  })

  it('runs a turn again with an edited message from one of its steps, in a fork that has what was before', async () => {
    const { page, world } = console
    const session = await world.api.createSession({ metadata: { order: 7 } })
    for (const input of ['reply exactly: one', 'reply exactly: two', 'reply exactly: three'])
      await (await world.api.turn(session, { input })).all()
    interface Message {
      readonly role: string
      readonly parts: readonly { readonly text?: string }[]
    }
    const answersOf = async (id: string) => {
      const { data }: { data: readonly Message[] } = (await world.api.get(`/v1/sessions/${id}/messages`)).body
      return data.flatMap(({ role, parts }) => (role === 'assistant' ? [parts[0]?.text] : []))
    }
    /** Opens the form at a commit, sends it with another message, and returns the session to which it leads. */
    const again = async (seq: number, turn: number, message: string) => {
      await console.show(`actors/${session}?step=${seq}`, session)
      await page.getByText(`Commit ${seq} of`).waitFor()
      await page.getByRole('button', { name: 'Run again' }).click()
      const form = page.getByRole('form', { name: 'Run again' })
      await form.getByText(`its steps until commit ${seq} happen anew`).waitFor()
      await form.getByLabel(`Message of turn ${turn}`).fill(message)
      await form.getByLabel('What you changed').waitFor()
      await form.getByRole('button', { name: 'Run again' }).click()
      await expect.poll(() => page.locator('h1').getAttribute('title')).not.toBe(session)
      return String(await page.locator('h1').getAttribute('title'))
    }
    const { data } = (await (await world.dashboard()).get(`/api/projects/${console.project}/actors/${session}/steps`))
      .body
    const [first, second] = data.flatMap(({ seq, to }: { seq: number; to: string | null }) =>
      to === 'active.working.thinking' ? [seq] : [],
    )
    const fork = await again(second, 2, 'reply exactly: zwei')
    await expect.poll(() => answersOf(fork)).toEqual(['one', 'zwei'])
    const fresh = await again(first, 1, 'reply exactly: eins')
    await expect.poll(() => answersOf(fresh)).toEqual(['eins'])
    expect((await world.api.get(`/v1/sessions/${fresh}`)).body.metadata).toEqual({ order: 7 })
    expect(await answersOf(session)).toEqual(['one', 'two', 'three'])
    // the fork is compared with what it repeats
    await console.show(`compare?a=${fork}`, 'Compare')
    await page.getByRole('link', { name: 'The session that it repeats' }).click()
    await page.getByRole('region', { name: 'B', exact: true }).locator(`a[data-id="${fork}"]`).waitFor()
    expect(console.complaints).toEqual([])
  })

  it('runs a run again from one of its steps with an edited task', async () => {
    const { page, world } = console
    const agent = (await world.api.post('/v1/agents', { name: 'Clerk', config: { model: 'simulated-1' } })).body.id
    const { id } = (await world.api.post(`/v1/agents/${agent}/runs`, { input: { prompt: 'reply exactly: one' } })).body
    await expect.poll(async () => (await world.api.get(`/v1/runs/${id}`)).body.status).toBe('completed')
    await console.show(`actors/${id}?step=2`, id)
    await page.getByText('Commit 2 of').waitFor()
    await page.getByRole('button', { name: 'Run again' }).click()
    const form = page.getByRole('form', { name: 'Run again' })
    await form.getByText('It goes on from commit 2: it knows what was said and done until then').waitFor()
    await form.getByLabel('Input').fill('{ "prompt": "reply exactly: zwei" }')
    await form.getByRole('button', { name: 'Run again' }).click()
    await expect.poll(() => page.locator('h1').getAttribute('title')).not.toBe(id)
    const made = await page.locator('h1').getAttribute('title')
    await expect.poll(async () => (await world.api.get(`/v1/runs/${made}`)).body.output?.text).toBe('zwei')
    expect(console.complaints).toEqual([])
  })
})
