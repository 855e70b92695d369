import { AgentKeys } from '#actors/accounts/agent-keys.ts'
import { agentReaches } from '#actors/agents/agent-reaches.ts'
import { Catalogue } from '#actors/agents/catalogue.ts'
import { agentVersionRows } from '#actors/agents/kinds.ts'
import { openAgents } from '#actors/agents/open-agents.ts'
import { auditLines } from '#actors/audit/audit-log.ts'
import { auditLog } from '#actors/audit/kinds.ts'
import type { Call } from '#actors/call/call.ts'
import { serviceRefusal } from '#actors/call/service-refusal.ts'
import type { AgentResource } from '#actors/capability/agent-resources.ts'
import { tenants } from '#actors/tenants/kinds.ts'
import { usageLedger } from '#actors/usage/usage-ledger.ts'
import type { ModelError } from '#gateway/call/provider-port.ts'
import { refusalOf as refusalBy } from '#gateway/call/refusal.ts'
import { catalogueSink } from '#machines/agent-version/agent-version.ts'
import { agentVersionDefinition } from '#machines/agent-version/agent-version-definition.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { keysOf } from '#records/sealing/server-keys.ts'
import { Table } from '#records/table.ts'
import { eraseActor } from '#runtime/erasure/erase-actor.ts'
import { newId } from '#runtime/ids.ts'
import { startRuntime } from '#runtime/runtime.ts'
import type { Sinks } from '#runtime/sinks.ts'
import type { JsonObject } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { callOf } from '#test/support/call-of.ts'
import { noted } from '#test/support/called-operations.ts'
import { openNoticedServices, toolHeadersOf } from '#test/support/open-services.ts'
import { type TestModel, turnModelsOf } from '#test/support/test-model.ts'
import { type Script, ScriptedProvider } from '../sessions/harness.ts'

export { callOf, secretOf } from '#test/support/call-of.ts'

/** Options of a test installation with agents. */
export interface AgentWorldOptions {
  readonly scripts?: readonly Script[]
  /** In place of the scripted one. */
  readonly provider?: TestModel
  /** Models that cannot be called. */
  readonly unknown?: (model: string) => ModelError | undefined
  /** Refuses tenants. */
  readonly checkTenant?: (project: string, tenant: string) => Promise<void>
  /** The resources that capabilities offer to agents. */
  readonly resources?: readonly AgentResource[]
}

/** Agents on the real runtime and a store in memory; `heard` is what webhooks would receive. */
export const openAgentWorld = async (options: AgentWorldOptions = {}) => {
  const { storage, records, notices, clock, log } = await openNoticedServices()
  const heard: JsonObject[] = []
  const sinks: Sinks = {
    audit: auditLines(records),
    webhooks: async (_owner, { event }) => void heard.push({ ...event }),
    [catalogueSink]: new Catalogue({ records, now: clock.now }).sink,
  }
  const runtime = await startRuntime({
    storage,
    refuse: serviceRefusal,
    definitions: [agentVersionDefinition],
    rows: { agent_version: agentVersionRows },
    clock,
    log,
    sinks: () => sinks,
    ledger: usageLedger,
    effects: () => ({ 'agent_version.eraseVersion': eraseActor({ storage, clock }) }),
  })
  const { host } = runtime
  notices.start({ host, sinks })
  const scripted = new ScriptedProvider(options.scripts ?? [])
  const keys = new AgentKeys({
    records,
    keys: keysOf({ masterKey: Buffer.alloc(32, 1) }),
    now: clock.now,
    reachOfAgent: agentReaches({ records, now: clock.now }),
  })
  const check = (model: string) => {
    const error = options.unknown?.(model)
    if (error !== undefined) throw refusalBy(error)
  }
  const agents = openAgents({
    host,
    records,
    guard: openSsrfGuard({ allowedPrivateHosts: [] }),
    toolHeaders: toolHeadersOf(records),
    keys,
    models: { check, list: async () => [], turns: turnModelsOf(options.provider ?? scripted, '0.0003') },
    checkTenant: options.checkTenant ?? (async () => {}),
    resources: () => options.resources ?? [],
    connections: () => ({ untestable: async () => 'There is no test connection here.' }),
    clock,
  })
  const tenant = async (project = 'prj_a'): Promise<string> => {
    const id = newId('ten')
    const data = { external_id: id, name: 'Acme', status: 'active', region: null, metadata: {} } as const
    await new Table(records, tenants, clock.now).insert({ id, project, tenant: id, data })
    return id
  }
  const audited = async (): Promise<readonly string[]> => {
    const lines = await new Table(records, auditLog, clock.now).list(projectScope('prj_a'), { limit: 100 })
    return lines.map(({ data }) => data.action).sort()
  }
  const useCases = noted(agents.useCases)
  return { ...agents, useCases, storage, records, host, runtime, notices, heard, keys, scripted, tenant, audited }
}

/** A test installation with agents. */
export type AgentWorld = Awaited<ReturnType<typeof openAgentWorld>>

/** The same with an Idempotency-Key. */
export const keyed = <P, Q, B>(call: Call<P, Q, B>, key: string): Call<P, Q, B> => ({
  ...call,
  idempotency: { cause: key, fingerprint: 'same', seed: newId('req').slice(-26) },
})

/** A new agent. */
export const newAgent = async ({ useCases }: AgentWorld, config: JsonObject = {}): Promise<string> => {
  const body = { name: 'Helper', visibility: 'public' as const, config: { model: 'scripted-1', ...config } }
  return (await useCases['agents.create'](callOf({}, {}, body))).id
}

/** What a test sets of a version; the rest has defaults. */
export interface Draft {
  readonly config?: JsonObject
  readonly requirements?: JsonObject
  readonly visibility?: 'private' | 'unlisted' | 'public'
}

/** A new draft. */
export const draft = ({ useCases }: AgentWorld, agent: string, version: string, given: Draft = {}) =>
  useCases['agent_versions.create'](
    callOf(
      { agent_id: agent },
      {},
      {
        version,
        config: { model: 'scripted-1', system_prompt: `I am ${version}.`, ...given.config },
        requirements: given.requirements ?? {},
        visibility: given.visibility ?? 'private',
      },
    ),
  )

/** Moves a version. */
export const move = (
  { useCases }: AgentWorld,
  verb: 'submit' | 'publish' | 'deprecate' | 'retire',
  agent: string,
  version: string,
) => useCases[`agent_versions.${verb}`](callOf({ agent_id: agent, version }, {}, undefined))

/** A published version. */
export const published = async (world: AgentWorld, agent: string, version: string, given: Draft = {}) => {
  await draft(world, agent, version, given)
  return move(world, 'publish', agent, version)
}

type InstallBody = Parameters<AgentWorld['useCases']['installations.create']>[0]['body']

/** Installs an agent. */
export const install = (
  { useCases }: AgentWorld,
  body: Partial<InstallBody> & Pick<InstallBody, 'tenant_id' | 'agent_id'>,
) => useCases['installations.create'](callOf({}, {}, { overlays: {}, ...body }))

/** The code and param with which a promise is refused. */
export const refusalOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => 'not refused',
    (reason: unknown) => reason,
  )
  if (!(error instanceof Error) || !('code' in error)) return String(error)
  const details = 'details' in error && typeof error.details === 'object' ? error.details : null
  const param = details !== null && 'param' in details ? ` ${String(details.param)}` : ''
  return `${String(error.code)}${param}`
}
