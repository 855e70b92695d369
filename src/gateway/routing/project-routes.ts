import { ServiceError } from '#specs/errors/errors.ts'
import type { RoutingRule } from '#specs/resources/gateway/routing-policy.ts'
import { notConfigured, unknownModel } from '../call/model-refusals.ts'
import type { Need, Route, Routes } from '../call/routes.ts'
import { capabilitiesOf, visionModelOf } from '../prices/model-capabilities.ts'
import { priceAt } from '../prices/prices.ts'
import { serves } from '../providers/provider-formats.ts'
import type { Endpoint, ManagedProviders } from './managed-providers.ts'
import { providerNamed, type Seller, sellersOf, splitName } from './model-names.ts'
import {
  type AbsentProvider,
  type OwnConnection,
  type OwnProvider,
  type OwnProviders,
  type ProjectProviders,
  priced,
} from './project-providers.ts'

export interface ProjectRoutesParts {
  readonly managed: Pick<ManagedProviders, 'of' | 'compatible'>
  readonly own: Pick<ProjectProviders, 'of'>
}

/** Maximum number of cached names per project; projects without connections and custom providers share one cache. */
const maxRemembered = 1000
const customPrefix = 'custom:'

/**
 * Finds routes by the rules of specs/decisions/0083-routing.md. If the model names a provider of the project, only that
 * one is used (specs/decisions/0083-routing.md). Otherwise the project's connections come first, in order of
 * creation; then a custom provider that has the model; then the installation's keys.
 */
export class ProjectRoutes implements Routes {
  readonly #parts: ProjectRoutesParts
  /**
   * Cached routes by the project's providers: a change of those discards them, and in steady use the same routes are
   * returned.
   */
  readonly #remembered = new WeakMap<OwnProviders, Map<string, readonly Route[]>>()
  readonly #plain = new Map<string, readonly Route[]>()

  constructor(parts: ProjectRoutesParts) {
    this.#parts = parts
  }

  resolve(project: string, model: string, need: Need): readonly Route[] | Promise<readonly Route[]> {
    const own = this.#parts.own.of(project)
    return own instanceof Promise
      ? own.then((known) => this.#routes(known, model, need))
      : this.#routes(own, model, need)
  }

  rules(project: string): readonly RoutingRule[] | Promise<readonly RoutingRule[]> {
    const own = this.#parts.own.of(project)
    return own instanceof Promise ? own.then(({ rules }) => rules) : own.rules
  }

  #routes(own: OwnProviders, model: string, need: Need): readonly Route[] {
    const remembered = this.#memory(own)
    const key = `${need} ${model}`
    const known = remembered.get(key)
    if (known !== undefined) return known
    const routes = this.#found(own, model, need)
    if (remembered.size >= maxRemembered) remembered.clear()
    remembered.set(key, routes)
    return routes
  }

  #memory(own: OwnProviders): Map<string, readonly Route[]> {
    if (own.connections.length + own.customs.length + own.absent.length + own.locked.size === 0) return this.#plain
    const known = this.#remembered.get(own) ?? new Map<string, readonly Route[]>()
    this.#remembered.set(own, known)
    return known
  }

  #found(own: OwnProviders, requested: string, need: Need): readonly Route[] {
    // a lone surrogate has no UTF-8 encoding, and several APIs have the model in their paths
    if (!requested.isWellFormed()) throw unknownModel(requested)
    const named = voice.has(need) && knownWord(requested) ? null : byName(own, requested)
    if (named !== null) return usable(named, requested, need)
    const sellers = sellersOf(requested)
    const brought = ownWays(own, requested, sellers)
    const isKept = brought.some(({ route, fallsBack }) => !fallsBack && serves(route.format, need))
    const isLocked = sellers.some(({ provider }) => own.locked.has(provider))
    const managed = isKept || isLocked ? [] : this.#managed(requested, sellers)
    const routes = [...brought.map(({ route }) => route), ...managed]
    if (routes.length > 0) return usable(routes, requested, need)
    if (isLocked) throw new ServiceError('provider_not_active', { ...param, message: lockedMessage })
    const known = sellers.map(({ provider }) => provider).filter((provider) => provider !== 'simulated')
    if (known.length === 0) throw unknownModel(requested)
    throw notConfigured(known, { simulates: this.#parts.managed.of('simulated') !== undefined })
  }

  /**
   * Routes by the installation's keys. A model that no provider is known to offer is sent to the compatible server,
   * under its whole name.
   */
  #managed(requested: string, sellers: readonly Seller[]): readonly Route[] {
    const { managed } = this.#parts
    const routes = sellers.flatMap(({ provider, model }) => {
      const endpoint = managed.of(provider)
      return endpoint === undefined ? [] : [routeTo(endpoint, model)]
    })
    const unsold = sellers.every(({ provider }) => provider === 'simulated')
    return routes.length === 0 && unsold && managed.compatible !== null
      ? [routeTo(managed.compatible, requested)]
      : routes
  }
}

