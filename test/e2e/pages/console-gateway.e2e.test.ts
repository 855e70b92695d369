import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ModelServer, openModelServer } from '#test/gateway/routing/model-server.ts'
import { OpenConsole } from './open-console.ts'

const completion = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'good' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 2000, completion_tokens: 100, total_tokens: 2100 },
}

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('the gateway in the console', () => {
  let provider: ModelServer
  let console: OpenConsole

  beforeAll(async () => {
    provider = await openModelServer((response, { body }) => {
      if (JSON.parse(body).model === 'good') response.end(JSON.stringify(completion))
      else response.writeHead(500).end('{}')
    })
    console = await OpenConsole.start({ tools: [provider] })
    const dashboard = await console.world.dashboard()
    const prices = { input_per_million_usd: '2', output_per_million_usd: '10' }
    const given = { name: 'Rack', baseUrl: `${provider.url}/v1`, format: 'openai', prices }
    const models = ['good', 'broken'].map((modelId) => ({ name: modelId, modelId }))
    await dashboard.post(`/api/projects/${console.project}/providers`, { ...given, models })
    await console.world.api.post('/v1/limits', { subject: 'project', budget_day_usd: '0.006' })
  })
  afterAll(async () => {
    await console?.stop()
    await provider?.close()
  })

  const chat = (model: string, more: object = {}) => {
    const messages = [{ role: 'user', content: 'Write to ada@example.com' }]
    return console.world.api.post('/v1/chat/completions', { model, messages, max_tokens: 100, ...more })
  }

  it('shows the attempts, redactions and price calculation of a request', async () => {
    const { page } = console
    const answered = await chat('rack/broken', { models: ['rack/good'] })
    expect(answered.status).toBe(200)
    await console.show('gateway', 'Gateway')
    const row = page
      .getByRole('table', { name: 'Requests' })
      .getByRole('row')
      .filter({ hasText: /good.*requested: rack/ })
    await row.getByText(/times/).waitFor()
    await row.getByRole('link').first().click()
    const attempts = page.getByRole('table', { name: 'Attempts' }).getByRole('row')
    await attempts.filter({ hasText: 'answered' }).filter({ hasText: 'good' }).waitFor()
    expect(await attempts.filter({ hasText: 'provider_error' }).count()).toBeGreaterThan(0)
    await page.getByText('1 email').waitFor()
    const price = page.getByRole('table', { name: 'Price' }).getByRole('row')
    await price.filter({ hasText: /input tokens.*2,000.*\$2.00 a million.*\$0.0040/ }).waitFor()
    await price.filter({ hasText: /Cost.*\$0.005/ }).waitFor()
    expect(page.url()).toContain('open=')
  })

  it('shows cost, calls and durations by time, from which a peak leads to its requests, and names refused calls', async () => {
    const { page, world } = console
    const tenant = await world.api.post('/v1/tenants', { external_id: 'poor', name: 'Poor' })
    await world.api.post('/v1/limits', { subject: 'tenant', subject_id: tenant.body.id, budget_month_usd: '0' })
    const refused = await world.api.post(
      '/v1/chat/completions',
      { model: 'rack/good', messages: [{ role: 'user', content: 'hi' }] },
      { headers: { 'x-tenant-id': tenant.body.id } },
    )
    expect(refused.status).toBe(402)
    await console.show('overview?range=hour', 'Overview')
    const totals = page.getByLabel('Totals')
    await totals.getByText('$0.0050').waitFor()
    const groups = page.getByRole('table', { name: 'Groups' }).getByRole('row')
    await groups.filter({ hasText: 'good' }).filter({ hasText: '2,100' }).waitFor()
    expect(await page.locator('.series:has(.line[d^="M"])').count()).toBe(4)
    await page.locator('.series').filter({ hasText: 'Calls and errors' }).getByText('Figures').click()
    await page.getByRole('table', { name: 'Calls and errors' }).getByRole('button').last().click()
    await page.getByRole('heading', { name: 'Gateway', level: 1 }).waitFor()
    expect(page.url()).toMatch(/from=.*to=/)
    await page.getByRole('table', { name: 'Requests' }).getByText('good').first().waitFor()
    await console.show('home', 'Home')
    const row = page.getByRole('region', { name: 'Refused' }).getByRole('listitem').filter({ hasText: 'Poor' })
    await row.getByText('1 call was refused: the budget of the month is used up.').waitFor()
    await row.getByRole('link').first().click()
    await page.getByRole('heading', { name: 'Gateway', level: 1 }).waitFor()
    expect(console.complaints).toEqual([])
  })

  it('lists a nearly used budget and a failing provider under Needs attention, and sums the cost by key', async () => {
    const { page } = console
    for (let n = 0; n < 3; n++) await chat('rack/broken', { max_tokens: 10 })
    await console.show('gateway?by=key&failed=true', 'Gateway')
    const needs = page.getByRole('region', { name: 'Needs attention' })
    await needs.getByText(/% of its budget for today is used/).waitFor()
    await needs.getByText(/requests failed, last with/).waitFor()
    await page.getByRole('meter', { name: /^Budget for today/ }).waitFor()
    const [key] = (await (await console.world.dashboard()).get(`/api/projects/${console.project}/keys`)).body.data
    await page.getByRole('table', { name: 'Cost by key' }).getByTitle(key.id).getByText(key.name).waitFor()
    expect(await page.getByRole('table', { name: 'Requests' }).getByText('200').count()).toBe(0)
  })

  it('keeps an opened request while it cannot be read', async () => {
    const { page } = console
    const id = (await console.world.api.get('/v1/request-log?limit=1')).body.data[0].request_id
    await console.show(`gateway?open=${id}`, 'Gateway')
    const attempts = page.getByRole('table', { name: 'Attempts' })
    await attempts.waitFor()
    await page.route(`**/v1/request-log/${id}`, (route) => route.fulfill({ status: 500, body: '{}' }), { times: 1 })
    await page.getByText('The server responded with status 500.').waitFor()
    await attempts.waitFor()
    await page.getByText('The server responded with status 500.').waitFor({ state: 'hidden' })
    expect(console.complaints.filter((each) => !each.includes('500'))).toEqual([])
    console.complaints.length = 0
  })

  it('shows a limit that was created beneath its list', async () => {
    const { page } = console
    const tenant = (await console.world.api.post('/v1/tenants', { external_id: 'rich', name: 'Rich' })).body.id
    await console.show('gateway', 'Gateway')
    const limits = page.getByRole('region', { name: 'Limits and budgets', exact: true })
    await limits.getByText('New limit').click()
    const form = limits.getByRole('form', { name: 'Create or replace a limit' })
    await form.getByRole('combobox', { name: /^Subject \*/ }).selectOption('tenant')
    for (const more of await form.locator('.schema-more > summary').all()) await more.click()
    await form.getByLabel('Subject ID').fill(tenant)
    await form.getByLabel('Requests per minute').fill('7')
    expect(await limits.getByRole('link', { name: 'Close' }).count()).toBe(0)
    await form.getByRole('button', { name: 'Create' }).click()
    await limits.getByRole('region', { name: 'tenant Rich' }).waitFor()
    expect(page.url()).toContain('child=lim_')
    expect(console.complaints).toEqual([])
  })

  it('has no axe violation on a desktop or phone screen, in either theme', async () => {
    const id = (await console.world.api.get('/v1/request-log?limit=1&failed=false')).body.data[0].request_id
    await console.show(`gateway?open=${id}`, 'Gateway')
    await console.page.getByRole('table', { name: 'Attempts' }).waitFor()
    expect(await console.faults('gateway')).toEqual([])
    expect(console.complaints).toEqual([])
  })
})
