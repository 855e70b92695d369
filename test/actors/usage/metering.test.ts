import { expect, it } from 'vitest'
import { type UsageData, usageRows } from '#gateway/ledger/usage-rows.ts'
import type { Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { calls, functionTool } from '../sessions/approving.ts'
import { callOf, newSession, openWorld, turn } from '../sessions/harness.ts'

const scope = projectScope('prj_a')

const usageOf = async ({ records }: Storage): Promise<readonly Partial<UsageData>[]> =>
  (await records.list(usageRows, scope, { limit: 100, ascending: true })).map(({ data }) => data)

const approvalTool = functionTool('confirm')

it('every model call of a turn has one usage row, with its session and its cost', async () => {
  const world = await openWorld({ scripts: [calls('confirm'), { text: ['Done.'] }] })
  const session = await newSession(world)
  const first = await turn(world, session, { input: 'go', tools: [approvalTool], pause_on_tool_calls: false })
  const owed = first.findLast(({ payload }) => payload.tool === 'confirm')?.payload.action_id
  await turn(world, session, { tool_results: [{ action_id: String(owed), output: '31' }] })
  await world.host.rows.settled()
  const row = {
    operation: 'session.turn',
    provider: 'scripted',
    model: 'scripted-1',
    session_id: session,
    run_id: null,
    input_tokens: 10,
    output_tokens: 5,
    provider_cost_usd: '0.0001',
    service_charge_usd: '0.0001',
    billing_mode: 'managed',
    price_snapshot: null,
  }
  expect(await usageOf(world.storage)).toMatchObject([row, row])
})

it('the usage of a turn is charged to the tenant and the end user of its session', async () => {
  const world = await openWorld({ scripts: [{ text: ['Hello.'] }] })
  const create = callOf({}, {}, { metadata: {} })
  const { id } = await world.useCases['sessions.create']({
    ...create,
    scope: { ...create.scope, tenant: 'ten_1', user: 'ada' },
  })
  await turn(world, id, { input: 'hi' })
  await world.host.rows.settled()
  const [record] = await world.storage.records.list(usageRows, scope, { limit: 10 })
  expect(record).toMatchObject({ tenant: 'ten_1', user: 'ada', data: { external_user_id: 'ada' } })
})

it('after a crash at any commit of a turn, every durable response has usage, and no other has', async () => {
  for (let at = 0; at < 8; at++) {
    for (const fault of ['crash_before', 'crash_after'] as const) {
      const faulty = new FaultyStorage(openMemoryStorage())
      const clock = new VirtualClock()
      const scripts = [calls('confirm'), { text: ['Done.'] }]
      const first = await openWorld({ storage: faulty.storage, clock, scripts })
      const session = await newSession(first)
      faulty.next(...Array.from({ length: at }, () => undefined), fault)
      void turn(first, session, { input: 'go', tools: [approvalTool], pause_on_tool_calls: false })
      await clock.advance(1000)
      await openWorld({ storage: faulty.inner, clock, scripts: [] })
      await clock.advance(60_000)
      const answers = await answersIn(faulty.inner, session)
      expect(await usageOf(faulty.inner), `${fault} ${at}`).toHaveLength(answers)
    }
  }
})

/** Number of model responses in the commits of the session. */
const answersIn = async ({ commits }: Storage, session: string): Promise<number> => {
  let answers = 0
  const head = await commits.head(session)
  for (let seq = 1; seq <= (head?.seq ?? 0); seq++) {
    if ((await commits.at(session, seq))?.event.type === 'model_answered') answers++
  }
  return answers
}
