import type { Logger } from 'pino'
import { auditLines } from '#actors/audit/audit-log.ts'
import { browserJobRows } from '#actors/browser/kinds.ts'
import { serviceRefusal } from '#actors/call/service-refusal.ts'
import { definitions, kinds, ledger } from '#actors/capabilities.ts'
import type { ToolOutcome } from '#actors/capability/agent-resources.ts'
import { connectionWaits } from '#actors/connections/use/connection-waits.ts'
import { sourceRows } from '#actors/knowledge/kinds.ts'
import { serverRows } from '#actors/mcp/kinds.ts'
import { extractByRules } from '#actors/memory/extract-by-rules.ts'
import { memoryEffects } from '#actors/memory/writes/memory-effects.ts'
import { joinQueue } from '#actors/runs/join-queue.ts'
import { runRows } from '#actors/runs/kinds.ts'
import type { RunConcurrency } from '#actors/runs/pick-runs.ts'
import { readAsTurn } from '#actors/runs/run-conversation.ts'
import { runEffects } from '#actors/runs/run-effects.ts'
import { runUseCases } from '#actors/runs/run-use-cases.ts'
import { actionUseCases } from '#actors/sessions/action-use-cases.ts'
import { sessionApprovalUseCases } from '#actors/sessions/approval-use-cases.ts'
import { Conversations, type ReadLog } from '#actors/sessions/conversations.ts'
import { TurnMedia, type TurnMediaParts } from '#actors/sessions/input/turn-media.ts'
import { UnclaimedImages } from '#actors/sessions/input/unclaimed-images.ts'
import { actionRows, sessionRows } from '#actors/sessions/kinds.ts'
import { actionReviewUseCases } from '#actors/sessions/reviews/action-reviews.ts'
import { sessionEffects } from '#actors/sessions/session-effects.ts'
import { sessionUseCases } from '#actors/sessions/session-use-cases.ts'
import type { ToolCall } from '#actors/sessions/tools/tool-runner.ts'
import type { ResolveAgent, ResolvedConfig } from '#actors/sessions/turns/resolved-config.ts'
import { TurnConfigs } from '#actors/sessions/turns/turn-config.ts'
import { type AgentConfig, noAgent } from '#actors/sessions/turns/turn-plan.ts'
import { erasureEffects } from '#actors/tenants/erasure.ts'
import { type OwnedParts, OwnerEraser } from '#actors/tenants/owner-eraser.ts'
import { ProjectEraser } from '#actors/tenants/project-eraser.ts'
import { deliveryRows } from '#actors/webhooks/kinds.ts'
import { webhookNotices } from '#actors/webhooks/notify.ts'
import { notifyWebhooks } from '#actors/webhooks/webhook-deliveries.ts'
import { type ResponseEffectParts, responseEffects } from '#gateway/apis/responses/background/response-effects.ts'
import { type ModelAnswer, ModelError, type ModelRequest } from '#gateway/call/provider-port.ts'
import { usualImages } from '#gateway/providers/provider-format.ts'
import type { TurnModels } from '#gateway/turns/turn-models.ts'
import { connectionWaitSink } from '#machines/action/action.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import type { MachineDefinition } from '#machines/definition.ts'
import { queueSink } from '#machines/run/run-actions.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { type Clock, systemClock } from '#runtime/clock.ts'
import type { ClusterParts } from '#runtime/cluster/cluster-node.ts'
import type { EffectCatalog } from '#runtime/effects/effects.ts'
import { eraseActor } from '#runtime/erasure/erase-actor.ts'
import { Compaction } from '#runtime/log/compaction.ts'
import { UpkeepSwitch } from '#runtime/log/upkeep-switch.ts'
import type { EventStream } from '#runtime/messages/event-stream.ts'
import { type Runtime, startRuntime } from '#runtime/runtime.ts'
import { auditSink, webhookSink } from '#runtime/sinks.ts'
import { LocalAnswers } from '#storage/local-answers.ts'
import type { JsonObject, LogEvent, Storage } from '#storage/ports.ts'
import { scriptedBatches } from '#test/gateway/batches/scripted-batches.ts'
import { callOf } from '#test/support/call-of.ts'
import { noted } from '#test/support/called-operations.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { noRemoteTools, openServices, toolHeadersOf } from '#test/support/open-services.ts'
import { ScriptedMemory, scriptedMemorySink } from '#test/support/scripted-memory.ts'
import { allMessages, type TestModel, turnModelsOf } from '#test/support/test-model.ts'
import { type ScriptedVisit, scriptedBrowser } from '../browser/scripted-browser.ts'
import { type ScriptedConnections, scriptedConnections } from '../connections/scripted-connections.ts'
import { type ScriptedDocuments, scriptedSources } from '../knowledge/scripted-sources.ts'
import { type ScriptedServers, scriptedServers } from '../mcp/scripted-servers.ts'
import { plainMemory } from '../memory/scripted-memory.ts'
import { scriptedCrawls } from '../web/scripted-crawls.ts'
import { type Answering, scriptedDeliveries, scriptedEndpoints } from '../webhooks/scripted-endpoint.ts'

