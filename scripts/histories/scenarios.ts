import type { ToolOutcome } from '#actors/capability/agent-resources.ts'
import type { RunConcurrency } from '#actors/runs/pick-runs.ts'
import type { ToolCall } from '#actors/sessions/tools/tool-runner.ts'
import type { ResolveAgent } from '#actors/sessions/turns/resolved-config.ts'
import { startDelivery } from '#actors/webhooks/webhook-deliveries.ts'
import type { ResponseEffectParts } from '#gateway/apis/responses/background/response-effects.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { agentVersionDefinition } from '#machines/agent-version/agent-version-definition.ts'
import { confirmationMs, erasureDefinition } from '#machines/erasure/erasure.ts'
import { deliveryRetentionMs, retryDelaysMs } from '#machines/webhook-delivery/webhook-delivery.ts'
import { newId } from '#runtime/ids.ts'
import type { JsonObject, StoredEvent } from '#storage/ports.ts'
import type { ScriptedVisit } from '#test/actors/browser/scripted-browser.ts'
import type { ScriptedConnections } from '#test/actors/connections/scripted-connections.ts'
import type { ScriptedDocuments } from '#test/actors/knowledge/scripted-sources.ts'
import type { ScriptedServers } from '#test/actors/mcp/scripted-servers.ts'
import { approve, calls, functionTool, httpTool, pausedTurn, reject } from '#test/actors/sessions/approving.ts'
import { callOf, newSession, type Script, turn, type World } from '#test/actors/sessions/harness.ts'
import { scriptedWebhook } from '#test/actors/webhooks/scripted-endpoint.ts'
import { calm, type VirtualClock } from '#test/support/virtual-clock.ts'
import { batchScenarios } from './batch-scenarios.ts'
import { browserScenarios } from './browser-scenarios.ts'
import { connectionScenarios } from './connection-scenarios.ts'
import { inputScenarios } from './input-scenarios.ts'
import { knowledgeScenarios } from './knowledge-scenarios.ts'
import { mcpScenarios } from './mcp-scenarios.ts'
import { memoryScenarios } from './memory-scenarios.ts'
import { progressScenarios } from './progress-scenarios.ts'
import { responseScenarios } from './response-scenarios.ts'
import { runScenarios } from './run-scenarios.ts'
import { webScenarios } from './web-scenarios.ts'

/** A sequence of calls to the real use-cases, whose actors are recorded. */
export interface Scenario {
  readonly name: string
  readonly scripts: readonly Script[]
  readonly runTool?: (call: ToolCall) => Promise<ToolOutcome>
  readonly endpoint?: () => Promise<number>
  readonly response?: ResponseEffectParts['make']
  readonly documents?: ScriptedDocuments
  readonly visit?: ScriptedVisit
  readonly servers?: ScriptedServers
  readonly connections?: ScriptedConnections
  readonly agents?: ResolveAgent
  readonly concurrency?: RunConcurrency
  readonly window?: number
  readonly play: (world: World, clock: VirtualClock) => Promise<void>
}

const dayMs = 24 * 60 * 60 * 1000
/** Interval in ms at which the runtime checks reminders. */
const pollMs = 1000

const ask = functionTool('ask', true)
const give = functionTool('give')
const post = httpTool('post')
const guarded = httpTool('guarded', { needsApproval: true })
const large = 'a long description. '.repeat(300)

const never = new Promise<void>(() => {})
/** Resolves when the scripted model may continue. */
const later = Promise.withResolvers<void>()

const paused = async (world: World, ...tools: Parameters<typeof turn>[2]['tools'] & object) => {
  const session = await newSession(world)
  return { session, ...(await pausedTurn(world, session, { input: 'go', tools })) }
}

const cancelled = (world: World, session: string) =>
  world.useCases['sessions.cancel'](callOf({ session_id: session }, {}, {}))

const deleted = (world: World, session: string) =>
  world.useCases['sessions.delete'](callOf({ session_id: session }, {}, undefined))

/** Creates a standalone action, which the caller executes. */
const ownAction = (world: World, more: Partial<Pick<OwnAction, 'execute'>> = {}) =>
  world.useCases['actions.create'](
    callOf({}, {}, { tool: 'wire_money', arguments: { amount: 3 }, risk_level: 'high', expires_in: 60, ...more }),
  )

type OwnAction = Parameters<World['useCases']['actions.create']>[0]['body']

const completed = (world: World, action_id: string, body: object) =>
  world.useCases['actions.complete'](callOf({ action_id }, {}, body))

/** Starts a turn and waits until everything that can happen immediately has happened. */
const begun = async (world: World, session: string, body: Parameters<typeof turn>[2]) => {
  void turn(world, session, body)
  await calm()
}

