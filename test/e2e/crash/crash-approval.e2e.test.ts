import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Refused, type Row } from '../api.ts'
import { patience } from '../patience.ts'
import { counted, endsTurn, isEvent } from '../stream-reader.ts'
import { gatedTurn, startToolServer, type ToolServer } from '../tool-server.ts'
import { drawnStores, World } from '../world.ts'

const typesOf = (log: readonly Row[]) => log.map(({ event_type }) => event_type)
const payloadOf = (log: readonly Row[], type: string) => log.find(({ event_type }) => event_type === type)?.payload

/** A session whose turn waits for an approval. */
interface Paused {
  readonly session: string
  readonly action: string
  readonly lastId: string
}

describe.each(drawnStores)('an approval and kill -9 on $store', ({ store }) => {
  let world: World
  let tool: ToolServer
  let waiting: Paused
  let contested: Paused
  let once: Paused
  let repeated: Paused
  let decided: Paused

  const paused = async (more: object = {}): Promise<Paused> => {
    const session = await world.api.createSession()
    const turn = await world.api.turn(session, gatedTurn(tool, more))
    const waits = await turn.until(isEvent('turn.paused'))
    expect(await turn.ended).toBe('done')
    return { session, action: String(waits.data.action_id), lastId: waits.id }
  }

  const callsOf = ({ action }: Paused) => tool.calls.filter(({ body }) => body.action_id === action)

  // one kill interrupts turns in each of these states
  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ store, tools: [tool] })
    ;[waiting, contested, decided] = [await paused(), await paused(), await paused()]
    ;[once, repeated] = [await paused(), await paused({ effect: 'idempotent' })]
    await (await world.api.approve(decided.session, decided.action)).all()
    tool.hold()
    const streams = [
      await world.api.approve(once.session, once.action),
      await world.api.approve(repeated.session, repeated.action),
    ]
    await tool.called(3)
    await world.crash()
    for (const stream of streams) expect(await stream.ended).toBe('broken')
    tool.answer()
    await world.restart()
  }, 180_000)
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  /** The session's log after the turn has ended; fails unless it is complete. */
  const finishedLog = async ({ session, lastId }: Paused) => {
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

  it('calls an idempotent tool again with the same key, without a request, if it ran during the kill', async () => {
    // no request has named the session since the kill
    await vi.waitFor(() => expect(callsOf(repeated)).toHaveLength(2), patience)
    const log = await finishedLog(repeated)
    const keys = callsOf(repeated).map(({ key }) => key)
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).toMatch(/.+/)
    expect(payloadOf(log, 'tool_call.completed')?.output).toContain('receipt')
  })

  it('does not call an at_most_once tool again if it ran during the kill', async () => {
    const log = await finishedLog(once)
    expect(callsOf(once)).toHaveLength(1)
    expect(payloadOf(log, 'tool_call.completed')?.output).toContain('outcome_unknown')
    expect(payloadOf(log, 'turn.completed')?.output, 'the model was told').toContain('outcome_unknown')
  })

  it('runs the tool once when ten approvals arrive at the same time after a restart', async () => {
    const { session, action } = contested
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => world.api.approve(session, action)))
    const given = answers.filter(({ status }) => status === 'fulfilled')
    expect(given.length).toBeGreaterThanOrEqual(1)
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ status: 409 })
      else await answer.value.ended
    }
    await finishedLog(contested)
    expect(callsOf(contested)).toHaveLength(1)
  })

  it('refuses a second approval after a restart', async () => {
    const again = world.api.approve(decided.session, decided.action)
    await expect(again).rejects.toThrow(Refused)
    await expect(again).rejects.toMatchObject({ status: 409 })
    expect(callsOf(decided)).toHaveLength(1)
  })

  it('runs the tool once if the turn waited during the kill, and not again after the next kill', async () => {
    const { session, action } = waiting
    expect((await world.api.get(`/v1/sessions/${session}`)).body.status).toBe('paused')
    const resumed = await world.api.approve(session, action)
    expect((await resumed.all()).map(({ event }) => event).filter((name) => !name.includes('delta'))).toEqual([
      'turn.resumed',
      'tool_call.completed',
      'turn.completed',
    ])
    expect(callsOf(waiting)).toHaveLength(1)
    await finishedLog(waiting)
    const calls = tool.calls.length
    await world.crash()
    await world.restart()
    await finishedLog(waiting)
    expect([callsOf(waiting).length, tool.calls.length]).toEqual([1, calls])
  })
})
