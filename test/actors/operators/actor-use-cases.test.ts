import { afterEach, describe, expect, it } from 'vitest'
import type { Call, Principal } from '#actors/call/call.ts'
import { definitions } from '#actors/capabilities.ts'
import { activePaths, actorViewUseCases } from '#actors/operators/actor-use-cases.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { newId } from '#runtime/ids.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { LogEvent } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { callOf, newSession, openWorld, type Script, turn, typesOf, type World } from '../sessions/harness.ts'

const member: Principal = {
  kind: 'dashboard',
  organization: 'org_a',
  memberId: 'usr_a',
  sessionId: 'dse_a',
  role: 'member',
  project: 'prj_a',
}

/** A call of a member on a project, as the dispatcher makes it: the scope is the project of the path. */
const memberCall = <P, Q>(project: string, params: P, query: Q): Call<P & { project_id: string }, Q, undefined> => ({
  ...callOf({ ...params, project_id: project }, query, undefined),
  principal: { ...member, project },
  scope: projectScope(project),
})

const worlds: World[] = []
const open = async (...args: Parameters<typeof openWorld>): Promise<World> => {
  const world = await openWorld(...args)
  worlds.push(world)
  return world
}

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.runtime.drain(0)
})

const nodes = { runnerOf: async () => 'node-a' }

const openConsole = async (scripts: readonly Script[]) => {
  const world = await open({ scripts })
  const views = actorViewUseCases({
    definitions,
    host: world.host,
    records: world.storage.records,
    storage: world.storage,
    nodes,
  })
  const session = await newSession(world)
  const see = (actor: string, project = 'prj_a') =>
    views['project_actors.get'](memberCall(project, { actor_id: actor }, {}))
  return { world, views, session, see }
}

const gate = () => {
  let release = () => {}
  const closed = new Promise<void>((resolve) => {
    release = resolve
  })
  return { closed, release }
}

const weather = { type: 'function', function: { name: 'weather' }, needsApproval: true } as const

const weatherCall: Script = { text: ['Let me see.'], calls: [{ name: 'weather', arguments: '{"place":"Oslo"}' }] }

/** Appends a commit that no machine can restore. */
const damage = async (world: World, actor: string): Promise<void> => {
  const head = await world.storage.commits.head(actor)
  if (head === null) throw new Error(`${actor} has no commit`)
  const snapshot = { ...head.snapshot, value: 'dreaming' }
  const damaged = { ...head, seq: head.seq + 1, cause: 'damage', nonce: 'damage', events: [], snapshot }
  expect(await world.storage.commits.append([damaged])).toEqual(['done'])
}

