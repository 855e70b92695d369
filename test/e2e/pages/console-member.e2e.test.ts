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

  it('lets members assign, snooze and comment a waiting call, and loses no choice of two at once', async () => {
    const { page, world, project } = console
    const made = (await world.api.post('/v1/actions', { ...proposed, tool: 'refund' })).body.id
    const path = `/v1/actions/${made}/review`
    const owner = await world.dashboard()
    const { data: members } = (await owner.get(`/api/projects/${project}/members`)).body
    const colleague = members.find(({ role }: { role: string }) => role === 'approver')
    await console.show(`approvals?action=${made}`, 'Approvals')
    const review = page.getByRole('region', { name: 'Review' })
    const assignee = review.getByLabel('Assigned to')
    await assignee.waitFor()
    // the page shows the review that it has read, while a colleague changes it
    const gate = Promise.withResolvers<void>()
    await page.route(
      (url) => url.pathname === '/v1/actions',
      async (route) => {
        await gate.promise
        await route.continue()
      },
    )
    await world.api.post(path, { assignee_id: colleague.id, snoozed_until: null, version: 0 }, { method: 'PATCH' })
    await review.getByRole('button', { name: 'Assign to me' }).click()
    await review.getByRole('alert').getByText('Another person changed this meanwhile').waitFor()
    gate.resolve()
    await expect.poll(() => assignee.inputValue()).toBe(colleague.id)
    await review.getByRole('button', { name: 'Assign to me' }).click()
    await review.getByLabel('Comment', { exact: true }).fill('Is it paid?')
    await review.getByRole('button', { name: 'Comment' }).click()
    await review.getByRole('list', { name: 'Comments' }).getByText('Is it paid?').waitFor()
    const calls = page.getByRole('list', { name: 'Waiting calls' })
    await calls.getByText('owner@example.com · 1 comment').waitFor()
    expect(await console.faults('approvals')).toEqual([])
    await review.getByRole('button', { name: 'Tomorrow' }).click()
    await page.getByText('No call waits for a decision.').waitFor()
    const tabs = page.getByRole('navigation', { name: 'Which calls' })
    await tabs.getByRole('link', { name: 'Snoozed' }).click()
    await calls.getByText('snoozed until').waitFor()
    await review.getByRole('button', { name: 'Wake up' }).click()
    await page.getByText('No call is snoozed.').waitFor()
    await tabs.getByRole('link', { name: 'Mine' }).click()
    await calls.getByText('refund').waitFor()
    await tabs.getByRole('link', { name: 'Unassigned' }).click()
    await page.getByText('Every waiting call has an assignee.').waitFor()
    expect((await world.api.get(path)).body).toMatchObject({ snoozed_until: null, comments: [{ text: 'Is it paid?' }] })
    const { data: lines } = (await world.api.get(`/v1/audit-log?resource_id=${made}&limit=10`)).body
    expect(lines.map((line: { action: string }) => line.action)).toEqual(
      expect.arrayContaining(['action_review.updated', 'action_review.commented']),
    )
    // the browser logs the refused change
    expect(console.complaints.filter((each) => !each.includes('409'))).toEqual([])
  })
})
