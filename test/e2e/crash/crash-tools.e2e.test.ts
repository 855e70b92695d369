import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Row } from '../api.ts'
import { patience } from '../patience.ts'
import { counted, endsTurn, rise } from '../stream-reader.ts'
import { gatedTurn, startToolServer, type ToolServer } from '../tool-server.ts'
import { drawnStores, World } from '../world.ts'
import { Visitor } from './visitor.ts'

const visitorsOfEach = 5
const kills = 5
/** Tool calls between two kills: different numbers, so that the kills interrupt different places. */
const callsBetween = [7, 3, 11, 5, 8]

const effects = ['at_most_once', 'idempotent'] as const

describe.each(drawnStores)('approved tools with repeated kill -9 on $store', ({ store }) => {
  let world: World
  let tool: ToolServer
  const visitors: { readonly visitor: Visitor; readonly effect: (typeof effects)[number] }[] = []
  const logs = new Map<string, readonly Row[]>()

  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ store, tools: [tool] })
    for (const effect of effects) {
      for (let n = 0; n < visitorsOfEach; n++) {
        visitors.push({ visitor: new Visitor(world, await world.api.createSession()), effect })
      }
    }
    let done = false
    const visits = visitors.map(async ({ visitor, effect }) => {
      while (!done) {
        await visitor.request(gatedTurn(tool, { effect }))
        await visitor.approve()
      }
    })
    for (let kill = 0; kill < kills; kill++) {
      const goal = tool.calls.length + (callsBetween[kill] ?? 0)
      await vi.waitFor(() => expect(tool.calls.length).toBeGreaterThanOrEqual(goal), { ...patience, interval: 1 })
      await world.crash()
      await world.restart()
    }
    done = true
    await Promise.all(visits)
    for (const { visitor } of visitors) logs.set(visitor.session, await world.api.log(visitor.session))
    console.info(`${store}: ${tool.calls.length} calls of the tool over ${kills} kills`)
  }, 300_000)
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  const callsOf = (action: unknown) => tool.calls.filter(({ body }) => body.action_id === action)

  /** The completed tool calls in the logs, with their outputs. */
  const completed = (effect: string) =>
    visitors
      .filter((each) => each.effect === effect)
      .flatMap(({ visitor }) => logs.get(visitor.session) ?? [])
      .filter(({ event_type }) => event_type === 'tool_call.completed')
      .map(({ payload }) => ({ action: payload.action_id, output: String(payload.output) }))

  it('are called at most once each, and exactly once if there is an output', () => {
    const all = completed('at_most_once')
    expect(all.length).toBeGreaterThan(visitorsOfEach)
    for (const { action, output } of all) {
      const calls = callsOf(action).length
      if (output.includes('outcome_unknown')) expect(calls).toBeLessThanOrEqual(1)
      else expect(calls, output).toBe(1)
    }
    console.info(`${store}: ${all.filter(({ output }) => output.includes('outcome_unknown')).length} outcomes unknown`)
  })

  it('are called again with the same key when they are idempotent, until there is an output', () => {
    const all = completed('idempotent')
    expect(all.length).toBeGreaterThan(visitorsOfEach)
    for (const { action, output } of all) {
      expect(output).toContain('receipt')
      expect(new Set(callsOf(action).map(({ key }) => key)).size).toBe(1)
    }
    expect(new Set(tool.calls.map(({ key }) => key)).size).toBe(
      new Set(tool.calls.map(({ body }) => body.action_id)).size,
    )
  })

  it('leave every log complete, with one end for every turn', () => {
    for (const { visitor } of visitors) {
      const log = logs.get(visitor.session) ?? []
      expect(rise(visitor.frames.map(({ id }) => Number(id)))).toBe(true)
      expect(log.map(({ payload }) => payload)).toEqual(visitor.inLog(log).map(({ data }) => data))
      const ends = log.filter(({ event_type }) => endsTurn({ event: event_type }))
      expect(ends.map(({ turn_number }) => turn_number)).toEqual(counted(Array(visitor.turns).fill(0)))
    }
  })
})
