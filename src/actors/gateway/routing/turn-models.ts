import { ServiceError } from '../../../../specs/errors.ts'
import type { SsrfGuard } from '../../tools/ssrf-guard.ts'
import type { CallPolicy } from '../call-policy.ts'
import type { Redaction } from '../calls/redaction.ts'
import type { KeySource, Route, Routes } from '../calls/routes.ts'
import { type ClosableProvider, LazyProvider } from '../lazy-provider.ts'
import { OpenAiProvider } from '../openai-provider.ts'
import type { OpenAiDialect } from '../openai-wire.ts'
import { priceAt } from '../prices.ts'
import { ModelError, type ModelProvider } from '../provider-port.ts'
import { redactingProvider } from '../redaction/redacting-provider.ts'
import { unversionedUrl } from './base-url.ts'
import { isOwnOpenAi } from './managed-providers.ts'
import { providerNamed } from './model-names.ts'

/** A model that turns and runs can ask. */
export interface TurnModel {
  readonly provider: ModelProvider
  /** As its provider knows it. */
  readonly model: string
  /** Whose key serves; a managed one when absent. */
  readonly source?: KeySource
  /** What the price list knows it by; null when its price is nobody's business but its owner's. `model` when absent. */
  readonly pricedAs?: string | null
}

/** Finds the model that a project means by a name. @throws {ModelError} `model_not_found`, `provider_not_configured` */
export type ResolveTurnModel = (model: string, project: string) => TurnModel | Promise<TurnModel>

/** What it stands on. */
export interface TurnModelsParts {
  readonly routes: Routes
  /** Connects to addresses that projects named. */
  readonly guard: Pick<SsrfGuard, 'dispatcher'>
  readonly policy?: Partial<CallPolicy>
  /** Policies of the projects; nothing is redacted without them. */
  readonly redaction?: Pick<Redaction, 'policyOf'>
}

/** Providers of projects' own keys that are kept; they hold no connections of their own. */
const maxKept = 500

/** The first route of a model as sessions and runs call it: one conversation stays with one provider. */
export class TurnModels {
  readonly #parts: TurnModelsParts
  readonly #known = new WeakMap<Route, TurnModel>()
  /** By endpoint, so that the models of one share connections. */
  readonly #managed = new Map<string, ClosableProvider>()
  readonly #own = new Map<string, ClosableProvider>()

  constructor(parts: TurnModelsParts) {
    this.#parts = parts
  }

  readonly resolve: ResolveTurnModel = (model, project) => {
    const routes = this.#routed(model, project)
    const found =
      routes instanceof Promise ? routes.then((all) => this.#turnModel(all), asModelError) : this.#turnModel(routes)
    const policy = this.#parts.redaction?.policyOf(project) ?? null
    return policy === null ? found : redacted(found, policy)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#managed.values(), ...this.#own.values()].map((provider) => provider.close()))
  }

  #routed(model: string, project: string): readonly Route[] | Promise<readonly Route[]> {
    try {
      return this.#parts.routes.resolve(project, model, 'chat')
    } catch (error) {
      return asModelError(error)
    }
  }

  #turnModel([route]: readonly Route[]): TurnModel {
    if (route === undefined) throw new ModelError('model_not_found', 'No provider offers this model.')
    const known = this.#known.get(route)
    if (known !== undefined) return known
    const { model, source } = route
    const made = { provider: this.#provider(route), model, source, pricedAs: pricedAs(route) }
    this.#known.set(route, made)
    return made
  }

  #provider(route: Route): ModelProvider {
    const { provider, connectionId, format, baseUrl, apiKey } = route
    const kept = connectionId === null ? this.#managed : this.#own
    const key = JSON.stringify([provider, connectionId, format, baseUrl, apiKey])
    const known = kept.get(key)
    if (known !== undefined) return known
    const made = open(route, this.#parts)
    if (this.#own.size >= maxKept) this.#own.clear()
    kept.set(key, made)
    return made
  }
}

/** Asks by the policy of the project, when it has one. */
const redacted = async (
  found: TurnModel | Promise<TurnModel>,
  policy: ReturnType<Redaction['policyOf']>,
): Promise<TurnModel> => {
  const [model, wanted] = await Promise.all([found, policy])
  return wanted === null ? model : { ...model, provider: redactingProvider(model.provider, wanted) }
}

/** Effects and findings go by model errors; what routes refuse is one. */
const asModelError = (error: unknown): never => {
  if (!(error instanceof ServiceError)) throw error
  const { code, message } = error
  if (code !== 'model_not_found' && code !== 'provider_not_configured') throw error
  throw new ModelError(code, message)
}

/** A server that a project registered has prices of its own, which nobody told us. */
const pricedAs = ({ source, provider, model }: Route): string | null => {
  const isListed = source === 'managed' || source === 'simulated' || providerNamed(provider) !== undefined
  if (!isListed) return null
  return priceAt(provider, model) === undefined ? model : `${provider}/${model}`
}

/** What a callers' address is reached by is the guard, whatever SDK is in between. */
const open = (route: Route, { guard, policy }: TurnModelsParts): ClosableProvider => {
  const { provider: id, format, baseUrl, apiKey, connectionId } = route
  const shared = {
    ...(policy !== undefined && { policy }),
    ...(connectionId !== null && { dispatcher: guard.dispatcher }),
  }
  const keyed = { apiKey: apiKey ?? '', baseUrl: unversionedUrl(baseUrl), ...shared }
  if (format === 'anthropic') {
    return new LazyProvider(id, async () => {
      const { AnthropicProvider } = await import('../anthropic-provider.ts')
      return new AnthropicProvider(keyed)
    })
  }
  if (format === 'google') {
    return new LazyProvider(id, async () => {
      const { GoogleProvider } = await import('../google-provider.ts')
      return new GoogleProvider(keyed)
    })
  }
  const dialect = isOwnOpenAi(baseUrl) ? ownDialect : compatibleDialect
  return new OpenAiProvider({ id, baseUrl, dialect, ...(apiKey !== null && { apiKey }), ...shared })
}

const ownDialect: OpenAiDialect = {
  maxTokensField: 'max_completion_tokens',
  acceptsTemperature: (model) => priceAt('openai', model)?.sampling !== false,
}

const compatibleDialect: OpenAiDialect = { maxTokensField: 'max_tokens', acceptsTemperature: () => true }
