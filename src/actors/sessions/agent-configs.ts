import { isNotFound } from '../call/not-found.ts'
import { RecheckCache } from '../records/caches/recheck-cache.ts'
import type { ResolveAgent, ResolvedConfig } from './turns/resolved-config.ts'
import type { AgentConfig } from './turns/turn-plan.ts'

/** Maximum age of a cached config, in ms: a change of an agent reaches the turns of every node within this time. */
const recheckMs = 1000
const maxCached = 10_000

/** The agent of a session: the agent alone, or a tenant's installation of it. */
export interface SessionAgent {
  readonly project: string
  readonly agentId: string
  readonly installationId: string | null
  /** Tenant of the session; the installation must belong to it. */
  readonly tenant: string | null
}

/** Configurations of agents for the turns of their sessions, cached per node. */
export class AgentConfigs {
  readonly #cache: RecheckCache<AgentConfig>

  constructor({ resolve, now }: { readonly resolve: ResolveAgent; readonly now: () => number }) {
    this.#cache = new RecheckCache({
      load: async (key) => {
        const { project, agentId, installationId, tenant }: SessionAgent = JSON.parse(key)
        const found = await resolve({ project, agentId, installationId, version: null, tenant }).catch(nullWithoutAgent)
        return found === null ? null : underInstallation(found)
      },
      maxAgeMs: recheckMs,
      maxEntries: maxCached,
      now,
    })
  }

  /**
   * Returns the agent's configuration; null for an agent that the project does not have.
   *
   * @throws {ServiceError} whatever `ResolveAgent` throws for an installation; {StoreUnavailable}
   */
  of({ project, agentId, installationId, tenant }: SessionAgent): AgentConfig | null | Promise<AgentConfig | null> {
    const key = JSON.stringify({ project, agentId, installationId, tenant })
    return this.#cache.peek(key) ?? this.#cache.load(key)
  }

  /**
   * Drops this node's cache after a change of an agent, a version or an installation: the next turns read the store.
   */
  readonly changed = (): void => this.#cache.clear()
}

/** Adds the approval policy and the rate plan of the installation to the config of its version. */
const underInstallation = ({ config, approval_policy, rate_plan_id, ...rest }: ResolvedConfig): AgentConfig => ({
  ...config,
  ...(rest.private === true && { private: true }),
  ...(approval_policy !== null && { approval_policy }),
  ...(rate_plan_id !== null && { rate_plan_id }),
})

const nullWithoutAgent = (error: unknown): null => {
  if (isNotFound(error) && error.details.param === 'agent_id') return null
  throw error
}