const param = { param: 'model' }

const routeTo = (endpoint: Endpoint, model: string): Route => {
  const { deployments = {} } = endpoint.settings ?? {}
  const named = Object.hasOwn(deployments, model) ? deployments[model] : undefined
  return Object.freeze({ model, ...endpoint, ...(named !== undefined && { wireModel: named }) })
}

/** Keeps the routes whose format supports the need. @throws {ServiceError} when there is none. */
const usable = (routes: readonly Route[], requested: string, need: Need): readonly Route[] => {
  const fit = routes.filter(({ format }) => serves(format, need))
  if (fit.length > 0) return Object.freeze(need === 'vision' ? fit.map(withVision) : fit)
  if (routes.length === 0) throw unknownModel(requested)
  throw new ServiceError('model_not_found', { ...param, message: `The provider of this model has no ${words[need]}.` })
}

/** Replaces a model that is known not to accept images by its provider's default model for images. */
const withVision = (route: Route): Route => {
  const { provider, model } = route
  const seer = capabilitiesOf(provider, model)?.includes('vision') === false ? visionModelOf(provider) : null
  return seer === null ? route : Object.freeze({ ...route, model: seer })
}

const words: Readonly<Record<Need, string>> = {
  chat: 'chat models',
  vision: 'vision models',
  embedding: 'embedding models',
  speech: 'speech models',
  transcription: 'transcription models',
  image: 'image models',
}

/**
 * Routes by one connection: it serves models that its provider offers, models named `provider/model`, and models of its
 * model sync.
 */
const byConnection = (
  { endpoint, models }: OwnConnection,
  requested: string,
  sellers: readonly Seller[],
): readonly Route[] => {
  const sold = sellers.find(({ provider }) => provider === endpoint.provider)
  if (sold !== undefined) return [routeTo(endpoint, sold.model)]
  if (models?.has(requested) || offersByName(endpoint, requested)) return [routeTo(endpoint, requested)]
  const split = splitName(requested)
  const named = split !== null && split.head.toLowerCase() === endpoint.provider && !providerNamed(split.head)
  return named ? [routeTo(endpoint, split.rest)] : []
}

/** Whether a cloud offers a model under this name: it has a deployment of it, or lists its price. */
const offersByName = ({ provider, settings: { deployments = {} } = {} }: Endpoint, requested: string): boolean =>
  Object.hasOwn(deployments, requested) ||
  (providerNamed(provider)?.byName === true && priceAt(provider, requested) !== undefined)

const lockedMessage = "The key of the project's connection can no longer be decrypted. Set it again."

/** Routes by the project's own providers, each with whether the installation's key is used after it. */
const ownWays = ({ connections, customs }: OwnProviders, requested: string, sellers: readonly Seller[]) => {
  const connected = connections.flatMap((connection) =>
    byConnection(connection, requested, sellers).map((route) => ({ route, fallsBack: connection.fallsBack })),
  )
  const custom = customs
    .filter(({ models }) => models.some(({ model_name }) => model_name === requested))
    .map((provider) => ({ route: toModel(provider, requested), fallsBack: provider.fallsBack }))
  return [...connected, ...custom]
}

/**
 * Needs whose models are named by the id of a known provider: that id takes precedence over a custom provider's name.
 */
const voice: ReadonlySet<Need> = new Set(['speech', 'transcription'])

const knownWord = (requested: string): boolean => {
  const spec = providerNamed(splitName(requested)?.head ?? '')
  return spec !== undefined && spec.byName !== true
}

