import { ServiceError } from '#specs/errors/errors.ts'
import { RecheckCache } from '../records/recheck-cache.ts'
import type { ResolveAgent, ResolvedConfig } from './turns/resolved-config.ts'
import type { AgentConfig } from './turns/turn-plan.ts'

/** A change of an agent reaches the turns of every node within this time, in ms. */
const recheckMs = 1000
const maxCached = 10_000

/** What a session runs on: an agent alone, or what the session's tenant has installed of it. */
export interface SessionAgent {
  readonly project: string
  readonly agentId: string
  readonly installationId: string | null
  /** Of the session; an installation must be of the same. */
  readonly tenant: string | null
}

/** What agents bring to the turns of their sessions. */
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
   * null for an agent that the project does not have.
   *
   * @throws {ServiceError} what `ResolveAgent` refuses an installation with; {StoreUnavailable}
   */
  of({ project, agentId, installationId, tenant }: SessionAgent): AgentConfig | null | Promise<AgentConfig | null> {
    const key = JSON.stringify({ project, agentId, installationId, tenant })
    return this.#cache.peek(key) ?? this.#cache.load(key)
  }

  /** Makes the next turns of this node read them again: an agent, a version or an installation has changed. */
  readonly changed = (): void => this.#cache.clear()
}

/** What an installation adds to its version's config. */
const underInstallation = ({ config, approval_policy, rate_plan_id }: ResolvedConfig): AgentConfig => ({
  ...config,
  ...(approval_policy !== null && { approval_policy }),
  ...(rate_plan_id !== null && { rate_plan_id }),
})

const nullWithoutAgent = (error: unknown): null => {
  if (error instanceof ServiceError && error.code === 'not_found' && error.details.param === 'agent_id') return null
  throw error
}
