import type { Logger } from 'pino'
import type { RunCeilings } from '../../specs/run-limits.ts'
import type { Scope } from '../../specs/scope.ts'
import { RequestLedger } from '../gateway/ledger/request-ledger.ts'
import { openCore } from '../gateway/open-core.ts'
import { type Gateway, openGateway } from '../gateway/open-gateway.ts'
import { RedactionPolicies } from '../gateway/redaction/redaction-policies.ts'
import type { ManagedProviders } from '../gateway/routing/managed-providers.ts'
import { effective } from '../gateway/routing/model-registry.ts'
import { openRouting, type Routing } from '../gateway/routing/open-routing.ts'
import { projectModelUseCases } from '../gateway/routing/project-model-use-cases.ts'
import type { TurnModels } from '../gateway/turns/turn-models.ts'
import { catalogueSink } from '../machines/agent-version/agent-version.ts'
import { definitions } from '../machines/index.ts'
import { queueSink } from '../machines/run/run-actions.ts'
import { sessionDefinition } from '../machines/session/session-definition.ts'
import type { SsrfGuard } from '../outgoing/ssrf-guard.ts'
import type { RateLimits } from '../storage/cluster-ports.ts'
import { LocalLimits } from '../storage/local-limits.ts'
import type { RecordStore, Storage } from '../storage/ports.ts'
import { accountUseCases } from './accounts/account-use-cases.ts'
import { type Auth, openAuth } from './accounts/open-auth.ts'
import { actorRows } from './actor-rows.ts'
import { agentExists } from './agents/agent-exists.ts'
import { agentResolver } from './agents/agent-resolver.ts'
import { AgentVersions } from './agents/agent-versions.ts'
import { Catalogue } from './agents/catalogue.ts'
import { openAgents } from './agents/open-agents.ts'
import { auditLines } from './audit/audit-log.ts'
import type { UseCases } from './call/use-cases.ts'
import { kinds } from './kinds.ts'
import { actorViewUseCases } from './operators/actor-use-cases.ts'
import { nodeUseCases } from './operators/node-use-cases.ts'
import { openNodes } from './operators/open-nodes.ts'
import { IdempotentRequests } from './records/idempotent.ts'
import { NoticeDelivery } from './records/notice-delivery.ts'
import type { SecretBox } from './records/secret-box.ts'
import { joinQueue } from './runs/join-queue.ts'
import type { RunConcurrency } from './runs/pick-runs.ts'
import { readAsTurn } from './runs/run-conversation.ts'
import { runEffects } from './runs/run-effects.ts'
import { runUseCases } from './runs/run-use-cases.ts'
import { type Clock, pause } from './runtime/clock.ts'
import type { ClusterParts } from './runtime/cluster/cluster-node.ts'
import { eraseActor } from './runtime/erase-actor.ts'
import type { Host } from './runtime/host.ts'
import { RecordSweeper } from './runtime/record-sweeper.ts'
import { type Runtime, startRuntime } from './runtime/runtime.ts'
import { auditSink, type Sinks, webhookSink } from './runtime/sinks.ts'
import { actionUseCases } from './sessions/action-use-cases.ts'
import { sessionApprovalUseCases } from './sessions/approval-use-cases.ts'
import { Conversations, type ReadLog } from './sessions/conversations.ts'
import { serverTools } from './sessions/server-tools.ts'
import { sessionEffects } from './sessions/session-effects.ts'
import { sessionUseCases } from './sessions/session-use-cases.ts'
import { TurnConfigs } from './sessions/turn-config.ts'
import { erasureEffects } from './tenants/erasure.ts'
import { erasureSink, startErasures } from './tenants/erasures.ts'
import { limitSubjects } from './tenants/limit-subjects.ts'
import { Owned } from './tenants/owned.ts'
import { TenantDirectory } from './tenants/tenant-directory.ts'
import { TenantExport } from './tenants/tenant-export.ts'
import { ratePlanUseCases } from './usage/rate-plan-use-cases.ts'
import { usageLedger } from './usage/usage-ledger.ts'
import { usageUseCases } from './usage/usage-use-cases.ts'
import { deliveryUseCases } from './webhooks/delivery-use-cases.ts'
import { webhookNotices } from './webhooks/notify.ts'
import { deliveryEffects, openEndpoints } from './webhooks/open-webhooks.ts'
import { notifyWebhooks } from './webhooks/webhook-deliveries.ts'
import type { WebhookEndpoints } from './webhooks/webhook-endpoints.ts'
import { webhookUseCases } from './webhooks/webhook-use-cases.ts'

