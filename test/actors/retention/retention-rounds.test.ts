import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { RetentionRounds } from '#actors/retention/retention-rounds.ts'
import { RetentionSettings, retentionKind } from '#actors/retention/retention-settings.ts'
import { runRows } from '#actors/runs/kinds.ts'
import { actionRows, sessionRows } from '#actors/sessions/kinds.ts'
import { noAgent } from '#actors/sessions/turns/turn-plan.ts'
import { UpkeepSwitch, upkeepRows } from '#runtime/log/upkeep-switch.ts'
import { shardsOf } from '#runtime/recovery/shard.ts'
import { projectScope } from '#storage/scope.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { runOf, startRun } from '../runs/run-world.ts'
import { action, calls, functionTool, pausedTurn } from '../sessions/approving.ts'
import { agentConfigOf, callOf, newSession, openWorld, type World, type WorldOptions } from '../sessions/harness.ts'

const worlds: World[] = []
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.runtime.drain(0)
})

const dayMs = 24 * 60 * 60 * 1000
const days = { sessions_days: 30, runs_days: null, actions_days: null }
const project = 'prj_a'
const caller = { principal: { kind: 'secret_key', project, keyId: 'key_1' }, remoteAddress: '' } as const

const open = async (options: Omit<WorldOptions, 'clock'> = {}) => {
  const clock = new VirtualClock(Date.now())
  const world = await openWorld({ ...options, clock })
  worlds.push(world)
  const { records } = world.storage
  await records.prepare([retentionKind, upkeepRows])
  const settings = new RetentionSettings(records, clock.now)
  const upkeep = new UpkeepSwitch({ records, clock })
  const kinds = { sessions_days: sessionRows, runs_days: runRows, actions_days: actionRows }
  const parts = { host: world.host, records, settings, upkeep, kinds, clock, log: pino({ level: 'silent' }) }
  return { world, clock, settings, upkeep, parts, rounds: new RetentionRounds(parts) }
}

type Opened = Awaited<ReturnType<typeof open>>

/** Lets days pass. An idle session expires after seven days, which is its last change. */
const later = async ({ clock }: Opened, days: number): Promise<void> => {
  for (const part of [8, days - 8]) {
    await clock.leap(part * dayMs)
    await clock.advance(2000)
  }
}

const sessionsIn = async ({ world, clock }: Opened): Promise<readonly string[]> => {
  await clock.advance(1000)
  const rows = await world.storage.records.list(sessionRows, projectScope(project), { limit: 100, ascending: true })
  return rows.map(({ id }) => id)
}

it('retention deletes sessions that have not changed for the configured time, and no others', async () => {
  const opened = await open()
  const old = await newSession(opened.world)
  await later(opened, 20)
  const young = await newSession(opened.world)
  await opened.settings.change(project, caller, (data) => ({ ...data, ...days }))
  await opened.rounds.round()
  expect(await sessionsIn(opened)).toEqual([old, young])
  await later(opened, 20)
  await opened.rounds.round()
  expect(await sessionsIn(opened)).toEqual([young])
  expect(await opened.world.storage.commits.head(old)).toBeNull()
  expect(opened.rounds.deleted).toBe(1)
})

it('retention names what it deleted in the audit log of the project, once', async () => {
  const opened = await open()
  await newSession(opened.world)
  await opened.settings.change(project, caller, (data) => ({ ...data, ...days }))
  await later(opened, 40)
  await opened.rounds.round()
  await opened.rounds.round()
  const [row] = await opened.world.storage.records.openOutboxes(retentionKind, null, 10)
  const lines = row?.outbox?.map(({ event }) => event) ?? []
  expect(lines).toMatchObject([
    { action: 'retention_settings.created', by: { kind: 'secret_key', id: 'key_1' }, project },
    { action: 'retention_settings.applied', by: { kind: 'system' }, changes: ['sessions'], project },
  ])
  expect((await opened.settings.read(project)).data.applied_at).toBeGreaterThan(0)
})

it('retention leaves the sessions of projects without settings', async () => {
  const opened = await open()
  const session = await newSession(opened.world)
  await opened.settings.change('prj_another', caller, (data) => ({ ...data, ...days }))
  await later(opened, 400)
  await opened.rounds.round()
  expect(await sessionsIn(opened)).toEqual([session])
})

