import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OpenConsole } from './open-console.ts'

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('settings and nodes in the console', () => {
  let console: OpenConsole

  beforeAll(async () => {
    console = await OpenConsole.start()
  })
  afterAll(() => console?.stop())

  it('create a key that is shown once and works, and revoke it', async () => {
    const { page } = console
    await console.show('settings', 'Settings')
    await page.getByLabel('New key name').fill('Deploy')
    await page.getByRole('button', { name: 'Create key' }).click()
    const shown = page.getByRole('textbox', { name: /^The new key/ })
    const key = await shown.inputValue()
    expect((await console.world.as(key).get('/v1/models')).status).toBe(200)
    expect(await console.faults('settings')).toEqual([])
    const row = page.getByRole('table', { name: 'Keys' }).getByRole('row').filter({ hasText: 'Deploy' })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('button', { name: 'Revoke Deploy now' }).click()
    await row.waitFor({ state: 'detached' })
    expect((await console.world.as(key).get('/v1/models')).status).toBe(401)
    await page.reload()
    await page.getByRole('table', { name: 'Keys' }).waitFor()
    expect(await page.content()).not.toContain(key)
  })

  it('create a key with limits and an end, and show them in the list', async () => {
    const { page } = console
    await console.show('settings', 'Settings')
    const form = page.getByRole('form', { name: 'New key' })
    await form.getByLabel('New key name').fill('Reader')
    await form.getByLabel('Only these models').fill('simulated-1, gpt-4o-mini')
    await form.getByLabel('Only these operations').fill('read')
    await form.getByLabel('Expires').fill('2099-01-31T12:00')
    await form.getByRole('button', { name: 'Create key' }).click()
    const key = await page.getByRole('textbox', { name: /^The new key/ }).inputValue()
    const api = console.world.as(key)
    expect([(await api.get('/v1/models')).status, (await api.post('/v1/sessions')).status]).toEqual([200, 403])
    const row = page.getByRole('table', { name: 'Keys' }).getByRole('row').filter({ hasText: 'Reader' })
    expect(await row.textContent()).toContain('models: simulated-1, gpt-4o-mini · operations: read')
    expect(await console.faults('settings')).toEqual([])
  })

  it('add a member, change their role, and show the error code of a refused change', async () => {
    const { page } = console
    await console.show('settings', 'Settings')
    const form = page.getByRole('form', { name: 'New member' })
    await form.getByLabel('E-mail').fill('ada@example.com')
    await form.getByLabel('Initial password').fill('a long password')
    await form.getByRole('button', { name: 'Add member' }).click()
    await page.getByLabel('Role of ada@example.com').selectOption('approver')
    await page.getByRole('button', { name: 'Make approver' }).click()
    await page.getByRole('button', { name: 'Make approver' }).waitFor({ state: 'detached' })
    const ada = await console.world.dashboard('ada@example.com', 'a long password')
    expect((await ada.get('/api/auth/me')).body.member.role).toBe('approver')
    await page.getByLabel(`Role of ${console.world.ownerEmail}`).selectOption('member')
    await page.getByRole('button', { name: 'Make member' }).click()
    await page
      .getByRole('alert')
      .filter({ hasText: /^[a-z_]+: / })
      .waitFor()
    const refusal = 'Failed to load resource: the server responded with a status of 409'
    expect(console.complaints.filter((each) => !each.startsWith(refusal))).toEqual([])
    console.complaints.length = 0
  })

  it('create a project, and show the 256 shards by node and the duration of commits', async () => {
    const { page } = console
    await console.show('settings', 'Settings')
    await page.getByLabel('New project name').fill('Second')
    await page.getByRole('button', { name: 'Create project' }).click()
    await page.getByRole('table', { name: 'Projects' }).getByText('Second').waitFor()
    await console.world.api.createSession()
    await console.show('nodes', 'Nodes')
    const shards = page.getByRole('list', { name: 'Shards by node' })
    expect(await shards.getByRole('listitem').count()).toBe(256)
    await page.getByText('Commits of this node are durable within').locator('strong').first().waitFor()
    expect(await console.faults('nodes')).toEqual([])
    expect(console.complaints).toEqual([])
  })
})
