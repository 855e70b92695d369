import type { Principal } from '#actors/call/call.ts'
import { RecheckCache } from '#records/recheck-cache.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** An agent's own config; null for an agent that the project does not have. @throws {StoreUnavailable} */
export type ConfigOf = (project: string, agentId: string) => Promise<{ readonly model: string } | null>

/** What a request says about models. */
interface ModelChoice {
  readonly model?: string | null | undefined
  readonly models?: readonly string[] | null | undefined
}

type ChatCall<Body> = { readonly principal: Principal; readonly body: Body }

/** A change of an agent reaches its public keys within this time. */
const maxAgeMs = 1000

/**
 * The models that the public keys of an agent may use: those of the agent's own config. Every visitor of a page has the
 * key, and could buy any other model by it (specs/decisions/0136-public-keys.md).
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

  /** The models of a public key; null for a credential that takes any. @throws {StoreUnavailable} */
  async of(principal: Principal): Promise<ReadonlySet<string> | null> {
    if (!isPublicKey(principal)) return null
    const key = `${principal.project} ${principal.agentId}`
    return this.#cache.peek(key) ?? (await this.#cache.load(key)) ?? new Set()
  }

  /** The use-case, for a public key with its agent's models only. Other credentials wait for nothing. */
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

/** @throws {ServiceError} `secret_key_required` with the place of the model. */
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