/**
 * Returns routes to the provider of the project that the model names; null when it names none. A provider is named by
 * `custom:<id>`, by the name of a custom provider, or by a connection's own name; alone or before a slash.
 *
 * @throws {ServiceError} `provider_not_active`
 */
const byName = (own: OwnProviders, requested: string): readonly Route[] | null => {
  const wanted = requested.toLowerCase()
  const custom = requested.startsWith(customPrefix)
    ? byCustomId(own.customs, requested)
    : byCustomName(own.customs, requested)
  const word = splitName(wanted)?.head
  const connected = own.connections
    .filter(({ endpoint }) => endpoint.provider === word)
    .flatMap((connection) => byConnection(connection, requested, sellersOf(requested)))
  if (custom !== null && custom.length + connected.length > 0) return [...connected, ...custom]
  if (connected.length > 0) return word === undefined || providerNamed(word) !== undefined ? null : connected
  const absent = own.absent.find(({ id, name }) => namesOne(wanted, name) || namesOne(wanted, `${customPrefix}${id}`))
  if (absent !== undefined && custom === null) throw notActive(absent)
  return custom ?? (requested.startsWith(customPrefix) ? [] : null)
}

const namesOne = (wanted: string, name: string): boolean => wanted === name || wanted.startsWith(`${name}/`)

const notActive = ({ name, reason }: AbsentProvider): ServiceError =>
  new ServiceError('provider_not_active', {
    ...param,
    message: `The provider ${name} of the project ${reasons[reason]}.`,
  })

const reasons: Readonly<Record<AbsentProvider['reason'], string>> = {
  inactive: 'is inactive',
  deleted: 'was deleted',
  key_lost: 'has a key that can no longer be decrypted',
}

/** Routes for `custom:<id>` and `custom:<id>/<model>`; null for an unknown id. */
const byCustomId = (customs: readonly OwnProvider[], requested: string): readonly Route[] | null => {
  const { head, rest } = splitName(requested) ?? { head: requested, rest: null }
  const provider = customs.find(({ id }) => `${customPrefix}${id}` === head.toLowerCase())
  return provider === undefined ? null : ofCustoms([provider], rest)
}

/**
 * Routes for the name of custom providers, alone or followed by a slash and a model; null when none is named. Case is
 * ignored; several with one name are a pool.
 */
const byCustomName = (customs: readonly OwnProvider[], requested: string): readonly Route[] | null => {
  const wanted = requested.toLowerCase()
  const aliases = customs.filter(({ name }) => name.toLowerCase() === wanted)
  if (aliases.length > 0) return ofCustoms(aliases, null)
  const [first, ...others] = customs.filter(
    ({ name }) => wanted.startsWith(`${name.toLowerCase()}/`) && requested.length > name.length + 1,
  )
  if (first === undefined) return null
  const namesakes = others.filter(({ name }) => name.toLowerCase() === first.name.toLowerCase())
  return ofCustoms([first, ...namesakes], requested.slice(first.name.length + 1))
}

/** Returns the route to a model of a custom provider, with the prices of the model or else of the provider. */
const toModel = ({ endpoint, models }: OwnProvider, name: string): Route =>
  routeTo(priced(endpoint, models.find(({ model_name }) => model_name === name)?.prices), name)

/**
 * Routes to the providers that have a model; to the first one where none is known to have it.
 *
 * @param model the model's name on the server, its label, or any other name that the server may know; null for the
 * first model.
 */
const ofCustoms = (providers: readonly OwnProvider[], model: string | null): readonly Route[] => {
  const wanted = model ?? providers.flatMap(({ models }) => models)[0]?.model_name
  const [first] = providers
  if (first === undefined || wanted === undefined) return []
  const found = providers.flatMap((provider) => {
    const name = registeredName(provider, wanted)
    return name === undefined ? [] : [toModel(provider, name)]
  })
  return found.length > 0 ? found : [toModel(first, wanted)]
}

const registeredName = ({ models }: OwnProvider, wanted: string): string | undefined =>
  (models.find(({ model_name }) => model_name === wanted) ?? models.find(({ display_name }) => display_name === wanted))
    ?.model_name