/** What the actors stand on; main.ts makes it. */
export interface ActorsParts {
  readonly storage: Storage
  readonly managed: ManagedProviders
  readonly guard: SsrfGuard
  readonly masterKey: Uint8Array
  readonly box: SecretBox
  readonly secureCookies: boolean
  /** The server's address for people; null or absent: none was given. */
  readonly publicOrigin?: string | null
  /** How many runs work at a time, and how far each may go. */
  readonly runs: RunConcurrency & { readonly ceilings?: RunCeilings }
  /** Joins this process to others; alone without it. */
  readonly cluster?: ClusterParts
  /** Shared by all nodes; of this process alone without them. */
  readonly limits?: RateLimits
  readonly clock: Clock
  readonly log: Logger
}

/** Everything that transport is given. */
export interface Actors {
  readonly useCases: UseCases
  readonly auth: Auth
  readonly runtime: Runtime
  readonly idempotent: IdempotentRequests
  readonly sweeper: RecordSweeper
  readonly notices: NoticeDelivery
  readonly tenants: TenantDirectory
  readonly gateway: Gateway
  readonly routing: Routing
}

/** Prepares the store, starts the runtime and makes the use-cases. @throws {StoreUnavailable} */
export const openActors = async (parts: ActorsParts): Promise<Actors> => {
  const { clock, box, guard, limits = new LocalLimits(parts.clock.now) } = parts
  const { ledger, notices } = withRecords(parts)
  const { records } = notices
  const storage = { ...parts.storage, records }
  await records.prepare(kinds)
  const auth = openAuth({ ...parts, records, hasAgent: agentExists({ records, now: clock.now }), now: clock.now })
  const configs = new TurnConfigs(storage.blobs)
  const endpoints = openEndpoints({ records, box: parts.box, clock })
  const tenants = new TenantDirectory({ records, now: clock.now })
  const { redaction, routing, core } = openModels({ ...parts, limits }, records, ledger, auth)
  const models = { routing, turns: core.turns }
  const runtime = await startSessions({ ...parts, storage }, auth, configs, endpoints, tenants, models)
  const { host } = runtime
  const nodes = openNodes(runtime, parts.cluster, clock)
  notices.start({ host, sinks: sinksOf(storage, host, endpoints, clock) })
  const checkTenant = async (project: string, tenant: string): Promise<void> => tenants.admit(project, tenant)
  const agents = openAgents({ host, records, keys: auth.agentKeys, models: modelsOf(models), checkTenant, clock })
  const stored = { records, now: clock.now }
  const gateway = openGateway({ ...parts, core, records, rows: host.rows, limits, redaction })
  const useCases = {
    ...accountUseCases({ ...parts, ...stored, ...read(storage, host, clock), auth, limits, notices, tenants }),
    ...sessionUseCases({
      host,
      records,
      agentConfig: (agent) => agents.configs.of(agent),
      installedAgent: agents.installedAgent,
      ...planning(routing, configs),
      now: clock.now,
    }),
    ...agents.useCases,
    ...sessionApprovalUseCases({ host, now: clock.now }),
    ...actionUseCases({ host, checkTenant, now: clock.now }),
    ...runUseCases({
      ...planning(routing, configs),
      ceilings: parts.runs.ceilings,
      host,
      resolveAgent: agents.resolve,
      checkTenant,
      now: clock.now,
    }),
    ...actorViewUseCases({ host, records, nodes }),
    ...nodeUseCases(nodes),
    ...webhookUseCases({ records, box: parts.box, guard: parts.guard, endpoints, now: clock.now }),
    ...usageUseCases({ host, records, now: clock.now }),
    ...ratePlanUseCases({ records, now: clock.now }),
    ...deliveryUseCases({ host, records, endpoints, now: clock.now }),
    ...projectModelUseCases(routing, { ...stored, box, guard }),
    ...gateway.useCases,
  }
  const sweeper = new RecordSweeper(records, kinds, clock, parts.log)
  sweeper.start()
  const idempotent = new IdempotentRequests({ records, box: parts.box, clock, log: parts.log })
  return { useCases, auth, runtime, idempotent, sweeper, notices, tenants, gateway, routing }
}

