import type { JsonObject } from '#storage/index.ts'
import type { AgentConfig } from './turn-plan.ts'

/** Whether a tool call requires a person's approval, runs without it, or never runs. */
type ApprovalMode = 'require' | 'auto' | 'deny'

/** An installation's rule for tool calls: `tools` by name, `default` for all others. */
type ApprovalPolicy = {
  readonly default: ApprovalMode
  readonly tools: { readonly [tool: string]: ApprovalMode }
}

/** An agent that a run may delegate to. `version` null: the delegation chooses the version. */
export type Subagent = {
  readonly agent_id: string
  readonly version: string | null
  /** Shown to the model that chooses among the subagents. */
  readonly description: string | null
}

/** A reference to an agent to run: the agent alone, one of its versions, or a tenant's installation of it. */
export interface AgentReference {
  readonly project: string
  readonly agentId: string
  /** Null: no installation, so no overlays and no policy. */
  readonly installationId: string | null
  /**
   * A version's name or id (`agv_…`); null: the installation's version, or without an installation the agent's own
   * config.
   */
  readonly version: string | null
  /** The tenant that the installation must belong to; null accepts any tenant of the project. */
  readonly tenant: string | null
}

/**
 * Everything that a run or a turn takes from its agent. Plain data, stored with the run, so that changes of the agent
 * do not affect a run in progress.
 */
export type ResolvedConfig = {
  readonly agent_id: string
  /** `agv_…`; null for the agent's own config. */
  readonly agent_version_id: string | null
  readonly version: string | null
  readonly installation_id: string | null
  /** Tenant of the installation; null without one. */
  readonly tenant_id: string | null
  readonly rate_plan_id: string | null
  /** Whether the agent is private and this is not an installation of it, so that users of tenants may not use it. */
  readonly private?: boolean
  /** The version's config with the installation's overlays applied, as sessions and runs use it. */
  readonly config: AgentConfig
  /** The same config as its author wrote it, merged: for fields that `config` does not have (`limits` …). */
  readonly source: JsonObject
  /** Null: no policy, so the tools' own settings apply. */
  readonly approval_policy: ApprovalPolicy | null
  readonly subagents: readonly Subagent[]
}

/**
 * Resolves an agent reference to the config that it runs with at this moment.
 *
 * @throws {ServiceError} `not_found` (param `agent_id`, `installation_id` or `version`) for what the project or tenant
 * does not have; `agent_not_runnable` for a version that is not published (or, in an installation, deprecated), and for
 * an installation that is disabled; {StoreUnavailable}.
 */
export type ResolveAgent = (reference: AgentReference) => Promise<ResolvedConfig>
