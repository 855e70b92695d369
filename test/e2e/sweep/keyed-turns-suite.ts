import { beforeAll, expect, it } from 'vitest'
import { isEvent, type StreamReader } from '../stream-reader.ts'
import { gatedTurn, type ToolServer } from '../tool-server.ts'
import type { World } from '../world.ts'
import { isReplay, keyed } from './keyed-requests.ts'
import type { Swept } from './sweep.ts'

const atATime = 20

const framesOf = async (reader: StreamReader) => (await reader.all()).map(({ event, id, data }) => [event, id, data])

/** Sends turns and approvals several times concurrently with one key, and again after the server was killed. */
export const keyedTurns = (swept: () => Swept): void => {
  let world: World
  let tool: ToolServer

  beforeAll(async () => {
    world = swept().world
    tool = swept().counted
    // the counts of a killed process are lost
    await world.noteCalled()
  })

  /** A session that waits, and the approval of its action with one key. */
  const waiting = async () => {
    const session = await world.api.createSession()
    const paused = await (await world.api.turn(session, gatedTurn(tool))).until(isEvent('turn.paused'))
    const action = paused.data.action_id
    return { session, action, approve: () => world.api.approve(session, action, keyed(`approval ${session}`)) }
  }

  /** Expects that all streams are equal and exactly one is not a replay. */
  const streamed = async (readers: readonly StreamReader[]) => {
    expect(readers.filter((reader) => !isReplay(reader))).toHaveLength(1)
    const [first, ...others] = await Promise.all(readers.map(framesOf))
    for (const frames of others) expect(frames).toEqual(first)
    return first
  }

  it('replays the stream of a turn', async () => {
    const session = await world.api.createSession()
    const turn = (input: string) => world.api.turn(session, { input }, keyed(`turn ${session}`))
    const first = await turn('hello')
    const frames = await framesOf(first)
    expect(isReplay(first)).toBe(false)
    const again = await turn('hello')
    expect(isReplay(again)).toBe(true)
    expect(again.headers.get('content-type')).toContain('text/event-stream')
    expect(await framesOf(again)).toEqual(frames)
    await expect(turn('something else')).rejects.toMatchObject({ status: 409 })
  })

  it('runs one turn for twenty concurrent requests, and streams it to all', async () => {
    const session = await world.api.createSession()
    const turn = () => world.api.turn(session, { input: 'one two three four five six' }, keyed(`turn ${session}`))
    await streamed(await Promise.all(Array.from({ length: atATime }, turn)))
    expect((await world.api.get(`/v1/sessions/${session}`)).body.turn_count).toBe(1)
  })

  it('runs the tool once for twenty concurrent approvals, and streams the rest of the turn to all', async () => {
    const before = tool.calls.length
    const { session, action, approve } = await waiting()
    const frames = await streamed(await Promise.all(Array.from({ length: atATime }, approve)))
    expect(frames?.at(-1)?.[0]).toBe('turn.completed')
    const other = { action_id: action, tool_results: [] }
    expect(await world.api.post(`/v1/sessions/${session}/approve`, other, keyed(`approval ${session}`))).toMatchObject({
      status: 409,
      body: { error: { code: 'idempotency_key_reused' } },
    })
    expect(tool.calls.length - before).toBe(1)
  })

  it('replays the streams of a turn and an approval after kill -9, and does not run the tool again', async () => {
    const before = tool.calls.length
    const session = await world.api.createSession()
    const turn = () => world.api.turn(session, { input: 'hello' }, keyed(`turn ${session}`))
    const { approve } = await waiting()
    const [ofTurn, ofApproval] = await Promise.all([turn().then(framesOf), approve().then(framesOf)])
    await world.crash()
    await world.restart()
    const [turnAgain, approvalAgain] = await Promise.all([turn(), approve()])
    expect([turnAgain, approvalAgain].map(isReplay)).toEqual([true, true])
    expect(await framesOf(turnAgain)).toEqual(ofTurn)
    expect(await framesOf(approvalAgain)).toEqual(ofApproval)
    expect((await world.api.get(`/v1/sessions/${session}`)).body.turn_count).toBe(1)
    expect(tool.calls.length - before).toBe(1)
  })
}