describe('actor views', () => {
  it('name every active state by its dotted path, outer ones first', () => {
    expect(activePaths('paused')).toEqual(['paused'])
    expect(activePaths({ active: { working: 'thinking' } })).toEqual([
      'active',
      'active.working',
      'active.working.thinking',
    ])
    expect(activePaths({ left: 'a', right: { b: 'c' } })).toEqual(['left', 'left.a', 'right', 'right.b', 'right.b.c'])
  })

  it('show an idle session with its reminder and nothing in flight', async () => {
    const { session, see } = await openConsole([])
    expect(await see(session)).toMatchObject({
      id: session,
      machine: 'session',
      version: sessionDefinition.version,
      state: { active: 'idle' },
      active: ['active', 'active.idle'],
      seq: 1,
      last_sequence: 0,
      busy: false,
      parked: null,
      in_flight: [],
      reminders: [{ due: expect.stringMatching(/^\d{4}-.*Z$/) }],
      related: [],
    })
  })

  it('show the model call of a running turn in flight', async () => {
    const { closed, release } = gate()
    const { world, session, see } = await openConsole([{ text: [closed, 'Done.'] }])
    const running = turn(world, session, { input: 'go' })
    await expect.poll(async () => (await see(session)).busy).toBe(true)
    expect(await see(session)).toMatchObject({
      active: ['active', 'active.working', 'active.working.thinking'],
      in_flight: [{ name: 'callModel', policy: 'stream', started: false }],
    })
    release()
    await running
    expect(await see(session)).toMatchObject({ active: ['active', 'active.idle'], in_flight: [] })
  })

  it('link a paused session with the action that it waits for', async () => {
    const { world, session, see } = await openConsole([weatherCall])
    await turn(world, session, { input: 'weather?', tools: [weather] })
    const paused = await see(session)
    expect(paused.active).toEqual(['paused'])
    expect(paused.related).toEqual([
      { id: expect.stringMatching(/^act_/), machine: 'action', state: 'pending_approval', label: 'weather' },
    ])
    const action = await see(paused.related[0]?.id ?? '')
    expect(action).toMatchObject({ machine: 'action', active: ['pending_approval'] })
    expect(action.related).toEqual([{ id: session, machine: 'session', state: 'paused', label: null }])
  })

  it('show why an actor is parked, without a state', async () => {
    const { world, session } = await openConsole([])
    await damage(world, session)
    const later = await open({ storage: world.storage })
    const views = actorViewUseCases({
      definitions,
      host: later.host,
      records: later.storage.records,
      storage: later.storage,
      nodes,
    })
    const shown = await views['project_actors.get'](memberCall('prj_a', { actor_id: session }, {}))
    expect(shown).toMatchObject({ state: null, active: [], related: [], parked: expect.stringContaining('dreaming') })
    const foreign = views['project_actors.get'](memberCall('prj_b', { actor_id: session }, {}))
    await expect(foreign).rejects.toMatchObject({ code: 'not_found' })
  })

  it('respond even if a message to a parked actor cannot be delivered', async () => {
    const { world, session, see } = await openConsole([weatherCall])
    await turn(world, session, { input: 'weather?', tools: [weather] })
    const [action] = (await see(session)).related
    await damage(world, action?.id ?? '')
    const later = await open({ storage: world.storage })
    const views = actorViewUseCases({
      definitions,
      host: later.host,
      records: later.storage.records,
      storage: later.storage,
      nodes,
    })
    const read = () => views['project_actors.get'](memberCall('prj_a', { actor_id: session }, {}))
    expect((await read()).related).toMatchObject([{ id: action?.id, state: 'parked' }])
    await later.useCases['sessions.cancel'](callOf({ session_id: session }, {}, {}))
    expect(await read()).toMatchObject({ active: ['active', 'active.idle'], related: [] })
  })

  it('give the same error for an id of another project, an unknown id and a malformed id', async () => {
    const { session, see } = await openConsole([])
    const refusals = [see(session, 'prj_b'), see(newId('ses')), see('nonsense'), see(session.replace('ses_', 'act_'))]
    for (const refusal of refusals) {
      await expect(refusal).rejects.toSatisfy((error) => error instanceof ServiceError && error.code === 'not_found')
    }
  })

  it('list the sessions of the named project only', async () => {
    const { views, session } = await openConsole([])
    const list = (project: string) => views['project_sessions.list'](memberCall(project, {}, { page: 1, limit: 20 }))
    expect((await list('prj_a')).data.map(({ id }) => id)).toEqual([session])
    expect(await list('prj_b')).toMatchObject({ data: [], pagination: { total: 0 } })
  })

  it('read a log from any sequence number, together with its last one', async () => {
    const { world, views, session } = await openConsole([{ text: ['One', ' two'] }])
    const log = await turn(world, session, { input: 'count' })
    const read = (after: number, limit: number) =>
      views['project_actors.events'](memberCall('prj_a', { actor_id: session }, { after, limit }))
    const first = await read(0, 2)
    expect(first.last_sequence).toBe(log.length)
    expect(first.data.map(({ sequence }) => sequence)).toEqual([1, 2])
    const rest = await read(2, 100)
    expect([...first.data, ...rest.data].map(({ event_type }) => event_type)).toEqual(typesOf(log))
    expect(rest.data.at(-1)).toMatchObject({ event_type: 'turn.completed', turn_number: 1 })
  })

  it('follow a log from its last event, beyond the end of a turn', async () => {
    const { world, views, session } = await openConsole([{ text: ['One'] }, { text: ['Two'] }])
    const first = await turn(world, session, { input: 'go' })
    const call = { ...memberCall('prj_a', { actor_id: session }, {}), after: first.length }
    const { stream } = await views['project_actors.stream'](call)
    const seen: LogEvent[] = []
    const control = stream.start({
      push: (events) => {
        seen.push(...events)
        return true
      },
      end: () => {},
    })
    const second = await turn(world, session, { input: 'go on' })
    control.stop()
    expect(seen).toEqual(second)
  })
})
