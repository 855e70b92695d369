import type { AgentVersionContext } from '#machines/agent-version/agent-version.ts'
import type { approvalPolicy, overlays } from '#specs/agent-config.ts'
import type { Infer } from '#specs/dsl/schema.ts'
import type { BodyOf } from '#specs/index.ts'
import type { Status } from '#specs/statuses.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'

/** An agent's own configuration, as its author wrote it. */
export type AgentConfig = BodyOf<'agents.create'>['config']

export type AgentData = {
  readonly name: string
  readonly description: string | null
  readonly config: AgentConfig
  /** Absent in agents of earlier releases, which every tenant may use: `visibilityOf`. */
  readonly visibility?: Visibility
}

/** Which tenants may use an agent, and which lists of the catalogue include a version. */
export type Visibility = 'private' | 'unlisted' | 'public'

/** The visibility of an agent, also of one that was created before agents had one. */
export const visibilityOf = ({ visibility = 'public' }: Pick<AgentData, 'visibility'>): Visibility => visibility

/** An installation's changes to its version's config, as its caller wrote them. */
export type Overlays = Infer<typeof overlays>

/**
 * Reserves a version name of an agent. Written before the version's actor is created, so that only one version has the
 * name. The row's id is the version's.
 */
export type VersionNameData = { readonly agent_id: string; readonly version: string }

/** One published version in the catalogue. `listings` increases with each change of the version. */
export type Listing = {
  readonly version_id: string
  readonly visibility: Visibility
  readonly published_at: number
  readonly listings: number
  /** False once it accepts no new installations. */
  readonly listed: boolean
}

/**
 * The versions of one agent that can be installed. The row's id is the agent's. `in_…` is `yes` when lists of that
 * visibility include the agent, else null.
 */
export type CatalogueData = {
  /** By version name. */
  readonly versions: { readonly [version: string]: Listing }
  /** Visibility of the agent as of the last change of the row; absent: `public`. */
  readonly agent_visibility?: Visibility
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
  /** Earlier versions of the installation, latest last. */
  readonly before: readonly { readonly version: string; readonly version_id: string }[]
  /**
   * Cause of the last request with an Idempotency-Key that changed the version, so that a repetition changes nothing.
   */
  readonly moved_by: string | null
} & InstallationKeys

/** Combined keys for filters on several fields: one field per combination, since a list is read by a single index. */
export type InstallationKeys = {
  readonly agent_status: string
  readonly tenant_status: string
  readonly tenant_agent: string
  readonly tenant_agent_status: string
}

/** Returns the combined keys of an installation. */
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

export type VersionRowData = AgentVersionContext & { readonly status: Status<'agent_version'> }

/** Agents. They belong to the project and have no tenant. */
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

/** Installations. Each belongs to its tenant. */
export const agentInstallations: TypedKind<InstallationData> = {
  name: 'agent_installations',
  exported: 'installations',
  // written by the author of the agent
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