export { callOf } from '#test/support/call-of.ts'

/** What a scripted model says: parts of text and of reasoning, then calls. A part may be a promise to wait for. */
export interface Script {
  readonly text?: readonly (string | { readonly reasons: string } | Promise<void>)[]
  readonly calls?: readonly { readonly name: string; readonly arguments: string; readonly opaque?: string }[]
  readonly fails?: ModelError
}

/** A provider that plays scripts in order and records its requests. */
export class ScriptedProvider implements TestModel {
  readonly id = 'scripted'
  readonly requests: ModelRequest[] = []
  readonly #scripts: Script[]

  constructor(scripts: readonly Script[]) {
    this.#scripts = [...scripts]
  }

  async stream(
    request: ModelRequest,
    onDelta: (text: string) => void,
    signal: AbortSignal,
    _caller?: unknown,
    onReasoning: (text: string) => void = () => {},
  ): Promise<ModelAnswer> {
    this.requests.push({ ...request, messages: [...allMessages(request)] })
    const script = this.#scripts.shift() ?? { text: ['nothing more'] }
    let text = ''
    for (const part of script.text ?? []) {
      if (part instanceof Promise) await Promise.race([part, aborted(signal)])
      if (signal.aborted) throw new ModelError('cancelled', 'The call was cancelled.')
      if (part instanceof Promise) continue
      if (typeof part !== 'string') onReasoning(part.reasons)
      else {
        text += part
        onDelta(part)
      }
    }
    if (script.fails !== undefined) throw script.fails
    return {
      model: request.model,
      text,
      toolCalls: (script.calls ?? []).map((call, index) => ({ ...call, callId: `call_${index}` })),
      usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 0, reasoningTokens: 0 },
      finishReason: script.calls ? 'tool_calls' : 'stop',
    }
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

/** Options of a test installation. */
export interface WorldOptions {
  /** In place of the machines of this release. */
  readonly definitions?: readonly MachineDefinition[]
  readonly scripts?: readonly Script[]
  /** Answers in place of the scripts. */
  readonly model?: TestModel
  /** Calls models in place of `model`. */
  readonly turns?: TurnModels
  readonly storage?: Storage
  readonly clock?: Clock
  readonly runTool?: (call: ToolCall) => Promise<ToolOutcome>
  readonly memory?: ScriptedMemory
  /** How background responses are made. */
  readonly response?: ResponseEffectParts['make']
  /** What the endpoints of webhooks answer. */
  readonly endpoint?: Answering
  /** How documents are read and embedded; as text without an embedder when absent. */
  readonly documents?: ScriptedDocuments
  /** What browsers do; they show a page of one line when absent. */
  readonly visit?: ScriptedVisit
  /** What remote tool servers have; no tools when absent. */
  readonly servers?: ScriptedServers
  /** What providers of connections answer; as requested when absent. */
  readonly connections?: ScriptedConnections
  /** Notifies the webhooks of the store of events; none are notified when absent. */
  readonly notifiesWebhooks?: boolean
  /** The configuration of agents; every agent runs without tools when absent. */
  readonly agents?: ResolveAgent
  /** The configuration of the agent of sessions; sessions have no agent when absent. */
  readonly sessionAgent?: AgentConfig
  readonly concurrency?: RunConcurrency
  /** The context window of every model in tokens; unknown when absent. */
  readonly window?: number
  /** Joins the installation to other nodes. */
  readonly cluster?: ClusterParts
  /** Streams are merged this many ms after they have ended; never when absent. */
  readonly mergesAfterMs?: number
  readonly streamCommitMs?: number
  /** Files that turns name; none when absent. */
  readonly files?: TurnMediaParts['files']
  /** Most bytes of an image for a model. Default: the usual. */
  readonly maxImageBytes?: (model: string) => number
  /** Whether every process knows images in turns. Default: true. */
  readonly isUpgraded?: boolean
}

/** The configuration of an agent without tools, with the changes of a test. */
export const agentConfigOf = (agent_id: string, more: Partial<ResolvedConfig> = {}): ResolvedConfig => ({
  agent_id,
  agent_version_id: null,
  version: null,
  installation_id: null,
  tenant_id: null,
  rate_plan_id: null,
  config: noAgent,
  source: {},
  approval_policy: null,
  subagents: [],
  ...more,
})

const compactionOf = (
  { mergesAfterMs }: WorldOptions,
  {
    storage: { records, commits },
    clock,
    log,
  }: { readonly storage: Storage; readonly clock: Clock; readonly log: Logger },
): Compaction | null => {
  if (mergesAfterMs === undefined) return null
  const upkeep = new UpkeepSwitch({ records, clock })
  return new Compaction({ records, commits, upkeep, clock, log, quietMs: mergesAfterMs })
}

/** Every effect of a connection fails. */
const noConnections: EffectCatalog = Object.fromEntries(
  Object.entries(connectionDefinition.effects).map(([name, policy]) => [
    `connection.${name}`,
    { policy, run: () => Promise.reject(new Error('no connections here')) },
  ]),
)

/** The real runtime and use-cases on a store in memory, with a scripted model. */
export const openWorld = async (options: WorldOptions = {}) => {
  const { storage = openMemoryStorage(), clock = systemClock } = options
  const { log } = await openServices({ storage, clock })
  const provider = new ScriptedProvider(options.scripts ?? [])
  const memory = options.memory ?? new ScriptedMemory()
  const configs = new TurnConfigs(storage.blobs)
  const media = turnMediaOf(storage, options)
  const planning = { configs, media, checkModel: () => {}, defaultModel: () => 'scripted-1' }
  const resolveAgent: ResolveAgent = options.agents ?? (async ({ agentId }) => agentConfigOf(agentId))
  const compaction = compactionOf(options, { storage, clock, log })
  const runtime: Runtime = await startRuntime({
    storage,
    ...(compaction !== null && { streamEnded: (ended) => compaction.note(ended) }),
    refuse: serviceRefusal,
    definitions: options.definitions ?? definitions,
    rows: {
      session: sessionRows,
      action: actionRows,
      run: runRows,
      delivery: deliveryRows,
      browser_job: browserJobRows,
      mcp_server: serverRows,
      knowledge_source: sourceRows,
    },
    clock,
    log,
    ledger,
    ...(options.streamCommitMs !== undefined && { streamCommitMs: options.streamCommitMs }),
    ...(options.cluster !== undefined && { cluster: options.cluster }),
    sinks: (host) => ({
      [auditSink]: auditLines(storage.records),
      [scriptedMemorySink]: (owner, message) => memory.take(owner, message),
      [connectionWaitSink]: connectionWaits(host),
      [queueSink]: joinQueue({ host, records: storage.records, clock }),
      ...(options.notifiesWebhooks && {
        [webhookSink]: webhookNotices(notifyWebhooks({ host, endpoints: scriptedEndpoints(storage.records, clock) })),
      }),
    }),
    effects: (host) => {
      const readLog: ReadLog = (actor, after) => host.readLog(actor, after)
      const shared = {
        ...planning,
        models: options.turns ?? turnModelsOf(options.model ?? provider),
        clock,
        windowOf: async () => ({ context: options.window ?? 0, longestAnswer: 0 }),
        memory: () => memory,
        tools: { run: options.runTool ?? (async () => ({ ok: true, output: 'done' })) },
        storage,
        records: storage.records,
        host,
      }
      return {
        ...scriptedDeliveries({ storage, clock, answers: options.endpoint ?? (async () => 204) }),
        ...sessionEffects({ ...shared, conversations: new Conversations(storage, readLog, clock.now) }),
        ...runEffects({
          ...shared,
          conversations: new Conversations(storage, readAsTurn(readLog), clock.now),
          resolveAgent,
          concurrency: options.concurrency ?? { perProject: 100, perTenant: 20 },
        }),
        ...scriptedSources({ storage, clock, ...options.documents }),
        ...noConnections,
        ...scriptedCrawls({ storage, clock }),
        ...scriptedBrowser({ storage, host, clock, log, visit: options.visit }),
        ...scriptedServers({ storage, clock }, options.servers),
        ...scriptedConnections({ storage, clock, ...options.connections }),
        'agent_version.eraseVersion': eraseActor({ storage, clock }),
        ...responseEffects({ storage, clock, make: options.response ?? answered }),
        ...scriptedBatches({ storage, clock }),
        ...memoryEffects({
          ...{ ...shared, ...plainMemory({ ...shared, log }) },
          ...{ defaultModel: () => null, byRules: extractByRules(null) },
        }),
        ...erasureEffects({ storage, clock, log, ...removing({ storage, host, clock, kinds, actorRows: [] }) }),
      }
    },
  })
  const { host } = runtime
  compaction?.start(host.ownership)
  const parts = {
    host,
    records: storage.records,
    toolHeaders: toolHeadersOf(storage.records),
    remoteTools: noRemoteTools,
    ...planning,
    agentConfig: async () => options.sessionAgent ?? null,
    installed: async () => null,
    installationFor: async () => null,
    checkTenant: async () => {},
    now: clock.now,
  }
  const checkTenant = async () => {}
  const useCases = noted({
    ...sessionUseCases(parts),
    ...sessionApprovalUseCases(parts),
    ...actionUseCases(parts),
    ...actionReviewUseCases({ ...parts, isMember: async (_, id) => id.startsWith('usr_') }),
    ...runUseCases({
      ...{ ...planning, host, records: storage.records, resolveAgent, checkTenant, now: clock.now },
      readLog: (actor, after) => host.readLog(actor, after),
    }),
  })
  return { storage, clock, provider, runtime, host, useCases }
}

export type World = Awaited<ReturnType<typeof openWorld>>

/** All events of a stream until it ends. */
export const collect = (stream: EventStream): Promise<readonly LogEvent[]> =>
  new Promise((resolve) => {
    const events: LogEvent[] = []
    stream.start({
      push: (more) => {
        events.push(...more)
        return true
      },
      end: () => resolve(events),
    })
  })

/** Creates a session in project `prj_a`. */
export const newSession = async (world: World, metadata: JsonObject = {}): Promise<string> =>
  (await world.useCases['sessions.create'](callOf({}, {}, { metadata }))).id

type TurnBody = Parameters<World['useCases']['sessions.turns']>[0]['body']

/** Runs a turn and collects its stream. */
export const turn = async (world: World, session: string, body: TurnBody): Promise<readonly LogEvent[]> => {
  const { stream } = await world.useCases['sessions.turns'](callOf({ session_id: session }, {}, body))
  return collect(stream)
}

/** `event_type`s in order. */
export const typesOf = (events: readonly LogEvent[]): readonly string[] => events.map((event) => event.event_type)

/** Images of turns, at any public address. */
export const turnMediaOf = (
  storage: Storage,
  {
    files = () => ({ find: async () => null }),
    maxImageBytes = () => usualImages.maxBytes,
    clock = systemClock,
    isUpgraded = true,
  }: WorldOptions = {},
) =>
  new TurnMedia({
    ...{ blobs: storage.blobs, files, isKnown: () => isUpgraded, maxBytes: async (_, model) => maxImageBytes(model) },
    unclaimed: new UnclaimedImages(storage, clock.now),
    remote: { guard: openSsrfGuard({ allowedPrivateHosts: [] }).content },
  })

const removing = (parts: OwnedParts) => ({
  dropped: async () => {},
  answers: new LocalAnswers({ steady: () => 0 }),
  owned: new OwnerEraser(parts),
  projects: new ProjectEraser(parts),
})

const answered: ResponseEffectParts['make'] = async ({ document }) => ({ ...document, status: 'completed' })
