import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patience } from '../patience.ts'
import { OpenConsole } from './open-console.ts'

const proposed = { tool: 'weather', arguments: { city: 'Lagos' }, risk_level: 'high' }

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('the console by the role of its member', () => {
  let console: OpenConsole
  let action: string

  beforeAll(async () => {
    console = await OpenConsole.start()
    action = (await console.world.api.post('/v1/actions', proposed)).body.id
  })
  afterAll(() => console?.stop())

  /** Opens the page of the action as a new member with this role. */
  const openAs = async (role: string) => {
    const login = { email: `${role}@example.com`, password: 'correct horse battery' }
    const owner = await console.world.dashboard()
    await owner.post(`/api/projects/${console.project}/members`, { ...login, role })
    const context = await console.page.context().browser()?.newContext()
    if (context === undefined) throw new Error('the browser has ended')
    context.setDefaultTimeout(patience.timeout)
    const page = await context.newPage()
    await page.goto(`${console.world.url}/#/actors/${action}`)
    await page.getByLabel('E-mail').fill(login.email)
    await page.getByLabel('Password').fill(login.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('weather', { exact: true }).first().waitFor()
    return page
  }

  it('shows a member the proposed action and who can decide it, without buttons', async () => {
    const page = await openAs('member')
    await page.getByText('Only approvers, admins and owners can decide this.').waitFor()
    expect(await page.getByLabel('Arguments').innerText()).toContain('Lagos')
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Reject' }).count()).toBe(0)
    await page.context().close()
  })

  it('lets an approver reject an action', async () => {
    const page = await openAs('approver')
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.locator('.chip', { hasText: 'rejected' }).first().waitFor()
    expect((await console.world.api.get(`/v1/actions/${action}`)).body.status).toBe('rejected')
    await page.context().close()
  })
})
