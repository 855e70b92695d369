import type { Metered } from '#gateway/turns/metered.ts'
import { agentVersionDefinition } from '#machines/agent-version/agent-version-definition.ts'
import { statusOf } from '#machines/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Status } from '#specs/statuses.ts'
import { projectScope } from '#storage/index.ts'
import type { Call } from '../call/call.ts'
import { orNotFound } from '../call/not-found.ts'
import { modelLimitOf, requireModels } from '../call/reach.ts'
import type { UseCases, UseCasesOf } from '../call/use-cases.ts'
import type { ConnectionService } from '../capability/connection-service.ts'
import type { Services } from '../capability/services.ts'
import { actorOf } from '../records/audit-note.ts'
import { contextOf, newId } from '../runtime/index.ts'
import { newIdFor, type Resident } from '../runtime/internal.ts'
import { causeOf } from '../sessions/session-use-cases.ts'
import type { ToolHeaders } from '../sessions/tools/tool-headers.ts'
import type { AgentVersions } from './agent-versions.ts'
import { examine, type ManifestParts, requireAll } from './manifest-check.ts'
import { jsonObjectOf, manifestOf } from './schema.ts'
import { requireStillThere } from './still-there.ts'
import { tryDraft, type VersionTestParts } from './version-test.ts'
import { type AgentVersionView, versionRowView, versionView } from './version-view.ts'

export interface AgentVersionParts extends Pick<Services, 'host' | 'now'> {
  readonly versions: AgentVersions
  readonly toolHeaders: Pick<ToolHeaders, 'keepConfig'>
  readonly manifests: ManifestParts
  readonly trials: VersionTestParts
  /** Called on use. */
  readonly connections: () => Pick<ConnectionService, 'untestable'>
  /** Called when the config of a version's installations may have changed. */
  readonly changed: () => void
}

type VersionCall = Call<{ readonly agent_id: string; readonly version: string }, unknown, unknown>

/**
 * Use-cases of agent versions: create, validate, test, submit, review, publish, deprecate, retire (`agent_versions.*`).
 */
export const agentVersionUseCases = (parts: AgentVersionParts): UseCasesOf<'agent_versions'> => ({
  ...drafting(parts),
  ...examining(parts),
  'agent_versions.submit': async (call) => {
    await requireWhole(parts, call, ['draft'])
    return moved(parts, call, { move: { type: 'submit' } })
  },
  'agent_versions.review': async (call) => {
    const { decision, reason = null } = call.body
    if (decision === 'approve') await requireWhole(parts, call, ['in_review'])
    return moved(parts, call, { move: { type: 'review', decision, reason } })
  },
  'agent_versions.publish': async (call) => {
    await requireWhole(parts, call, ['draft', 'in_review'])
    return moved(parts, call, { move: { type: 'publish' } })
  },
  'agent_versions.deprecate': (call) => moved(parts, call, { move: { type: 'deprecate' } }),
  'agent_versions.retire': (call) => moved(parts, call, { move: { type: 'retire' } }),
})

const drafting = ({ host, versions, manifests, toolHeaders }: AgentVersionParts) => {
  const requireAgent = async ({ scope, params }: Call<{ readonly agent_id: string }, unknown, unknown>) => {
    const found = await manifests.agents.get(projectScope(scope.project), params.agent_id)
    return orNotFound(found, 'agent_id', 'There is no such agent.')
  }
  return {
    'agent_versions.list': async (call) => {
      await requireAgent(call)
      return versions.list(call.scope, { agentId: call.params.agent_id, page: call.query }, versionRowView)
    },
    'agent_versions.get': async ({ scope, params }) =>
      versionView(await versions.find(scope, params.agent_id, params.version)),
    'agent_versions.create': async (call) => {
      const agent = await requireAgent(call)
      const { version, requirements, visibility } = call.body
      const place = { owner: { project: agent.project, tenant: null, user: null }, param: 'config.tools' }
      // Configs are often copied from the agent's view, in which header values are masked.
      const config = await toolHeaders.keepConfig(call.body.config, place, agent.data.config)
      const input = {
        version_id: newIdFor(call, 'agv', host.newActorId),
        agent_id: call.params.agent_id,
        version,
        config: JSON.stringify(config),
        requirements: JSON.stringify(requirements),
        visibility,
        created_by: actorOf(call),
      }
      const made = await versions.create(call.scope, input, causeOf(call.idempotency))
      await host.delivered(made.id)
      const undo = () => versions.deleteAll(call.scope, agent.id, input.created_by)
      await requireStillThere(manifests.agents, { project: agent.project, agentId: agent.id, undo })
      return versionView(made)
    },
  } satisfies Partial<UseCases>
}