/** Creates a version of an agent and delivers these events to it, one after another. */
const versionAfter = async ({ host, clock }: World, ...events: readonly StoredEvent[]) => {
  const id = newId('agv')
  const owner = { project: 'prj_a', tenant: null, user: null, createdAt: clock.now() }
  const config = JSON.stringify({ model: 'scripted-1', system_prompt: large })
  const manifest = { config, requirements: '{}', visibility: 'public' }
  const input = { version_id: id, agent_id: 'agt_a', version: '1.0.0', ...manifest, created_by: author }
  await host.create({ kind: agentVersionDefinition, id, owner, input, cause: newId('req') })
  for (const event of events) {
    await host.deliver(id, { event: { ...event, by: author, at: clock.now() }, cause: newId('req') })
  }
}

/** Starts a webhook delivery. */
const delivery = async ({ host, clock }: World, webhook_id = 'whk_a'): Promise<string> => {
  const delivery_id = newId('dlv')
  const event = { event_id: newId('evt'), event_type: 'run.completed', body: '{}', replay_of: null }
  await startDelivery(
    host,
    { project: 'prj_a', tenant: null, user: null, createdAt: clock.now() },
    { delivery_id, webhook_id, ...event },
  )
  await calm()
  return delivery_id
}

/** Current behaviour of the scenario's endpoint. */
const endpoint = { answers: async () => 204 }

/** Starts the erasure of a tenant, of one of its users, or of a project. */
const erasure = async ({ host, clock }: World, of: JsonObject): Promise<void> => {
  const id = newId('era')
  const project = typeof of.project_id === 'string' ? 'org_a' : 'prj_a'
  const owner = { project, tenant: null, user: null, createdAt: clock.now() }
  const tenant = { project_id: null, tenant_id: 'ten_a', external_id: 'acme', user: null }
  const input = { erasure_id: id, ...tenant, by: author, ...of }
  await host.create({ kind: erasureDefinition, id, owner, input, cause: newId('req') })
}

const author = { kind: 'secret_key', id: 'key_a' }

