import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { served } from '../api.ts'
import { answerTo } from '../gateway/simulated-answer.ts'
import { patience } from '../patience.ts'
import { counted, endsTurn, isDelta, isEvent, rise, textOf } from '../stream-reader.ts'
import { gatedTurn, startToolServer, type ToolServer } from '../tool-server.ts'
import { ClusterWorld } from './cluster-world.ts'

describe('when the node that runs a session fails', { timeout: 120_000 }, () => {
  let world: ClusterWorld
  let tool: ToolServer
  beforeAll(async () => {
    tool = await startToolServer()
    world = await ClusterWorld.start(3, { tools: [tool] })
  }, 120_000)
  beforeEach(() => world.settled(), 120_000)
  afterEach(async () => {
    tool.answer()
    for (const node of world.nodes) if (node.isPaused) node.resume()
    await Promise.all(world.nodes.filter(({ isRunning }) => !isRunning).map((node) => node.restart()))
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  const paused = async (more: object = {}) => {
    const session = await world.api(0).createSession()
    const turn = await world.api(0).turn(session, gatedTurn(tool, more))
    const { data } = await turn.until(isEvent('turn.paused'))
    return { session, action: String(data.action_id), ...(await world.sides(session)) }
  }

  it('by kill -9 while a turn waits, an approval on another node runs the tool once', async () => {
    const before = tool.calls.length
    const { session, action, owner, others } = await paused()
    await owner.kill9()
    const [first, second] = others.map((node) => world.at(node))
    if (!first || !second) throw new Error('two nodes are left')
    const startedMs = performance.now()
    const resumed = await served((keyed) => first.approve(session, action, keyed))
    console.info(`approved on another node ${Math.round(performance.now() - startedMs)} ms after kill -9`)
    expect((await resumed.all()).at(-1)?.event).toBe('turn.completed')
    await expect(served((keyed) => second.approve(session, action, keyed))).rejects.toMatchObject({ status: 409 })
    await owner.restart()
    const log = await world.at(owner).log(session)
    expect(log.map(({ sequence }) => sequence)).toEqual(counted(log))
    expect(tool.calls.length - before).toBe(1)
  })

  it('by kill -9, its history has the node that ran it and the one that took it over', async () => {
    const session = await world.api(0).createSession()
    const { owner, others } = await world.sides(session)
    await owner.kill9()
    const [other] = others
    if (other === undefined) throw new Error('two nodes are left')
    const turn = await served((keyed) => world.at(other).turn(session, { input: 'Hello' }, keyed))
    await turn.all()
    const next = await world.ownerOf(session)
    await owner.restart()
    const dashboard = await world.dashboard()
    const [project] = (await dashboard.get('/api/projects')).body.data
    const { data } = (await dashboard.get(`/api/projects/${project.id}/actors/${session}/steps?limit=200`)).body
    const owners: readonly object[] = data.flatMap((step: { owner: unknown }) =>
      step.owner === null ? [] : [step.owner],
    )
    expect(owners).toMatchObject([
      { node: owner.name, after_crash: null },
      { node: next?.name, after_crash: true },
    ])
    expect(others).toContain(next)
  })

  it('by kill -9 during an answer, readers on other nodes receive the end without gap or duplicate', async () => {
    const session = await world.api(0).createSession()
    const { owner, others } = await world.sides(session)
    const followers = await Promise.all(others.map((node) => world.at(node).follow(session, '0')))
    const turn = await world.at(owner).turn(session, { input: 'slow please' })
    for (const reader of [turn, ...followers]) await reader.until(isDelta)
    await owner.kill9()
    expect(await turn.ended).toBe('broken')
    for (const follower of followers) {
      const end = await follower.until(endsTurn)
      follower.stop()
      expect(rise(follower.frames.map(({ id }) => Number(id)))).toBe(true)
      expect(end).toMatchObject({ event: 'turn.completed', data: { output: answerTo('slow please') } })
      expect(answerTo('slow please').startsWith(textOf(follower.frames))).toBe(true)
    }
    const [other] = others
    const next = await served((keyed) => world.at(other ?? owner).turn(session, { input: 'and now?' }, keyed))
    expect((await next.all()).at(-1)).toMatchObject({ event: 'turn.completed', data: { turn_number: 2 } })
  })

  it('by kill -9 while an idempotent tool runs, another node calls it again with the same key', async () => {
    const before = tool.calls.length
    const { session, action, owner, others } = await paused({ effect: 'idempotent' })
    tool.hold()
    const resumed = await served((keyed) => world.at(others[0] ?? owner).approve(session, action, keyed))
    await tool.called(before + 1)
    const now = await world.sides(session)
    await now.owner.kill9()
    tool.answer()
    // no request has named the session since the kill
    await tool.called(before + 2)
    const rest = await world.at(now.others[1] ?? owner).follow(session, '0')
    expect((await rest.until(endsTurn)).event).toBe('turn.completed')
    rest.stop()
    await resumed.ended
    expect(new Set(tool.calls.slice(before).map(({ key }) => key)).size).toBe(1)
    expect(rest.frames.map(({ id }) => Number(id))).toEqual(counted(rest.frames))
  })

  it('by stalling beyond its lease, another takes over, and the first one writes nothing stale when it resumes', async () => {
    const before = tool.calls.length
    const { session, action, owner, others } = await paused()
    owner.pause()
    const [first, second] = others.map((node) => world.at(node))
    if (!first || !second) throw new Error('two nodes are left')
    // it keeps its connections: requests may be refused until its lease has expired
    const resumed = await served((keyed) => first.approve(session, action, keyed))
    expect((await resumed.all()).at(-1)?.event).toBe('turn.completed')
    await vi.waitFor(async () => expect(await membersOf(world)).not.toContain(owner.name), patience)
    owner.resume()
    const back = await served((keyed) => world.at(owner).turn(session, { input: 'still there?' }, keyed))
    expect((await back.all()).at(-1)).toMatchObject({ event: 'turn.completed', data: { turn_number: 2 } })
    const log = await second.log(session)
    expect(log.map(({ sequence }) => sequence)).toEqual(counted(log))
    expect(tool.calls.length - before).toBe(1)
    expect(owner.isRunning).toBe(true)
  })

  it('by stalling beyond its lease, it answers nothing from its outdated memory when it resumes', async () => {
    const { session, action, owner, others } = await paused()
    owner.pause()
    const [first] = others.map((node) => world.at(node))
    if (!first) throw new Error('two nodes are left')
    const resumed = await served((keyed) => first.approve(session, action, keyed))
    const newest = Number((await resumed.all()).at(-1)?.id)
    // they wait at its socket, and are the first that it reads
    const path = `/v1/sessions/${session}`
    const reading = Array.from({ length: 10 }, () => world.at(owner).get(`${path}/messages`))
    const paging = Array.from({ length: 10 }, () => world.at(owner).get(`${path}/events?limit=1`))
    await first.log(session)
    owner.resume()
    const messages = (await Promise.all(reading)).map(({ body }) => body.last_event_id)
    const events = (await Promise.all(paging)).map(({ body }) => body.pagination.total)
    expect([...messages, ...events]).toEqual(Array.from({ length: 20 }, () => newest))
  })
})

/** The nodes that have renewed their leases in time. */
const membersOf = async (world: ClusterWorld): Promise<readonly string[]> =>
  (await world.leases()).members.map(({ node }) => node)
