import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { actionReviews } from '#actors/sessions/kinds.ts'
import { maxComments } from '#specs/resources/actions/action-reviews.ts'
import { projectScope, tenantScope } from '#storage/scope.ts'
import { secretOf } from '#test/support/call-of.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { action, calls, functionTool, pausedTurn } from '../approving.ts'
import { callOf, newSession, openWorld, type World } from '../harness.ts'

const hourMs = 3_600_000

describe('the review of an action', () => {
  let world: World
  let clock: VirtualClock
  let id: string

  beforeEach(async () => {
    clock = new VirtualClock()
    world = await openWorld({ clock, scripts: [calls('send')] })
    const { runtime } = world
    onTestFinished(() => runtime.drain(0))
    id = await proposed('refund')
  })

  const proposed = async (tool: string) =>
    (await world.useCases['actions.create'](callOf({}, {}, { tool, arguments: {}, risk_level: 'low' as const }))).id
  const read = (action_id = id) => world.useCases['action_reviews.get'](callOf({ action_id }, {}, undefined))
  const update = (
    body: { assignee_id: string | null; snoozed_until: string | null; version: number },
    principal = secretOf(),
  ) => world.useCases['action_reviews.update'](callOf({ action_id: id }, {}, body, principal))
  const comment = (text: string) => world.useCases['action_reviews.comment'](callOf({ action_id: id }, {}, { text }))
  const list = async (filter: { assignee_id?: string; unassigned?: boolean; snoozed?: boolean }) => {
    const { data } = await world.useCases['actions.list'](callOf({}, { limit: 20, ...filter }, undefined))
    return data.map(({ tool }) => tool)
  }
  const inMs = (ms: number) => new Date(clock.now() + ms).toISOString()

  it('is empty at first, and shown with the action', async () => {
    const empty = { assignee_id: null, snoozed_until: null, version: 0 }
    expect(await read()).toEqual({ action_id: id, ...empty, comments: [] })
    expect((await action(world, id)).review).toEqual({ ...empty, comment_count: 0 })
  })

  it('has an assignee and a time, of which neither changes the status of the action', async () => {
    const snoozed_until = inMs(hourMs)
    await update({ assignee_id: 'usr_ada', snoozed_until, version: 0 })
    const { review, status } = await action(world, id)
    expect(review).toEqual({ assignee_id: 'usr_ada', snoozed_until, comment_count: 0, version: 1 })
    expect(status).toBe('pending_approval')
    await clock.advance(hourMs)
    expect((await read()).snoozed_until).toBeNull()
  })

  it('refuses a change by a caller who has not read the newest one, unless it changes nothing', async () => {
    const mine = { assignee_id: 'usr_ada', snoozed_until: null, version: 0 }
    await update(mine)
    await expect(update({ ...mine, assignee_id: 'usr_bob' })).rejects.toMatchObject({ code: 'version_conflict' })
    expect(await update(mine)).toMatchObject({ assignee_id: 'usr_ada', version: 1 })
    expect(await update({ ...mine, assignee_id: 'usr_bob', version: 1 })).toMatchObject({ version: 2 })
  })

  it('lets one of two changes at the same time win, and keeps all comments of both', async () => {
    const results = await Promise.allSettled([
      update({ assignee_id: 'usr_ada', snoozed_until: null, version: 0 }),
      update({ assignee_id: 'usr_bob', snoozed_until: null, version: 0 }),
      ...['one', 'two', 'three'].map(comment),
    ])
    expect(results.map(({ status }) => status).toSorted()).toEqual([...Array(4).fill('fulfilled'), 'rejected'])
    expect((await read()).comments.map(({ text }) => text).toSorted()).toEqual(['one', 'three', 'two'])
  })

  it('has comments with their author, up to a maximum', async () => {
    for (let n = 0; n < maxComments; n++) await comment(`${n}`)
    const { comments } = await read()
    expect(comments[0]).toMatchObject({ text: '0', by: { kind: 'secret_key', id: 'key_prj_a' } })
    await expect(comment('one more')).rejects.toMatchObject({ code: 'invalid_field' })
  })

  it('is shown with each action of a list that is longer than what is read at once', async () => {
    const ids = [id, ...(await Promise.all(Array.from({ length: 11 }, (_, at) => proposed(`tool_${at}`))))]
    const say = (action_id: string) =>
      world.useCases['action_reviews.comment'](callOf({ action_id }, {}, { text: 'Wait.' }))
    await Promise.all(ids.map(say))
    const { data } = await world.useCases['actions.list'](callOf({}, { limit: 20 }, undefined))
    expect(data.map(({ review }) => review.comment_count)).toEqual(ids.map(() => 1))
  })

  it('refuses an assignee who is no member, and a time that has passed', async () => {
    const body = { assignee_id: null, snoozed_until: null, version: 0 }
    await expect(update({ ...body, assignee_id: 'ada' })).rejects.toMatchObject({ code: 'not_found' })
    await expect(update({ ...body, snoozed_until: inMs(-1) })).rejects.toMatchObject({ code: 'invalid_field' })
  })

  it('filters lists: those of a member, unassigned ones, those set aside and the others', async () => {
    await proposed('mail')
    await update({ assignee_id: 'usr_ada', snoozed_until: inMs(hourMs), version: 0 })
    expect(await list({ assignee_id: 'usr_ada' })).toEqual(['refund'])
    expect(await list({ assignee_id: 'usr_bob' })).toEqual([])
    expect(await list({ unassigned: true })).toEqual(['mail'])
    expect(await list({ unassigned: false })).toEqual(['refund'])
    expect(await list({ snoozed: true })).toEqual(['refund'])
    expect(await list({ snoozed: false })).toEqual(['mail'])
    await clock.advance(hourMs)
    expect(await list({ snoozed: false })).toEqual(['mail', 'refund'])
  })

  it('belongs to the project and the tenant of its action', async () => {
    const foreign = update({ assignee_id: null, snoozed_until: null, version: 0 }, secretOf('prj_b'))
    await expect(foreign).rejects.toMatchObject({ code: 'not_found' })
    const other = { ...callOf({ action_id: id }, {}, { text: 'hi' }), scope: tenantScope('prj_a', 'ten_other') }
    await expect(world.useCases['action_reviews.comment'](other)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is not left when its action is deleted while the first comment is stored', async () => {
    const session_id = await newSession(world)
    const tools = [functionTool('send', true)]
    const { waiting } = await pausedTurn(world, session_id, { input: 'go', tools })
    const action_id = waiting.send ?? ''
    const { records } = world.storage
    const insert = records.insert.bind(records)
    vi.spyOn(records, 'insert').mockImplementation(async (kind, record) => {
      if (kind.name === actionReviews.name) {
        await world.useCases['sessions.delete'](callOf({ session_id }, {}, undefined))
        await expect.poll(() => read(action_id).catch(({ code }) => code)).toBe('not_found')
      }
      return insert(kind, record)
    })
    const said = world.useCases['action_reviews.comment'](callOf({ action_id }, {}, { text: 'Why?' }))
    await expect(said).rejects.toMatchObject({ code: 'not_found' })
    expect(await records.list(actionReviews, projectScope('prj_a'), { limit: 9 })).toEqual([])
  })
})
