import type { Principal } from '#actors/call/call.ts'
import { RecheckCache } from '#records/recheck-cache.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** Returns an agent's config; null for an agent that the project does not have. @throws {StoreUnavailable} */
export type ConfigOf = (project: string, agentId: string) => Promise<{ readonly model: string } | null>

/** The models that a request selects. */
interface ModelChoice {
  readonly model?: string | null | undefined
  readonly models?: readonly string[] | null | undefined
}

type ChatCall<Body> = { readonly principal: Principal; readonly body: Body }

/** Maximum delay in ms until a change of an agent applies to its public keys. */
const maxAgeMs = 1000

/**
 * The models that the public keys of an agent may use: those of the agent's config. Every visitor of a page can read
 * the key, and could otherwise use it for any model (specs/decisions/0136-public-keys.md).
 */
export class AgentModels {
  readonly #cache: RecheckCache<ReadonlySet<string>>

  constructor({ configOf, now }: { readonly configOf: ConfigOf; readonly now: () => number }) {
    this.#cache = new RecheckCache({
      load: async (key) => {
        const [project = '', agent = ''] = key.split(' ')
        const config = await configOf(project, agent)
        return config === null ? null : new Set([config.model, ...fallbacksOf(config)])
      },
      maxAgeMs,
      maxEntries: 10_000,
      now,
    })
  }

  /** Returns the models of a public key; null for a credential that may use any. @throws {StoreUnavailable} */
  async of(principal: Principal): Promise<ReadonlySet<string> | null> {
    if (!isPublicKey(principal)) return null
    const key = `${principal.project} ${principal.agentId}`
    return this.#cache.peek(key) ?? (await this.#cache.load(key)) ?? new Set()
  }

  /**
   * Wraps a use-case so that a public key can select only the models of its agent. Other credentials are not delayed.
   */
  guarded<Body extends ModelChoice, Called extends ChatCall<Body>, Answer>(
    useCase: (call: Called) => Promise<Answer>,
  ): (call: Called) => Promise<Answer> {
    return async (call) => {
      if (isPublicKey(call.principal)) checkChoice(call.body, (await this.of(call.principal)) ?? new Set())
      return useCase(call)
    }
  }
}

const isPublicKey = (principal: Principal): principal is Principal & { readonly kind: 'agent_key' } =>
  principal.kind === 'agent_key' && principal.keyType === 'public'

/** @throws {ServiceError} `secret_key_required` with the path of the model. */
const checkChoice = ({ model, models }: ModelChoice, own: ReadonlySet<string>): void => {
  if (!own.has(model ?? '')) throw refused('model')
  const at = (models ?? []).findIndex((each) => !own.has(each))
  if (at >= 0) throw refused(`models[${at}]`)
}

const refused = (param: string): ServiceError =>
  new ServiceError('secret_key_required', { param, message: 'A public key can use only the models of its agent.' })

const fallbacksOf = (config: object): readonly string[] =>
  'models' in config && Array.isArray(config.models)
    ? config.models.filter((each): each is string => typeof each === 'string')
    : []
