import type { AgentVersionContext } from '#machines/agent-version/agent-version.ts'
import type { approvalPolicy, overlays } from '#specs/agent-config.ts'
import type { Infer } from '#specs/dsl/schema.ts'
import type { BodyOf } from '#specs/index.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'

/** An agent's own configuration, as its author wrote it. */
export type AgentConfig = BodyOf<'agents.create'>['config']

export type AgentData = { readonly name: string; readonly description: string | null; readonly config: AgentConfig }

/** What an installation changes of its version's config, as its caller wrote it. */
export type Overlays = Infer<typeof overlays>

/** Which version of an agent has a text: taken before the version's actor is made, so that of two there is one. The row's id is the version's. */
export type VersionNameData = { readonly agent_id: string; readonly version: string }

/** One published version, as the catalogue knows it. `listings` rises with every change of the version. */
export type Listing = {
  readonly version_id: string
  readonly visibility: 'private' | 'unlisted' | 'public'
  readonly published_at: number
  readonly listings: number
  /** False once it takes no new installations. */
  readonly listed: boolean
}

/**
 * What can be installed of one agent; the row's id is the agent's. `in_…`: that a list of the visibility shows the agent,
 * `yes` or null.
 */
export type CatalogueData = {
  /** By version text. */
  readonly versions: { readonly [version: string]: Listing }
  readonly in_default: 'yes' | null
  readonly in_public: 'yes' | null
  readonly in_unlisted: 'yes' | null
  readonly in_private: 'yes' | null
}

export type InstallationData = {
  readonly agent_id: string
  readonly version: string
  readonly version_id: string
  readonly status: 'active' | 'disabled'
  readonly overlays: Overlays
  readonly approval_policy: Infer<typeof approvalPolicy> | null
  readonly rate_plan_id: string | null
  /** Versions that it had before, the latest last. */
  readonly before: readonly { readonly version: string; readonly version_id: string }[]
  /** The request with an Idempotency-Key that changed the version last, so that it does not do so twice. */
  readonly moved_by: string | null
} & InstallationKeys

/** What lists by more than one field filter on: one index for each, since a list is read by one index only. */
export type InstallationKeys = {
  readonly agent_status: string
  readonly tenant_status: string
  readonly tenant_agent: string
  readonly tenant_agent_status: string
}

/** The fields by which lists find an installation. */
export const installationKeys = (
  tenant: string,
  agent: string,
  status: InstallationData['status'],
): InstallationKeys => ({
  agent_status: `${agent} ${status}`,
  tenant_status: `${tenant} ${status}`,
  tenant_agent: `${tenant} ${agent}`,
  tenant_agent_status: `${tenant} ${agent} ${status}`,
})

/** The states that a version shows. */
export type VersionStatus = 'draft' | 'in_review' | 'published' | 'deprecated' | 'retired'

/** What `agentVersionDefinition.row` gives. */
export type VersionRowData = AgentVersionContext & { readonly status: VersionStatus }

/** Agents belong to the project and have no tenant. */
export const agents: TypedKind<AgentData> = { name: 'agents', outbox: true }

/** List rows of versions. */
export const agentVersionRows: TypedKind<VersionRowData> = {
  name: 'agent_versions',
  filters: ['agent_id', 'agent_status'],
}

export const agentVersionNames: TypedKind<VersionNameData> = {
  name: 'agent_version_names',
  unique: [{ fields: ['agent_id', 'version'] }],
  filters: ['agent_id'],
}

export const agentCatalogue: TypedKind<CatalogueData> = {
  name: 'agent_catalog',
  filters: ['in_default', 'in_public', 'in_unlisted', 'in_private'],
}

/** An installation is its tenant's. */
export const agentInstallations: TypedKind<InstallationData> = {
  name: 'agent_installations',
  exported: 'installations',
  // the agent's author wrote them
  unexported: ['overlays'],
  filters: ['agent_id', 'status', 'agent_status', 'tenant_status', 'tenant_agent', 'tenant_agent_status'],
  outbox: true,
}

/** All kinds of this folder, for `RecordStore.prepare`. */
export const agentKinds: readonly AnyKind[] = [
  agents,
  agentVersionRows,
  agentVersionNames,
  agentCatalogue,
  agentInstallations,
]
