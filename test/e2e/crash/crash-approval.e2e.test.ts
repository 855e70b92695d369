import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Refused, type Row } from '../api.ts'
import { counted, endsTurn, isEvent } from '../stream-reader.ts'
import { gatedTurn, startToolServer, type ToolServer } from '../tool-server.ts'
import { stores, World } from '../world.ts'

const typesOf = (log: readonly Row[]) => log.map(({ event_type }) => event_type)
const payloadOf = (log: readonly Row[], type: string) => log.find(({ event_type }) => event_type === type)?.payload

describe.each(stores)('an approval over kill -9 on $store', ({ store }) => {
  let world: World
  let tool: ToolServer

  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ store, tools: [tool] })
  })
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })
  let before: number
  beforeEach(() => {
    before = tool.calls.length
    tool.answer()
  })

  /** A session whose turn waits for an approval. */
  const paused = async (more: object = {}) => {
    const session = await world.api.createSession()
    const turn = await world.api.turn(session, gatedTurn(tool, more))
    const waits = await turn.until(isEvent('turn.paused'))
    expect(await turn.ended).toBe('done')
    return { session, action: String(waits.data.action_id), lastId: waits.id }
  }

  const restarted = async () => {
    await world.crash()
    await world.restart()
  }

  /** What the session's log says once the turn is over, and that it is whole. */
  const finishedLog = async (session: string, lastId: string) => {
    const follower = await world.api.follow(session, lastId)
    await follower.until(endsTurn)
    follower.stop()
    const log = await world.api.log(session)
    expect(log.map(({ sequence }) => sequence)).toEqual(counted(log))
    expect(typesOf(log).filter((type) => type.startsWith('turn.c') || type === 'turn.failed')).toEqual([
      'turn.completed',
    ])
    expect((await world.api.get(`/v1/sessions/${session}`)).body).toMatchObject({ status: 'active', turn_count: 1 })
    return log
  }

  it('runs the tool once when the server was killed while the turn waited', async () => {
    const { session, action, lastId } = await paused()
    await restarted()
    expect((await world.api.get(`/v1/sessions/${session}`)).body.status).toBe('paused')
    const resumed = await world.api.approve(session, action)
    expect((await resumed.all()).map(({ event }) => event).filter((name) => !name.includes('delta'))).toEqual([
      'turn.resumed',
      'tool_call.completed',
      'turn.completed',
    ])
    expect(tool.calls.length - before).toBe(1)
    await finishedLog(session, lastId)
    await restarted()
    expect(tool.calls.length - before).toBe(1)
  })

  it('runs the tool once when ten people approve at the same time after a restart', async () => {
    const { session, action, lastId } = await paused()
    await restarted()
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => world.api.approve(session, action)))
    const given = answers.filter(({ status }) => status === 'fulfilled')
    expect(given.length).toBeGreaterThanOrEqual(1)
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ status: 409 })
      else await answer.value.ended
    }
    await finishedLog(session, lastId)
    expect(tool.calls.length - before).toBe(1)
  })

  it('does not call an at_most_once tool again when the server was killed while it ran', async () => {
    const { session, action, lastId } = await paused()
    tool.hold()
    const resumed = await world.api.approve(session, action)
    await tool.called(before + 1)
    await restarted()
    expect(await resumed.ended).toBe('broken')
    const log = await finishedLog(session, lastId)
    expect(tool.calls.length - before).toBe(1)
    expect(payloadOf(log, 'tool_call.completed')?.output).toContain('outcome_unknown')
    expect(payloadOf(log, 'turn.completed')?.output, 'the model was told').toContain('outcome_unknown')
  })

  it('calls an idempotent tool again by itself, with the same key, when the server was killed while it ran', async () => {
    const { session, action, lastId } = await paused({ effect: 'idempotent' })
    tool.hold()
    const resumed = await world.api.approve(session, action)
    await tool.called(before + 1)
    await world.crash()
    await resumed.ended
    tool.answer()
    await world.restart()
    // nobody has asked for the session since
    await tool.called(before + 2)
    const log = await finishedLog(session, lastId)
    const keys = tool.calls.slice(before).map(({ key }) => key)
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).toMatch(/.+/)
    expect(payloadOf(log, 'tool_call.completed')?.output).toContain('receipt')
  })

  it('refuses a second approval after a restart', async () => {
    const { session, action } = await paused()
    await (await world.api.approve(session, action)).all()
    await restarted()
    const again = world.api.approve(session, action)
    await expect(again).rejects.toThrow(Refused)
    await expect(again).rejects.toMatchObject({ status: 409 })
    expect(tool.calls.length - before).toBe(1)
  })
})
