import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OpenConsole } from './open-console.ts'

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('settings and nodes in the console', () => {
  let console: OpenConsole

  beforeAll(async () => {
    console = await OpenConsole.start()
  })
  afterAll(() => console?.stop())

  const keys = () => console.page.getByRole('table', { name: 'Secret keys' })

  it('are listed with the pages beneath them while one of these is open', async () => {
    const { page } = console
    await console.show('settings', 'Settings')
    const current = page.locator('.side li:has(> [aria-current])')
    await current.getByRole('link', { name: 'Retention' }).click()
    await page.getByRole('heading', { name: 'Retention', level: 1 }).waitFor()
    expect(await current.allTextContents()).toEqual(['Retention'])
    // a setting is one: it is open without a list
    await page.locator('summary', { hasText: 'Edit' }).waitFor()
    await page.locator('.side').getByRole('link', { name: 'Knowledge' }).click()
    await page.getByRole('link', { name: 'New knowledge base' }).waitFor()
    expect(await page.locator('.side li li').allTextContents()).toEqual(['Vector stores'])
    expect(await console.faults('knowledge')).toEqual([])
  })

  it('create a key that is shown once and works, and revoke it', async () => {
    const { page } = console
    await console.show('resources?kind=project_keys', 'Secret keys')
    await page.getByRole('link', { name: 'New secret key' }).click()
    const form = page.getByRole('form', { name: 'Create a project key' })
    await form.getByRole('textbox', { name: /^Name/ }).fill('Deploy')
    await form.getByRole('button', { name: 'Create' }).click()
    const key = await page.getByRole('textbox', { name: /^Key\. It is shown this once/ }).inputValue()
    expect((await console.world.as(key).get('/v1/models')).status).toBe(200)
    expect(await console.faults('keys')).toEqual([])
    await keys().getByRole('link', { name: 'Deploy' }).click()
    await page.getByRole('link', { name: 'Its requests' }).waitFor()
    await page.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByRole('button', { name: 'Revoke Deploy' }).click()
    await keys().getByRole('link', { name: 'Deploy' }).waitFor({ state: 'detached' })
    expect((await console.world.as(key).get('/v1/models')).status).toBe(401)
    await page.reload()
    await keys().waitFor()
    expect(await page.content()).not.toContain(key)
  })

  it('create a key with limits and an end, and show them in the list', async () => {
    const { page } = console
    await console.show('resources?kind=project_keys&new=yes', 'Secret keys')
    const form = page.getByRole('form', { name: 'Create a project key' })
    await form.getByRole('textbox', { name: /^Name/ }).fill('Reader')
    await form.getByText(/more fields/).click()
    await form.getByLabel('Models').fill('simulated-1\ngpt-4o-mini')
    await form.getByLabel('Operations').fill('read')
    await form.getByLabel('Expires at').fill('2099-01-31T12:00')
    await form.getByRole('button', { name: 'Create' }).click()
    const key = await page.getByRole('textbox', { name: /^Key\. It is shown this once/ }).inputValue()
    const api = console.world.as(key)
    expect([(await api.get('/v1/models')).status, (await api.post('/v1/sessions')).status]).toEqual([200, 403])
    const row = keys().getByRole('row').filter({ hasText: 'Reader' })
    expect(await row.textContent()).toMatch(/simulated-1.*gpt-4o-mini.*read/)
    expect(await console.faults('keys')).toEqual([])
  })

  it('add a member, change their role, and show the error code of a refused change', async () => {
    const { page } = console
    await console.show('resources?kind=project_members&new=yes', 'Members')
    const form = page.getByRole('form', { name: 'Create a member' })
    await form.getByLabel('Email').fill('ada@example.com')
    await form.getByLabel('Password').fill('a long password')
    await form.getByRole('button', { name: 'Create' }).click()
    const members = page.getByRole('table', { name: 'Members' })
    const change = page.getByRole('form', { name: 'Update a member' })
    await page.getByText('Edit', { exact: true }).click()
    await change.getByLabel('Role').selectOption('approver')
    await change.getByRole('button', { name: 'Save' }).click()
    await members.getByRole('row').filter({ hasText: 'ada@example.com' }).getByText('approver').waitFor()
    const ada = await console.world.dashboard('ada@example.com', 'a long password')
    expect((await ada.get('/api/auth/me')).body.member.role).toBe('approver')
    expect(await console.faults('members')).toEqual([])
    await members.getByRole('row').filter({ hasText: console.world.ownerEmail }).getByRole('link').click()
    await page.getByRole('region', { name: console.world.ownerEmail }).getByText('Edit', { exact: true }).click()
    await change.getByLabel('Role').selectOption('member')
    await change.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('alert')
      .filter({ hasText: /^[a-z_]+: / })
      .waitFor()
    const refusal = 'Failed to load resource: the server responded with a status of 409'
    expect(console.complaints.filter((each) => !each.startsWith(refusal))).toEqual([])
    console.complaints.length = 0
  })

  it('create a project, change another than the open one, and show the 256 shards by node and the duration of commits', async () => {
    const { page } = console
    await console.show('resources?kind=projects&new=yes', 'Projects')
    const form = page.getByRole('form', { name: 'Create a project' })
    await form.getByRole('textbox', { name: /^Name/ }).fill('Second')
    await form.getByRole('button', { name: 'Create' }).click()
    const change = page.getByRole('form', { name: 'Update a project' })
    await page.getByText('Edit', { exact: true }).click()
    await change.getByRole('textbox', { name: /^Allowed origins/ }).fill('https://app.example')
    await change.getByRole('button', { name: 'Save' }).click()
    const rows = page.getByRole('table', { name: 'Projects' }).getByRole('row')
    await rows.filter({ hasText: 'Second' }).filter({ hasText: 'https://app.example' }).waitFor()
    expect(await rows.filter({ hasText: 'https://app.example' }).count()).toBe(1)
    expect(await console.faults('projects')).toEqual([])
    await console.world.api.createSession()
    await console.show('nodes', 'Nodes')
    const shards = page.getByRole('list', { name: 'Shards by node' })
    expect(await shards.getByRole('listitem').count()).toBe(256)
    await page.getByText('Commits of this node are durable within').locator('strong').first().waitFor()
    expect(await console.faults('nodes')).toEqual([])
    expect(console.complaints).toEqual([])
  })
})
