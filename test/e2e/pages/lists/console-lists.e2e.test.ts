import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OpenConsole } from '../open-console.ts'

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('lists of the console, saved as CSV and as views', () => {
  let console: OpenConsole
  const chat = { model: 'simulated-1', messages: [{ role: 'user', content: 'Hello' }] }

  beforeAll(async () => {
    console = await OpenConsole.start()
    const { api } = console.world
    for (let count = 0; count < 101; count++) await api.createSession()
    await api.post('/v1/chat/completions', chat)
    await api.post('/v1/actions', { tool: '=HYPERLINK("x")', arguments: {}, risk_level: 'high' })
    await api.post('/v1/agents', { name: 'Support', config: { model: 'simulated-1' } })
  })
  afterAll(() => console?.stop())

  const savedAt = async (place: string, heading: string): Promise<readonly string[]> => {
    const { page } = console
    await console.show(place, heading)
    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV' }).click()
    return readFileSync(await (await saving).path(), 'utf8')
      .trim()
      .split('\r\n')
  }

  it('have every page, not only the one that is shown, and say how many rows', async () => {
    const read = console.page.waitForRequest(/actors\?.*limit=100/)
    const lines = await savedAt('list/session', 'Sessions')
    await read
    expect(lines[0]).toMatch(/^id,machine,state,/)
    expect(lines.length).toBe(1 + 101)
    expect(new Set(lines.slice(1).map((line) => line.split(',')[0])).size).toBe(101)
    await console.page.getByText('101 rows.').waitFor()
    expect(await console.faults('csv')).toEqual([])
    await console.page.setViewportSize({ width: 1280, height: 800 })
  })

  it('have only what the filters leave', async () => {
    expect((await savedAt('list/session?state=paused', 'Sessions')).length).toBe(1)
  })

  it('have no formula that a spreadsheet runs', async () => {
    const [, line = ''] = await savedAt('list/action', 'Actions')
    expect(line).toContain(`"'=HYPERLINK(""x"")"`)
  })

  it('have requests with their cost, and the audit log with who changed what', async () => {
    const [head = '', request = ''] = await savedAt('gateway', 'Gateway')
    expect(head.split(',')).toContain('cost_usd')
    expect(request).toContain('chat_completions.create')
    const audit = await savedAt('audit', 'Audit log')
    expect(audit[0]?.split(',')).toEqual(expect.arrayContaining(['actor.id', 'resource.id', 'resource.name']))
    expect(audit.join('\n')).toMatch(/agent\.created,secret_key,key_\w+,.*,agt_\w+,/)
  })

  it('lead back to the first page from one whose last row is gone, and name what is gone by its kind', async () => {
    const { page, world } = console
    const { api } = world
    const end = (id: string) => api.get(`/v1/agents/${id}`, { method: 'DELETE' })
    const { id: gone } = (await api.post('/v1/agents', { name: 'Gone', config: { model: 'simulated-1' } })).body
    const { data: agents } = (await api.get('/v1/agents')).body
    const { next_cursor } = (await api.get(`/v1/agents?limit=${agents.length - 1}`)).body
    await end(gone)
    if (agents.at(-1).id !== gone) await end(agents.at(-1).id)
    await console.show(`resources?kind=agents&after=${encodeURIComponent(next_cursor)}`, 'Agents')
    await page.getByText('No results').waitFor()
    await page.getByRole('link', { name: 'Newest', exact: true }).click()
    await page.getByText('No results').waitFor({ state: 'detached' })
    await console.show('audit', 'Audit log')
    const named = page.locator(`[data-id="${gone}"]`).first()
    expect(await named.textContent()).toBe(`agent …${gone.slice(-5)}`)
    expect(await page.getByRole('columnheader').first().textContent()).toMatch(/^Action/)
  })

  it('are saved as views with filters, columns and order, by which pages open and the search finds them', async () => {
    const { page } = console
    await console.show('list/session', 'Sessions')
    await page.locator('select[name=state]').selectOption('active.idle')
    await page.getByText('Columns', { exact: true }).click()
    const columns = page.getByRole('form', { name: 'Columns' })
    await columns.getByLabel('User').check()
    await columns.getByRole('button', { name: 'Show these' }).click()
    await page.getByRole('link', { name: 'Updated' }).click()
    await page.locator('th[aria-sort=descending]').waitFor()
    await page.locator('body').press('v')
    const form = page.getByRole('form', { name: 'View' })
    await form.getByLabel('Name').fill('Quiet ones')
    await form.getByRole('button', { name: 'Save as new' }).click()
    await page.waitForURL(/view=viw_/)
    const shared = page.url()
    await page.locator('summary', { hasText: 'Quiet ones' }).waitFor()
    await page.locator('body').press('v')
    await form.getByRole('button', { name: 'Open with it' }).click()
    await form.getByRole('button', { name: 'Open without' }).waitFor()
    expect(await console.faults('views')).toEqual([])
    await page.setViewportSize({ width: 1280, height: 800 })
    await console.show('home', 'Home')
    await console.show('list/session', 'Sessions')
    await page.waitForURL(shared)
    await page.getByRole('columnheader', { name: 'User' }).waitFor()
    await page.getByRole('link', { name: 'Remove the filter State active.idle' }).waitFor()
    await console.show('home', 'Home')
    await page.keyboard.press('/')
    await page.getByRole('combobox', { name: 'Find' }).fill('quiet')
    await page.getByRole('option', { name: 'View Quiet ones' }).waitFor()
    // in the moment in which the page appears
    await page.evaluate(`new MutationObserver((_, self) => {
      if (document.querySelector('#view .set-filters') === null) return
      self.disconnect()
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'v', bubbles: true }))
    }).observe(document.getElementById('view'), { childList: true, subtree: true })`)
    await page.keyboard.press('Enter')
    await page.waitForURL(shared)
    await page.getByRole('link', { name: 'Remove the filter State active.idle' }).waitFor()
    await form.getByLabel('Name').fill('Idle ones')
    await form.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('list', { name: 'Saved views' }).getByRole('link', { name: 'Idle ones' }).waitFor()
    await form.getByRole('button', { name: 'Delete' }).click()
    await form.getByRole('button', { name: 'Delete Idle ones' }).click()
    await page.getByText('Only you see yours.').waitFor()
    expect(console.complaints).toEqual([])
  })

  it('belong to their member and their project as views: no other member and no other project reaches one', async () => {
    const { world, project } = console
    const owner = await world.dashboard()
    const login = { email: 'viewer@example.com', password: 'correct horse battery' }
    await owner.post(`/api/projects/${project}/members`, { ...login, role: 'owner' })
    const other = await world.dashboard(login.email, login.password)
    const views = `/api/projects/${project}/views`
    const { body: view } = await owner.post(views, {
      name: 'Mine',
      page: 'audit',
      filters: { action: 'agent.created' },
    })
    expect(view).toMatchObject({ name: 'Mine', columns: [], order: null, is_default: false })
    expect((await other.get(views)).body.data).toEqual([])
    for (const order of ['key_last4', '-sessionId'])
      expect((await owner.post(views, { name: 'Sorted', page: 'resources/memory', order })).body).toMatchObject({
        order,
      })
    const change = { name: 'Theirs' }
    expect((await other.fetch(`${views}/${view.id}`, change, { method: 'PATCH' })).status).toBe(404)
    expect((await other.fetch(`${views}/${view.id}`, undefined, { method: 'DELETE' })).status).toBe(404)
    const elsewhere = (await owner.post('/api/projects', { name: 'Elsewhere' })).body.id
    expect((await owner.get(`/api/projects/${elsewhere}/views`)).body.data).toEqual([])
    expect(
      (await owner.fetch(`/api/projects/${elsewhere}/views/${view.id}`, undefined, { method: 'DELETE' })).status,
    ).toBe(404)
    expect((await owner.get(`${views}?page=audit`)).body.data).toMatchObject([{ name: 'Mine' }])
  })
})
