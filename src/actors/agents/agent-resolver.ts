import { agentVersionDefinition } from '#machines/agent-version/agent-version-definition.ts'
import { statusOf } from '#machines/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope, tenantScope } from '#storage/index.ts'
import { orNotFound } from '../call/not-found.ts'
import type { AgentPlace, Offer } from '../capability/agent-resources.ts'
import type { Services } from '../capability/services.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { contextOf } from '../runtime/index.ts'
import type { Resident } from '../runtime/internal.ts'
import type { AgentReference, ResolveAgent, ResolvedConfig } from '../sessions/turns/resolved-config.ts'
import { toolName } from '../sessions/turns/turn-config.ts'
import type { AgentVersions } from './agent-versions.ts'
import { overlaid, runnable, subagentsOf } from './effective-config.ts'
import { agentInstallations, agents, type InstallationData, visibilityOf } from './kinds.ts'
import { type Manifest, manifestOf, manifestOfAgent } from './schema.ts'

/** Dependencies of `agentResolver`. */
export interface ResolverParts extends Pick<Services, 'now' | 'records'> {
  readonly versions: AgentVersions
  /** Returns the instructions and tools that resources named in a config add to it. */
  readonly offers: (place: AgentPlace, config: Manifest) => Promise<Offer>
}

interface Chosen {
  readonly id: string | null
  readonly version: string | null
  readonly config: Manifest
}

/** Returns the resolver of agent references. It reads the current rows and versions at each call. */
export const agentResolver = ({ records, versions, offers, now }: ResolverParts): ResolveAgent => {
  const agentTable = new Table(records, agents, now)
  const installationTable = new Table(records, agentInstallations, now)

  const installationOf = async ({ project, tenant, agentId, installationId }: AgentReference) => {
    if (installationId === null) return null
    const scope = tenant === null ? projectScope(project) : tenantScope(project, tenant)
    const row = await installationTable.get(scope, installationId)
    if (row === null || row.data.agent_id !== agentId) throw new ServiceError('not_found', { param: 'installation_id' })
    if (row.data.status !== 'active') throw notRunnable('installation_id', 'The installation is disabled.')
    return row
  }

  return async (reference) => {
    const { project, agentId } = reference
    const row = await agentTable.get(projectScope(project), agentId)
    const agent = orNotFound(row, 'agent_id', 'There is no such agent.')
    const installation = await installationOf(reference)
    const wanted = reference.version ?? installation?.data.version_id ?? null
    const chosen: Chosen =
      wanted === null
        ? { id: null, version: null, config: manifestOfAgent(agent.data.config) }
        : chosenOf(await versions.find(projectScope(project), agentId, wanted), installation)
    const isPrivate = installation === null && visibilityOf(agent.data) === 'private'
    const found = resolved(agentId, chosen, installation)
    const place = {
      project,
      tenant: installation?.tenant ?? reference.tenant,
      agentId,
      installationId: found.installation_id,
    }
    const config = withOffer(found.config, await offers(place, found.source))
    return { ...found, config, ...(isPrivate && { private: true }) }
  }
}

/** @throws {ServiceError} `agent_not_runnable` for a version whose status does not allow it to run. */
const chosenOf = (version: Resident, installation: Row<InstallationData> | null): Chosen => {
  const { snapshot } = version.state
  const status = statusOf(agentVersionDefinition, snapshot)
  const kept = status === 'deprecated' && installation?.data.version_id === version.id
  const { version: text, config } = contextOf(agentVersionDefinition, snapshot)
  if (status !== 'published' && !kept) throw notRunnable('version', `Version ${text} is ${status}.`)
  return { id: version.id, version: text, config: manifestOf(config) }
}

const resolved = (
  agentId: string,
  { id, version, config }: Chosen,
  installation: Row<InstallationData> | null,
): ResolvedConfig & { readonly source: Manifest } => {
  const source = installation === null ? config : overlaid(config, installation.data.overlays)
  return {
    agent_id: agentId,
    agent_version_id: id,
    version,
    installation_id: installation?.id ?? null,
    tenant_id: installation?.tenant ?? null,
    rate_plan_id: installation?.data.rate_plan_id ?? null,
    config: runnable(source),
    source,
    approval_policy: installation?.data.approval_policy ?? null,
    subagents: subagentsOf(source),
  }
}

/**
 * Adds offered instructions and tools to the config. The agent's own tool takes precedence over an offered one of the
 * same name.
 */
const withOffer = (config: ResolvedConfig['config'], { instructions, tools }: Offer): ResolvedConfig['config'] => {
  if (instructions.length + tools.length === 0) return config
  const names = new Set(config.tools.map(toolName))
  return {
    ...config,
    system_prompt: [config.system_prompt, ...instructions].filter(Boolean).join('\n\n') || null,
    tools: [...config.tools, ...tools.filter(({ name }) => !names.has(name))],
  }
}

const notRunnable = (param: string, message: string): ServiceError =>
  new ServiceError('agent_not_runnable', { param, message })