it('retention deletes nothing while it is paused', async () => {
  const opened = await open()
  const session = await newSession(opened.world)
  await opened.settings.change(project, caller, (data) => ({ ...data, ...days }))
  await later(opened, 40)
  await opened.upkeep.pause('retention', 'usr_1')
  await opened.rounds.round()
  expect(await sessionsIn(opened)).toEqual([session])
  await opened.upkeep.resume('retention')
  await opened.rounds.round()
  expect(await sessionsIn(opened)).toEqual([])
})

it('retention leaves a project to the process that runs its shard', async () => {
  const opened = await open()
  const session = await newSession(opened.world)
  await opened.settings.change(project, caller, (data) => ({ ...data, ...days }))
  await later(opened, 40)
  const { host } = opened.world
  const elsewhere = { deliver: host.deliver.bind(host), ownership: { heldUnder: () => undefined, space: shardsOf({}) } }
  await new RetentionRounds({ ...opened.parts, host: elsewhere }).round()
  expect(await sessionsIn(opened)).toEqual([session])
})

it('retention deletes an old session and leaves newer ones', async () => {
  const opened = await open()
  const first = await newSession(opened.world)
  await opened.settings.change(project, caller, (data) => ({ ...data, ...days }))
  await later(opened, 40)
  const young = []
  for (let n = 0; n < 3; n++) young.push(await newSession(opened.world))
  await opened.rounds.round()
  expect(await sessionsIn(opened)).toEqual(young)
  expect(young).not.toContain(first)
})

const lasting = { expires_in: 30 * 24 * 3600 }
const shownAs = { code: 'not_found' }

describe('actions', () => {
  const create = async ({ world }: Opened, more: object = {}): Promise<string> => {
    const body = { tool: 'pay', arguments: { amount: 1 }, risk_level: 'high', ...lasting, ...more } as const
    return (await world.useCases['actions.create'](callOf({}, {}, body))).id
  }

  it('of their own are deleted by their days, and those of a session or run stay with it', async () => {
    const agents = async ({ agentId }: { readonly agentId: string }) =>
      agentConfigOf(agentId, { config: { ...noAgent, tools: [functionTool('confirm', true)] } })
    const opened = await open({ agents, scripts: [calls('confirm'), calls('confirm')] })
    const { world, clock, settings, rounds } = opened
    const session = await newSession(world)
    const tools = [{ ...functionTool('confirm', true), ...lasting }]
    const { waiting } = await pausedTurn(world, session, { input: 'go', tools })
    const run = await startRun(world, 'agt_1', lasting)
    await clock.advance(1000)
    const alone = await create(opened)
    const beside = [await create(opened, { session_id: session }), await create(opened, { run_id: run })]
    await settings.change(project, caller, (data) => ({
      ...data,
      ...{ sessions_days: null, runs_days: null, actions_days: 2 },
    }))
    await clock.leap(3 * dayMs)
    const young = await create(opened)
    await clock.advance(1000)
    await rounds.round()
    await clock.advance(1000)
    expect(rounds.deleted).toBe(1)
    await expect(action(world, alone)).rejects.toMatchObject(shownAs)
    const kept = [young, waiting.confirm ?? '', ...beside]
    for (const id of kept) expect(await action(world, id), id).toMatchObject({ status: 'pending_approval' })
  })
})

it('deletes runs with their actions once they have not changed for as long as the project keeps them', async () => {
  const agents = async ({ agentId }: { readonly agentId: string }) =>
    agentConfigOf(agentId, { config: { ...noAgent, tools: [functionTool('confirm', true)] } })
  const opened = await open({ agents, scripts: [calls('confirm'), calls('confirm')] })
  const { world, clock, settings, rounds } = opened
  const old = await startRun(world, 'agt_1', lasting)
  await clock.advance(1000)
  const rows = () => world.storage.records.list(actionRows, projectScope(project), { limit: 10 })
  expect((await rows()).map(({ data }) => data.run_id)).toEqual([old])
  await clock.leap(3 * dayMs)
  const young = await startRun(world, 'agt_1', lasting)
  await clock.advance(1000)
  await settings.change(project, caller, (data) => ({
    ...data,
    ...{ sessions_days: null, runs_days: 2, actions_days: null },
  }))
  await rounds.round()
  await clock.advance(60_000)
  expect(rounds.deleted).toBe(1)
  await expect(runOf(world, old)).rejects.toMatchObject(shownAs)
  expect(await runOf(world, young)).toMatchObject({ status: 'requires_action' })
  expect((await rows()).map(({ data }) => data.run_id)).toEqual([young])
  expect(await world.storage.commits.head(old)).toBeNull()
})