/** Together, these reach every state of every machine; a test checks this. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'turns',
    scripts: [
      { text: ['Hello', later.promise, ' world'] },
      { text: ['Half'], fails: new ModelError('provider_error', 'It broke.') },
    ],
    play: async (world) => {
      const session = await newSession(world)
      await begun(world, session, { input: 'hi' })
      later.resolve()
      await calm()
      await turn(world, session, { input: 'and then?' })
    },
  },
  {
    name: 'forked',
    scripts: [{ text: ['Hello'] }, { text: ['Hello otherwise'] }],
    play: async (world) => {
      const session = await newSession(world)
      await turn(world, session, { input: 'hi' })
      const fork = callOf({ session_id: session }, {}, { reason: 'to try again' })
      const { id } = await world.useCases['sessions.fork'](fork)
      await turn(world, id, { input: 'and now?' })
    },
  },
  {
    name: 'compacted',
    window: 2000,
    scripts: [{ text: ['Hello'] }, { text: ['Hello again'] }, { text: ['And again'] }],
    play: async (world) => {
      const session = await newSession(world)
      for (let turns = 0; turns < 3; turns++) await turn(world, session, { input: 'word '.repeat(500) })
    },
  },
  {
    name: 'cancelled',
    scripts: [{ text: ['Thinking', never] }, calls('ask')],
    play: async (world) => {
      const session = await newSession(world)
      await begun(world, session, { input: 'hi', tools: [ask] })
      await cancelled(world, session)
      await pausedTurn(world, session, { input: 'go', tools: [ask] })
      await cancelled(world, session)
    },
  },
  {
    name: 'approved',
    scripts: [calls('ask', 'guarded', 'post', 'give'), { text: ['Done.'] }],
    play: async (world) => {
      const { session, waiting } = await paused(world, ask, guarded, post, give)
      await approve(world, session, waiting.ask ?? '')
      await approve(world, session, waiting.guarded ?? '', [])
    },
  },
  {
    name: 'tools',
    scripts: [calls('post'), calls('nothing_known', 'give'), { text: ['Done.'] }],
    play: async (world) => {
      const session = await newSession(world)
      const events = await turn(world, session, { input: 'go', tools: [post, give], pause_on_tool_calls: false })
      const owed = events.findLast(({ payload }) => payload.tool === 'give')?.payload.action_id
      await turn(world, session, { tool_results: [{ action_id: String(owed), output: '31' }], tools: [give] })
    },
  },
  {
    name: 'tool-failed',
    scripts: [calls('guarded'), { text: ['A pity.'] }],
    runTool: async () => ({ ok: false, code: 'tool_timeout', message: 'It took too long.' }),
    play: async (world) => {
      const { session, waiting } = await paused(world, guarded)
      await approve(world, session, waiting.guarded ?? '', [])
    },
  },
  {
    name: 'tool-cancelled',
    scripts: [calls('guarded')],
    runTool: () => new Promise(() => {}),
    play: async (world) => {
      const { session, waiting } = await paused(world, guarded)
      void approve(world, session, waiting.guarded ?? '', [])
      await calm()
      await cancelled(world, session)
    },
  },
  {
    name: 'rejected',
    scripts: [calls('ask', 'guarded'), { text: ['Then not.'] }],
    play: async (world) => {
      const { session, waiting } = await paused(world, ask, guarded)
      await reject(world, session, waiting.ask ?? '')
      await turn(world, session, { input: 'go on' })
    },
  },
  {
    name: 'expired',
    scripts: [calls('ask'), { text: ['Hello'] }],
    play: async (world, clock) => {
      await paused(world, ask)
      await turn(world, await newSession(world), { input: 'hi' })
      for (let n = 0; n < 2; n++) {
        await clock.leap(7 * dayMs + pollMs)
        await clock.advance(pollMs)
      }
    },
  },
  {
    name: 'deleted',
    scripts: [calls('ask'), { text: ['Hello', never] }],
    play: async (world, clock) => {
      const { session } = await paused(world, ask)
      await deleted(world, session)
      const other = await newSession(world)
      await begun(world, other, { input: 'hi' })
      await deleted(world, other)
      await clock.advance(pollMs)
    },
  },
  {
    name: 'large',
    scripts: [{ text: ['Long.'] }],
    play: async (world) => {
      const create = callOf({}, {}, { metadata: { note: large, $blob: 'the caller’s own' } })
      const session = await world.useCases['sessions.create'](create)
      await turn(world, session.id, { input: 'hi', instructions: large })
    },
  },
  {
    name: 'own',
    scripts: [],
    play: async (world, clock) => {
      const [approved, rejected, _expired] = [await ownAction(world), await ownAction(world), await ownAction(world)]
      await world.useCases['actions.approve'](callOf({ action_id: approved.id }, {}, { note: 'fine' }))
      await world.useCases['actions.reject'](callOf({ action_id: rejected.id }, {}, { reason: 'too much' }))
      await clock.leap(60_000)
      await clock.advance(pollMs)
    },
  },
  {
    name: 'own-carried-out',
    scripts: [],
    play: async (world) => {
      const execute = { type: 'http', url: 'http://127.0.0.1:9/', headers: { authorization: 'of the vendor' } } as const
      const run = await ownAction(world, { execute })
      await world.useCases['actions.approve'](callOf({ action_id: run.id }, {}, { arguments: { amount: 2 } }))
      await calm()
      const given = await ownAction(world)
      const tool_results = [{ action_id: given.id, output: 'wired' }]
      await world.useCases['actions.approve'](callOf({ action_id: given.id }, {}, { tool_results }))
      const [succeeded, failed] = [await ownAction(world), await ownAction(world)]
      for (const { id } of [succeeded, failed]) {
        await world.useCases['actions.approve'](callOf({ action_id: id }, {}, {}))
      }
      await completed(world, succeeded.id, { output: 'wired' })
      await completed(world, failed.id, { error: { code: 'no_funds', message: 'The account is empty.' } })
    },
  },
  {
    name: 'versions',
    scripts: [],
    play: async (world, clock) => {
      const rejected = { type: 'review', decision: 'reject', reason: 'Too long.' }
      const approved = { type: 'review', decision: 'approve', reason: null }
      const test = { type: 'tested', evidence: '{"passed":true}' }
      const [submit, deprecate, retire] = [{ type: 'submit' }, { type: 'deprecate' }, { type: 'retire' }]
      await versionAfter(world, test, submit, rejected, submit, approved, deprecate, retire)
      await versionAfter(world, { type: 'publish' }, retire)
      await versionAfter(world, { type: 'publish' }, { type: 'delete' })
      await clock.advance(pollMs)
    },
  },
  {
    name: 'deliveries',
    scripts: [],
    endpoint: () => endpoint.answers(),
    play: async (world, clock) => {
      await scriptedWebhook(world.storage.records, clock, 'whk_a')
      endpoint.answers = async () => 204
      await delivery(world)
      endpoint.answers = async () => 503
      const failing = await delivery(world)
      for (const delay of retryDelaysMs) await clock.advance(pollMs).then(() => clock.leap(delay))
      endpoint.answers = () => new Promise(() => {})
      const removed = await delivery(world)
      await world.host.deliver(removed, { event: { type: 'delete' }, cause: newId('req') })
      await delivery(world, 'whk_unknown')
      await clock.leap(deliveryRetentionMs)
      await clock.advance(pollMs)
      if (await world.storage.commits.head(failing)) throw new Error('the delivery is still there')
    },
  },
  {
    name: 'erasures',
    scripts: [],
    play: async (world, clock) => {
      await erasure(world, { user: 'ada' })
      await erasure(world, {})
      await erasure(world, { project_id: 'prj_z', tenant_id: null, external_id: null })
      await clock.advance(confirmationMs + pollMs)
      await clock.advance(pollMs)
    },
  },
  ...runScenarios,
  ...responseScenarios,
  ...batchScenarios,
  ...knowledgeScenarios,
  ...mcpScenarios,
  ...connectionScenarios,
  ...inputScenarios,
  ...progressScenarios,
  ...memoryScenarios,
  ...browserScenarios,
  ...webScenarios,
]
