import { afterEach, describe, expect, it } from 'vitest'
import { projectKeys } from '#actors/accounts/kinds.ts'
import { agents } from '#actors/agents/kinds.ts'
import type { Call, Principal } from '#actors/call/call.ts'
import { actorRows, definitions } from '#actors/capabilities.ts'
import { actorSteps } from '#actors/observation/actor-steps.ts'
import { attention, minSlowMs, slowAfterMs } from '#actors/observation/attention.ts'
import { findAnything } from '#actors/observation/find.ts'
import { fleet } from '#actors/observation/fleet.ts'
import { Headlines } from '#actors/observation/headlines.ts'
import { listActors } from '#actors/observation/list-actors.ts'
import { namesOf } from '#actors/observation/names.ts'
import { p99, StateDurations } from '#actors/observation/state-durations.ts'
import { toolCallRows } from '#actors/observation/tool-calls.ts'
import { Table } from '#actors/records/table.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import type { Role } from '#specs/access.ts'
import { projectScope } from '#storage/scope.ts'
import { png } from '#test/gateway/simulated/image-bytes.ts'
import { callOf, newSession, openWorld, type Script, turn, type World, type WorldOptions } from '../sessions/harness.ts'

const member: Principal = {
  kind: 'dashboard',
  organization: 'org_a',
  memberId: 'usr_a',
  sessionId: 'dse_a',
  role: 'member',
  project: 'prj_a',
}

const scope = projectScope('prj_a')

const callIn = <P, Q>(params: P, query: Q, project = 'prj_a'): Call<P & { project_id: string }, Q, undefined> => ({
  ...callOf({ ...params, project_id: project }, query, undefined),
  principal: { ...member, project },
  scope: projectScope(project),
})

const worlds: World[] = []
const open = async (options: WorldOptions) => {
  const world = await openWorld(options)
  worlds.push(world)
  const { host, storage, clock } = world
  const dwells = new StateDurations(storage, clock.now)
  const headlines = new Headlines(storage)
  const parts = {
    host,
    headlines,
    definitions,
    rowsOfMachine: actorRows,
    records: storage.records,
    commits: storage.commits,
    dwells,
    now: clock.now,
  }
  const steps = async (actor: string, query = { after: 0, limit: 100 }) =>
    (await actorSteps({ ...parts, commits: storage.commits }, callIn({ actor_id: actor }, query))).data
  const listed = async (query: object) =>
    (await listActors(parts, callIn({}, { limit: 20, ...query }))).data.map(({ id }) => id)
  return { world, parts, steps, listed }
}

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.runtime.drain(0)
})

const weather = { type: 'function', function: { name: 'weather' }, needsApproval: true } as const
const weatherCall: Script = { text: ['Let me see.'], calls: [{ name: 'weather', arguments: '{"api_key":"hush"}' }] }
const fails: Script = { text: ['Half'], fails: new ModelError('provider_error', 'The provider is gone.') }
const hangs: Script = { text: ['A', new Promise<void>(() => {})] }