const examining = (parts: AgentVersionParts) =>
  ({
    'agent_versions.validate': async ({ scope, params }) => {
      const version = await parts.versions.find(scope, params.agent_id, params.version)
      const findings = await findingsOf(parts, scope, version)
      return { valid: findings.every(({ severity }) => severity !== 'error'), findings }
    },
    'agent_versions.test': async (call) => {
      const { scope, params, body } = call
      const version = await parts.versions.find(scope, params.agent_id, params.version)
      const status = statusOf(agentVersionDefinition, version.state.snapshot)
      if (status !== 'draft')
        throw new ServiceError('invalid_transition', {
          message: `The agent version is ${status}; only a draft can be tested.`,
        })
      await requireConnections(parts, version, body.test_connection_ids ?? [])
      requireAll(await findingsOf(parts, scope, version))
      const by = actorOf(call)
      const config = manifestOf(contextOf(agentVersionDefinition, version.state.snapshot).config)
      requireModels(modelLimitOf(call.principal), [config.model, ...(config.models ?? [])])
      const { evidence, metered } = await tryDraft(parts.trials, {
        project: scope.project,
        agentId: params.agent_id,
        config,
        input: body.input,
        by: by.id ?? by.kind,
        keyId: 'keyId' in call.principal ? call.principal.keyId : null,
        idempotencyKey: `${version.id}:test:${call.idempotency?.cause ?? newId('req')}`,
      })
      return moved(parts, call, { move: { type: 'tested', evidence: JSON.stringify(evidence) }, metered })
    },
  }) satisfies Partial<UseCases>

/**
 * Checks everything that a version requires, when its state allows the transition. In another state the machine itself
 * refuses the transition.
 *
 * @throws {ServiceError} `prerequisites_missing`
 */
const requireWhole = async (
  parts: AgentVersionParts,
  { scope, params }: VersionCall,
  from: readonly ReturnType<typeof statusOf<Status<'agent_version'>>>[],
): Promise<void> => {
  const version = await parts.versions.find(scope, params.agent_id, params.version)
  if (from.includes(statusOf(agentVersionDefinition, version.state.snapshot)))
    requireAll(await findingsOf(parts, scope, version))
}

const findingsOf = (
  { manifests }: AgentVersionParts,
  scope: Call<unknown, unknown, unknown>['scope'],
  version: Resident,
) => {
  const { agent_id, config, requirements } = contextOf(agentVersionDefinition, version.state.snapshot)
  return examine(manifests, scope, {
    agentId: agent_id,
    config: manifestOf(config),
    requirements: jsonObjectOf(requirements),
  })
}

/**
 * Checks that the test connections are active, belong to the project, are marked for tests, and have the scopes that
 * the manifest declares.
 */
const requireConnections = async (
  { connections }: AgentVersionParts,
  version: Resident,
  ids: readonly string[],
): Promise<void> => {
  if (ids.length === 0) return
  const { config } = contextOf(agentVersionDefinition, version.state.snapshot)
  const declared = manifestOf(config).connectors ?? []
  const message = await connections().untestable(version.owner.project, ids, declared)
  if (message !== null) throw new ServiceError('prerequisites_missing', { param: 'test_connection_ids', message })
}

type Move =
  | { readonly type: 'submit' | 'publish' | 'deprecate' | 'retire' }
  | { readonly type: 'review'; readonly decision: 'approve' | 'reject'; readonly reason: string | null }
  | { readonly type: 'tested'; readonly evidence: string }

/**
 * Delivers one event to the version. When this resolves, lists and the catalogue reflect the result.
 *
 * @param metered usage of the model call of a test; its usage row is derived from the commit
 * (src/actors/usage/usage-ledger.ts).
 */
const moved = async (
  parts: AgentVersionParts,
  call: VersionCall,
  { move, metered = null }: { readonly move: Move; readonly metered?: Metered | null },
): Promise<AgentVersionView> => {
  const { host, versions, changed, now } = parts
  const { agent_id, version } = call.params
  const found = await versions.find(call.scope, agent_id, version)
  const event = { ...move, by: actorOf(call), at: now() }
  const stored = metered === null ? {} : { stored: { ...event, metered } }
  await host.deliverTo(found, { event, ...stored, cause: causeOf(call.idempotency) })
  await host.delivered(found.id)
  changed()
  return versionView(await versions.find(call.scope, agent_id, version))
}
