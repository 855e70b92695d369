import type { JsonObject } from '#storage/ports.ts'
import type { AgentConfig } from './turn-plan.ts'

/** What a tool call needs before it runs: a person, nothing, or it never runs. */
export type ApprovalMode = 'require' | 'auto' | 'deny'

/** An installation's rule for tool calls: `tools` by name, `default` for all others. */
export type ApprovalPolicy = {
  readonly default: ApprovalMode
  readonly tools: { readonly [tool: string]: ApprovalMode }
}

/** An agent that a run may delegate to. `version` null: whatever version the delegation names. */
export type Subagent = {
  readonly agent_id: string
  readonly version: string | null
  /** For the model that chooses among them. */
  readonly description: string | null
}

/** What is to be run: an agent alone, one of its versions, or what a tenant has installed of it. */
export interface AgentReference {
  readonly project: string
  readonly agentId: string
  /** Null: no installation, so no overlays and no policy. */
  readonly installationId: string | null
  /** A version's text or its id (`agv_…`); null: the installation's version, without an installation the agent's own config. */
  readonly version: string | null
  /** The installation must be of this tenant; null when any tenant of the project will do. */
  readonly tenant: string | null
}

/** Everything that a run or a turn takes from its agent. Plain data: kept with the run, so that nothing changes it in flight. */
export type ResolvedConfig = {
  readonly agent_id: string
  /** `agv_…`; null when the agent's own config is run. */
  readonly agent_version_id: string | null
  readonly version: string | null
  readonly installation_id: string | null
  /** Of the installation; null without one. */
  readonly tenant_id: string | null
  readonly rate_plan_id: string | null
  /** The version's config under the installation's overlays, as sessions and runs use it. */
  readonly config: AgentConfig
  /** The same as its author wrote it, merged: for fields that `config` does not have (`limits` …). */
  readonly source: JsonObject
  /** Null: no policy, the tools' own settings count. */
  readonly approval_policy: ApprovalPolicy | null
  readonly subagents: readonly Subagent[]
}

/**
 * Resolves an agent to what it runs on now.
 *
 * @throws {ServiceError} `not_found` (param `agent_id`, `installation_id` or `version`) for what the project or tenant
 * does not have; `agent_not_runnable` for a version that is not published (or, in an installation, deprecated), and for
 * an installation that is disabled; {StoreUnavailable}.
 */
export type ResolveAgent = (reference: AgentReference) => Promise<ResolvedConfig>
