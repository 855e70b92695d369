import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { someOf } from '#test/setup/at-night.ts'
import { resources } from '../../../console/resources/resources.ts'
import { patience } from '../patience.ts'
import { OpenConsole } from './open-console.ts'

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('resources in the console', () => {
  let console: OpenConsole

  beforeAll(async () => {
    console = await OpenConsole.start()
  })
  afterAll(() => console?.stop())

  it('create an agent with a tool that needs approval, change it, and delete it', async () => {
    const { page, world } = console
    await console.show('resources?kind=agents', 'Agents')
    await page.getByRole('link', { name: 'New agent' }).click()
    const form = page.getByRole('form', { name: 'Create an agent' })
    await form.getByLabel('Name').first().fill('Support')
    await form.getByLabel('Model', { exact: false }).first().fill('simulated-1')
    expect(await console.faults('resource-new')).toEqual([])
    await page.setViewportSize({ width: 1280, height: 800 })
    await form.getByRole('button', { name: 'Add http tool' }).click()
    const tool = form.getByRole('group', { name: '1. http tool' })
    await tool.getByLabel('Name').fill('refund')
    await tool.getByLabel('URL').fill('https://shop.example/refund')
    await tool.getByText(/more fields/).click()
    await tool.getByLabel('Needs approval').check()
    await form.getByRole('button', { name: 'Create' }).click()
    const panel = page.getByRole('region', { name: 'Support' })
    await panel.waitFor()
    // the tool as a thing with a name, and what is switched on, not as paths of a config
    await panel.locator('.thing', { hasText: 'refund' }).getByText('Needs approval').waitFor()
    const { body } = await world.api.get('/v1/agents')
    expect(body.data).toMatchObject([
      {
        name: 'Support',
        config: { model: 'simulated-1', tools: [{ type: 'http', name: 'refund', needsApproval: true }] },
      },
    ])

    const copy = await panel.locator('.copy').elementHandle()
    await panel.getByText('Edit', { exact: true }).click()
    await panel.getByRole('form', { name: 'Update an agent' }).getByLabel('Name').first().fill('Support desk')
    await panel.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('region', { name: 'Support desk' }).waitFor()
    // a column has a title for people, not the name of a field
    const titles = page.getByRole('table', { name: 'Agents' }).getByRole('columnheader')
    expect(await titles.allTextContents()).toEqual(['Name', 'Description', 'Visibility', 'Updated'])
    // the button may have the focus, which a new one would not
    expect(await copy?.evaluate((button) => button.isConnected)).toBe(true)
    expect(await console.faults('resource')).toEqual([])
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete Support desk' }).click()
    await page.getByRole('link', { name: 'New agent' }).waitFor()
    expect((await world.api.get('/v1/agents')).body.data).toEqual([])
  })

  it.each(
    // the others are shown with what they belong to
    someOf(resources.filter(({ parent }) => parent === null)).map(({ name }) => name),
  )('have a page without faults, with a form for a new one where there can be one: %s', async (name) => {
    const { page } = console
    const resource = resources.find((each) => each.name === name)
    await console.show(`resources?kind=${name}&new=yes`, resource?.title ?? '')
    await page.getByRole('region', { name: resource?.title ?? '', exact: true }).waitFor()
    if (resource?.create) {
      await page.getByRole('form', { name: resource.create.summary }).waitFor()
      for (const more of await page.locator('.schema-more > summary').all()) await more.click()
    }
    expect(await console.faults(`resource-${name}`)).toEqual([])
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('create a knowledge base and a source of it, which is searched then', async () => {
    const { page, world } = console
    await console.show('knowledge', 'Knowledge')
    await page.getByRole('link', { name: 'New knowledge base' }).click()
    await page.getByRole('form', { name: 'Create a knowledge base' }).getByLabel('Name').fill('Handbook')
    await page.getByRole('button', { name: 'Create' }).click()
    const panel = page.getByRole('region', { name: 'Handbook' })
    const sources = panel.getByRole('region', { name: 'Sources' })
    await sources.getByText('New source').click()
    const form = sources.getByRole('form')
    await form.getByRole('textbox', { name: /^Text/ }).fill('You have thirty days of leave a year.')
    await form.getByRole('button', { name: 'Create' }).click()
    await panel.getByText(/is ready/).waitFor()
    const { body: bases } = await world.api.get('/v1/knowledge-bases')
    const search = () => world.api.post(`/v1/knowledge-bases/${bases.data[0].id}/search`, { query: 'days of leave' })
    await expect.poll(async () => JSON.stringify((await search()).body), patience).toContain('thirty days')
  })

  it('are created and changed also where the API takes a secret key alone', async () => {
    const { page, world } = console
    await console.show('resources?kind=provider_connections', 'Provider keys')
    await page.getByRole('link', { name: 'New provider key' }).click()
    const key = page.getByRole('form', { name: 'Create a provider connection' })
    await key.getByLabel('Name').first().fill('Ours')
    await key.getByLabel('Provider').first().fill('openai')
    await key.getByLabel('API key').first().fill('sk-of-ours-1234')
    await key.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('region', { name: 'Ours' }).waitFor()
    const { body: keys } = await world.api.get('/v1/provider-connections')
    expect(keys.data).toMatchObject([{ name: 'Ours', provider: 'openai', key_last4: '1234' }])
    await page.getByText('Edit', { exact: true }).click()
    await page.getByRole('checkbox', { name: /^Is active/ }).uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('table', { name: 'Provider keys' }).getByText('off', { exact: true }).waitFor()

    const hook = { name: 'Orders', url: 'https://shop.example/hook', events: ['run.completed'] }
    const { id } = (await world.api.post('/v1/webhooks', hook)).body
    await console.show(`resources?kind=webhooks&open=${id}`, 'Webhooks')
    const hooks = page.getByRole('table', { name: 'Webhooks' })
    await hooks.getByRole('button', { name: 'Test' }).click()
    await hooks.getByText('Sent.').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete Orders' }).click()
    await page.getByText('No webhooks yet').waitFor()
    expect((await world.api.get(`/v1/webhooks/${id}`)).status).toBe(404)

    await console.show('memory?user=ada', 'Memory')
    await page.getByRole('link', { name: 'New memory' }).click()
    const memory = page.getByRole('form', { name: 'Write a memory' })
    expect(await memory.getByLabel('User').first().inputValue()).toBe('ada')
    await memory.getByLabel('Content').fill('Ada lives in Oslo.')
    await memory.getByRole('button', { name: 'Write' }).click()
    await page.getByRole('table', { name: 'Memories' }).getByText('Ada lives in Oslo.').waitFor()

    await console.show('connections', 'Connections')
    await page.getByRole('link', { name: 'New connection' }).click()
    const connection = page.getByRole('form', { name: 'Create a connection' })
    await connection.getByLabel('Connector').first().fill('stripe')
    await connection.getByLabel('API key').fill('rk_of_ours_1234')
    await connection.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('table', { name: 'Connections' }).getByText('key …1234').waitFor()
  })

  it('show what changed between two versions of a prompt', async () => {
    const { page, world } = console
    const prompt = (await world.api.post('/v1/prompts', { name: 'greeting' })).body.id
    for (const content of ['Be kind.\nGreet them.', 'Be kind.\nGreet {{name}}.'])
      await world.api.post(`/v1/prompts/${prompt}/versions`, { messages: [{ role: 'system', content }] })
    await console.show(`resources?kind=prompts&open=${prompt}`, 'Prompts')
    await page.getByRole('table', { name: 'Versions' }).getByRole('link', { name: '2' }).click()
    const changes = page.getByLabel('Changes since 1')
    await expect.poll(() => changes.locator('del').allTextContents()).toEqual(['-   Greet them.'])
    expect(await changes.locator('ins').allTextContents()).toEqual(['+   Greet {{name}}.'])
    expect(await console.faults('prompt-versions')).toEqual([])
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('link', { name: 'Try both in the playground' }).click()
    const lane = page.getByRole('region', { name: 'B', exact: true })
    await lane.getByText('Code', { exact: true }).click()
    await expect.poll(() => lane.getByLabel('Code in curl').textContent()).toContain('Greet {{name}}')
  })

  it('show what is wrong with a field where the form is sent', async () => {
    const { page } = console
    await console.show('resources?kind=webhooks&new=yes', 'Webhooks')
    const form = page.getByRole('form', { name: 'Create a webhook' })
    await form.getByLabel('Name').fill('Orders')
    await form.getByLabel('URL').fill('shop.example')
    await form.getByLabel('run.completed').check()
    await form.getByRole('button', { name: 'Create' }).click()
    expect(await form.getByRole('alert').textContent()).toMatch(/url/)
  })
})