describe('steps of an actor', () => {
  it('name every state of a turn in order, with the cause of each step', async () => {
    const { world, steps } = await open({ scripts: [{ text: ['Hi'] }] })
    const session = await newSession(world)
    await turn(world, session, { input: 'hello' })
    const rows = await steps(session)
    expect(rows.flatMap(({ from, to }) => (to === null ? [] : [[from, to]]))).toEqual([
      [null, 'active.idle'],
      ['active.idle', 'active.working.thinking'],
      ['active.working.thinking', 'active.idle'],
    ])
    expect(rows.map(({ caused_by }) => caused_by)).toEqual(expect.arrayContaining(['creation', 'request', 'effect']))
    const [effect] = rows.flatMap(({ effects }) => effects)
    expect(effect).toMatchObject({ name: 'callModel', policy: 'stream' })
    expect(rows.at(-1)).toMatchObject({ cause: `${effect?.id}#done`, in_flight: [] })
  })

  it('come in pages, and are not found by another project', async () => {
    const { world, parts, steps } = await open({ scripts: [{ text: ['Hi'] }] })
    const session = await newSession(world)
    await turn(world, session, { input: 'hello' })
    const all = await steps(session)
    expect(await steps(session, { after: all[0]?.seq ?? 0, limit: 1 })).toEqual(all.slice(1, 2))
    const foreign = actorSteps(
      { ...parts, commits: world.storage.commits },
      callIn({ actor_id: session }, { after: 0, limit: 10 }, 'prj_b'),
    )
    await expect(foreign).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('what needs a person', () => {
  it('is an action that waits for an approval, with its tool and masked arguments', async () => {
    const { world, parts } = await open({ scripts: [weatherCall] })
    const session = await newSession(world)
    await turn(world, session, { input: 'weather?', tools: [weather] })
    await expect.poll(() => attention(parts, scope)).toHaveLength(1)
    const [need, ...others] = await attention(parts, scope)
    expect(others).toEqual([])
    expect(need).toMatchObject({ kind: 'approval', machine: 'action', subject: 'weather', risk_level: 'medium' })
    expect(need?.cause).toBe(`${session} waits for a decision.`)
    expect(JSON.stringify(need?.arguments)).not.toContain('hush')
    expect(Date.parse(need?.expires_at ?? '')).toBeGreaterThan(Date.now())
    expect(await attention(parts, projectScope('prj_b'))).toEqual([])
  })

  it('is limited to the approvals that expire first if there are too many', async () => {
    const { world, parts } = await open({ scripts: Array.from({ length: 55 }, () => weatherCall) })
    const sessions: string[] = []
    for (let count = 0; count < 55; count++) {
      const session = await newSession(world)
      await turn(world, session, { input: 'weather?', tools: [weather] })
      sessions.push(session)
    }
    await expect.poll(() => attention(parts, scope)).toHaveLength(50)
    const causes = (await attention(parts, scope)).map(({ cause }) => cause)
    expect(causes.toSorted()).toEqual(
      sessions
        .slice(0, 50)
        .map((id) => `${id} waits for a decision.`)
        .toSorted(),
    )
  })

  it('contains failures, one row per code with its count and the latest message', async () => {
    const { world, parts } = await open({ scripts: [fails, fails] })
    for (const session of [await newSession(world), await newSession(world)])
      await turn(world, session, { input: 'hello' })
    const needs = await attention(parts, scope)
    expect(needs).toMatchObject([{ kind: 'failed', machine: 'session', count: 2 }])
    expect(needs[0]?.cause).toBe('The provider is gone.')
  })

  it('contains tools that fail, one row per tool, which is found by its name and marked in lists', async () => {
    const refundCall: Script = { text: ['Wait.'], calls: [{ name: 'issue_refund', arguments: '{}' }] }
    const scripts = [refundCall, { text: ['Sorry'] }, refundCall, { text: ['Sorry'] }]
    const outcome = { ok: false, code: 'tool_http_error', message: 'The tool answered with status 500.' } as const
    const { world, parts, listed } = await open({ scripts, runTool: async () => outcome })
    const sessions = [await newSession(world), await newSession(world)]
    const tools = [{ type: 'http', name: 'issue_refund', url: 'https://example.com', needsApproval: false }] as const
    for (const session of sessions) await turn(world, session, { input: 'refund', tools, pause_on_tool_calls: false })
    const [need, ...others] = await attention(parts, scope)
    expect(others).toEqual([])
    expect(need).toMatchObject({ kind: 'failed', subject: 'issue_refund', tool: 'issue_refund', count: 2 })
    expect(need?.cause).toBe('The tool answered with status 500.')
    expect(await findAnything(parts, scope, 'issue_refund')).toMatchObject([{ kind: 'tool', state: 'tool_http_error' }])
    expect((await listed({ tool: 'issue_refund' })).toSorted()).toEqual(sessions.toSorted())
    expect(await listed({ tool: 'another_tool' })).toEqual([])
    const { data } = await listActors(parts, callIn({}, { limit: 20 }))
    expect(data.map(({ failures }) => failures)).toEqual([1, 1])
    const calls = await world.storage.records.list(toolCallRows, scope, { limit: 10 })
    expect(calls).toMatchObject(sessions.map(() => ({ data: { tool: 'issue_refund', code: 'tool_http_error' } })))
  })

  it('is work that has not responded for a long time', async () => {
    const { world, parts } = await open({ scripts: [hangs] })
    const session = await newSession(world)
    const running = turn(world, session, { input: 'hello' })
    await expect.poll(async () => (await world.storage.commits.head(session))?.last_sequence).toBeGreaterThan(1)
    expect(await attention(parts, scope)).toEqual([])
    const later = { ...parts, now: () => Date.now() + 2 * slowAfterMs }
    expect(await attention(later, scope)).toMatchObject([{ kind: 'slow', id: session, machine: 'session' }])
    await world.useCases['sessions.cancel'](callOf({ session_id: session }, {}, {}))
    await running
  })
})

describe('slow work', () => {
  const hello = async (world: World, times: number) => {
    for (let count = 0; count < times; count++) await turn(world, await newSession(world), { input: 'hello' })
  }

  it('takes longer than 99 of 100 others in its state, once enough of them are known', async () => {
    const quick = Array.from({ length: 25 }, (): Script => ({ text: ['Hi'] }))
    const { world, parts } = await open({ scripts: [...quick, hangs] })
    await hello(world, 25)
    const session = await newSession(world)
    const running = turn(world, session, { input: 'hello' })
    await expect.poll(async () => (await world.storage.commits.head(session))?.last_sequence).toBeGreaterThan(1)
    const later = { ...parts, now: () => Date.now() + minSlowMs + 1_000 }
    const [need] = await attention(later, scope)
    expect(need).toMatchObject({ kind: 'slow', id: session })
    expect(need?.cause).toMatch(/^Is in active\.working\.thinking .* 99 of 100 stay there for \d+ ms at most\.$/)
    expect(await attention(parts, scope)).toEqual([])
    await world.useCases['sessions.cancel'](callOf({ session_id: session }, {}, {}))
    await running
  })

  it('is measured without earlier hangs, of which one would hide the next', () => {
    const usual = Array.from({ length: 24 }, (_, index) => 100 + index)
    expect(p99([...usual, 120_000])).toBe(123)
    expect(p99(usual)).toBe(123)
  })

  it('is not detected from a few others', async () => {
    const { world, parts } = await open({ scripts: [{ text: ['Hi'] }, hangs] })
    await hello(world, 1)
    const session = await newSession(world)
    const running = turn(world, session, { input: 'hello' })
    await expect.poll(async () => (await world.storage.commits.head(session))?.last_sequence).toBeGreaterThan(1)
    const later = { ...parts, now: () => Date.now() + minSlowMs + 1_000 }
    expect(await attention(later, scope)).toEqual([])
    await world.useCases['sessions.cancel'](callOf({ session_id: session }, {}, {}))
    await running
  })
})

describe('lists of actors', () => {
  it('are filtered by machine, state, activity and error, within one project', async () => {
    const { world, parts, listed } = await open({ scripts: [weatherCall, fails] })
    const [paused, failed] = [await newSession(world), await newSession(world)]
    await turn(world, paused, { input: 'weather?', tools: [weather] })
    await turn(world, failed, { input: 'hello' })
    expect(await listed({})).toEqual([failed, paused])
    expect(await listed({ state: 'paused' })).toEqual([paused])
    expect(await listed({ state: 'paused', activity: 'ended' })).toEqual([])
    await expect.poll(() => listed({ machine: 'action', activity: 'waiting' })).toHaveLength(1)
    const [need] = (await attention(parts, scope)).filter(({ kind }) => kind === 'failed')
    expect(await listed({ error: need?.subject })).toEqual([failed])
    expect(await listed({ from: new Date(Date.now() + 60_000).toISOString() })).toEqual([])
    expect((await listActors(parts, callIn({}, { limit: 20 }, 'prj_b'))).data).toEqual([])
    await expect(listed({ machine: 'run_queue' })).rejects.toMatchObject({ code: 'invalid_query' })
  })

  it('count failures of the fleet by the transition on which they occurred', async () => {
    const { world, parts } = await open({ scripts: [fails, { text: ['Hi'] }] })
    const session = await newSession(world)
    await turn(world, session, { input: 'hello' })
    await turn(world, session, { input: 'again' })
    const sessions = (await fleet(parts, scope)).find(({ machine }) => machine === 'session')
    const edge = { from: 'active.working.thinking', to: 'active.idle', count: 1 }
    expect(sessions).toMatchObject({ failures_24h: 1, failing_edges: [edge] })
  })

  it('count the steps of the fleet in the last minute by their transition', async () => {
    const { world, parts } = await open({ scripts: [{ text: ['Hi'] }, { text: ['Hi'] }] })
    const sessions = [await newSession(world), await newSession(world)]
    for (const session of sessions) await turn(world, session, { input: 'hello' })
    const flowsAfter = async (ms: number) => {
      const machines = await fleet({ ...parts, now: () => world.clock.now() + ms }, scope)
      return machines.find(({ machine }) => machine === 'session')?.flows
    }
    expect(await flowsAfter(0)).toEqual([
      { from: 'active.idle', to: 'active.working.thinking', count: 2 },
      { from: 'active.working.thinking', to: 'active.idle', count: 2 },
    ])
    expect(await flowsAfter(60_001)).toEqual([])
  })

  it('count actors of the fleet by state', async () => {
    const { world, parts } = await open({ scripts: [{ text: ['Hi'] }] })
    await newSession(world)
    const machines = await fleet(parts, scope)
    const sessions = machines.find(({ machine }) => machine === 'session')
    expect(sessions?.states.find(({ state }) => state === 'active.idle')).toMatchObject({ actors: 1, final: false })
    expect(sessions?.states.reduce((sum, { actors }) => sum + actors, 0)).toBe(1)
  })
})

describe('the search of the console', () => {
  it('accepts an id, its beginning, its part after the prefix, a part of a name, and an error code', async () => {
    const { world, parts } = await open({ scripts: [fails] })
    const session = await newSession(world)
    await turn(world, session, { input: 'hello' })
    for (const text of [session, session.slice(0, 20), session.slice(4, 26)])
      expect((await findAnything(parts, scope, text)).map(({ id }) => id)).toContain(session)
    const [need] = await attention(parts, scope)
    expect(await findAnything(parts, scope, need?.subject ?? '')).toMatchObject([{ kind: 'error', id: need?.subject }])
    const at = { version: 1, created_at: 1, updated_at: 1, expires_at: null, tenant: null, user: null }
    const data = { name: 'Refund desk', status: 'active' }
    await world.storage.records.insert(agents, { id: 'agt_1', project: 'prj_a', ...at, data })
    expect(await findAnything(parts, scope, 'fund de')).toMatchObject([{ kind: 'agent', label: 'Refund desk' }])
    expect(await findAnything(parts, scope, 'nothing of ours')).toEqual([])
    expect(await findAnything(parts, projectScope('prj_b'), session)).toEqual([])
  })
})

describe('what a session is about', () => {
  const named = (parts: Awaited<ReturnType<typeof open>>['parts'], ids: readonly string[], role: Role = 'member') =>
    namesOf({ ...parts, kinds: [agents, projectKeys] }, { scope, principal: { ...member, role } }, ids)

  it('is the beginning of its first message without line breaks, in lists, in searches and by its id', async () => {
    const { world, parts } = await open({ scripts: [{ text: ['Hi'] }, { text: ['Hi'] }] })
    const [session, empty] = [await newSession(world), await newSession(world)]
    const input = `Where is\n  my parcel? ${'It is late. '.repeat(20)}`
    await turn(world, session, { input })
    await turn(world, session, { input: 'something else' })
    const { data } = await listActors(parts, callIn({}, { limit: 20 }))
    const labels = new Map(data.map(({ id, label }) => [id, label]))
    expect(labels.get(session)).toMatch(/^Where is my parcel\? It is late\. .*…$/)
    expect(labels.get(session)?.length).toBeLessThanOrEqual(90)
    expect(labels.get(empty)).toBeNull()
    expect((await findAnything(parts, scope, 'MY PARCEL')).map(({ id }) => id)).toEqual([session])
    expect(await named(parts, [session])).toMatchObject([{ id: session, machine: 'session', state: 'active.idle' }])
    expect(await findAnything(parts, projectScope('prj_b'), 'my parcel')).toEqual([])
  })

  it('is how many images its first message has when that has no words', async () => {
    const { world, parts } = await open({ scripts: [{ text: ['A square.'] }] })
    const image = { type: 'input_image', image_url: `data:image/png;base64,${png(64, 48).toString('base64')}` }
    for (const [input, label] of [
      [[image], 'An image'],
      [[image, image], '2 images'],
      [[{ type: 'input_text', text: 'What is this?' }, image], 'What is this?'],
    ] as const) {
      const session = await newSession(world)
      await turn(world, session, { input })
      expect(await named(parts, [session])).toMatchObject([{ name: label }])
    }
  })

  it('is not shown to another project, and names of keys only to those who operate', async () => {
    const { world, parts } = await open({ scripts: [{ text: ['Hi'] }] })
    const session = await newSession(world)
    await turn(world, session, { input: 'hello' })
    const foreign = { scope: projectScope('prj_b'), principal: member }
    expect(await namesOf({ ...parts, kinds: [agents] }, foreign, [session])).toEqual([])
    const key = new Table(world.storage.records, projectKeys, world.clock.now)
    const id = `key_${'0'.repeat(26)}`
    await key.insert({ id, project: 'prj_a', data: { ...keyData, name: 'Of the shop' } })
    expect(await named(parts, [id])).toEqual([])
    expect(await named(parts, [id, id], 'admin')).toEqual([{ id, machine: null, state: null, name: 'Of the shop' }])
  })
})

const keyData = {
  ...{ hash: 'h', prefix: 'csk_', last4: 'abcd', created_by: null, expires_at_ms: null, revoked_at_ms: null },
  ...{ last_used_at_ms: null, replaced_by: null },
}