/** Who serves which model, what is taken out of a request on its way there, and how both are asked. */
const openModels = (
  { managed, box, guard, cluster, limits, clock }: ActorsParts & { readonly limits: RateLimits },
  records: RecordStore,
  ledger: RequestLedger,
  { projects }: Auth,
) => {
  const redaction = new RedactionPolicies({ records, now: clock.now })
  const fanOut = cluster?.fanOut
  const routing = openRouting({ managed, records, box, fanOut, now: clock.now })
  const { routes } = routing
  const subjects = limitSubjects(records)
  return {
    redaction,
    routing,
    core: openCore({ records, guard, routes, redaction, ledger, limits, projects, subjects, fanOut, clock }),
  }
}

/** What stands between the store and those who read and write records. */
const withRecords = ({ storage, clock, log }: Pick<ActorsParts, 'storage' | 'clock' | 'log'>) => {
  const { records, name } = storage
  const ledger = new RequestLedger({ records, syncBlocks: name === 'sqlite', clock, log })
  return { ledger, notices: new NoticeDelivery(ledger.records, kinds, clock, log) }
}

/** What accounts read of actors. */
const read = (storage: Storage, host: Host, { now }: Pick<Clock, 'now'>) => ({
  findSession: (scope: Scope, id: string) => host.find(scope, sessionDefinition, id),
  exports: new TenantExport({ storage, host, kinds, actorRows: Object.values(actorRows), now }),
})

/** Who takes messages that are for no actor, from actors and from records alike. */
const sinksOf = (
  storage: Pick<Storage, 'records'>,
  host: Pick<Host, 'create'>,
  endpoints: WebhookEndpoints,
  { now }: Pick<Clock, 'now'>,
): Sinks => ({
  [auditSink]: auditLines(storage.records),
  [erasureSink]: startErasures(host),
  [catalogueSink]: new Catalogue({ records: storage.records, now }).sink,
  [webhookSink]: webhookNotices(notifyWebhooks({ host, endpoints })),
})

const startSessions = (
  { storage, clock, log, guard, cluster, runs }: ActorsParts,
  auth: Auth,
  configs: TurnConfigs,
  endpoints: WebhookEndpoints,
  tenants: TenantDirectory,
  { routing, turns }: Models,
) =>
  startRuntime({
    ...(cluster !== undefined && { cluster }),
    storage,
    definitions,
    rows: actorRows,
    admits: ({ project, tenant }) => (tenant === null ? undefined : tenants.admit(project, tenant)),
    clock,
    log,
    ledger: usageLedger,
    sinks: (host) => ({
      ...sinksOf(storage, host, endpoints, clock),
      [queueSink]: joinQueue({ host, records: storage.records, clock }),
    }),
    effects: (host) => {
      const readLog: ReadLog = (actor, after) => host.readLog(actor, after)
      const shared = {
        ...planning(routing, configs),
        models: turns,
        clock,
        tools: serverTools({
          guard,
          signingSecret: (project) => auth.projects.signingSecret(project),
          pause: (ms) => pause(clock, ms),
        }),
        storage,
        records: storage.records,
        host,
      }
      return {
        ...sessionEffects({ ...shared, conversations: new Conversations(storage, readLog, clock.now) }),
        ...runEffects({
          ...shared,
          conversations: new Conversations(storage, readAsTurn(readLog), clock.now),
          resolveAgent: resolverOf(storage.records, host, clock),
          concurrency: runs,
          ceilings: runs.ceilings,
        }),
        ...erasureEffects({
          storage,
          clock,
          log,
          owned: new Owned({ storage, host, clock, kinds, actorRows: Object.values(actorRows) }),
        }),
        'agent_version.eraseVersion': eraseActor({ storage, clock }),
        ...deliveryEffects({ storage, clock, endpoints, guard }),
      }
    },
  })

/** Who serves models to turns and runs, and how they are asked. */
interface Models {
  readonly routing: Routing
  readonly turns: TurnModels
}

/** What the versions of agents are held against, and tried with. */
const modelsOf = ({ routing: { routes, registry }, turns }: Models) => ({
  check: (model: string, project: string) => routes.resolve(project, model, 'chat'),
  list: async (project: string) => effective(await registry.rows(project)),
  turns,
})

/** What turns and runs are planned with. */
const planning = ({ routes, managed }: Pick<Routing, 'routes' | 'managed'>, configs: TurnConfigs) => ({
  configs,
  checkModel: (model: string, project: string) => routes.resolve(project, model, 'chat'),
  defaultModel: () => managed.defaultModel,
})

const resolverOf = (records: RecordStore, host: Host, { now }: Pick<Clock, 'now'>) =>
  agentResolver({ records, versions: new AgentVersions({ host, records, now }), now })
