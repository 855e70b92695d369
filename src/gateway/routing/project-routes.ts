import { ServiceError } from '#specs/errors/errors.ts'
import type { Need, Route, Routes } from '../call/routes.ts'
import { capabilitiesOf, visionModelOf } from '../prices/model-capabilities.ts'
import type { Endpoint, ManagedProviders } from './managed-providers.ts'
import { providerNamed, type Seller, sellersOf, serves, splitName } from './model-names.ts'
import type { OwnConnection, OwnProvider, OwnProviders, ProjectProviders } from './project-providers.ts'

export interface ProjectRoutesParts {
  readonly managed: Pick<ManagedProviders, 'of' | 'compatible'>
  readonly own: Pick<ProjectProviders, 'of'>
}

/** Names that are remembered of one project, and of all those that brought nothing along together. */
const maxRemembered = 1000
const customPrefix = 'custom:'

/**
 * Routes by the rules of specs/decisions/0083-routing.md: the project's connections in order of creation, then its custom
 * providers by tiers, then the installation's keys.
 */
export class ProjectRoutes implements Routes {
  readonly #parts: ProjectRoutesParts
  /** By what the project brought along, so that a change of it forgets them and steady use makes nothing anew. */
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
    if (own.connections.length === 0 && own.customs.length === 0) return this.#plain
    const known = this.#remembered.get(own) ?? new Map<string, readonly Route[]>()
    this.#remembered.set(own, known)
    return known
  }

  #found(own: OwnProviders, asked: string, need: Need): readonly Route[] {
    if (asked.startsWith(customPrefix)) return usable(byCustomId(own.customs, asked), need)
    const sellers = sellersOf(asked)
    const routes = [
      ...own.connections.flatMap((connection) => byConnection(connection, asked, sellers)),
      ...byCustomName(own.customs, asked),
      ...this.#managed(asked, sellers),
    ]
    if (routes.length > 0) return usable(routes, need)
    if (sellers.some(({ provider }) => provider !== 'simulated'))
      throw new ServiceError('provider_not_configured', param)
    throw new ServiceError('model_not_found', param)
  }

  /** What nobody is known to sell goes to the compatible server, with its whole name. */
  #managed(asked: string, sellers: readonly Seller[]): readonly Route[] {
    const { managed } = this.#parts
    const routes = sellers.flatMap(({ provider, model }) => {
      const endpoint = managed.of(provider)
      return endpoint === undefined ? [] : [routeTo(endpoint, model)]
    })
    const unsold = sellers.every(({ provider }) => provider === 'simulated')
    return routes.length === 0 && unsold && managed.compatible !== null ? [routeTo(managed.compatible, asked)] : routes
  }
}

const param = { param: 'model' }

const routeTo = (endpoint: Endpoint, model: string): Route => Object.freeze({ model, ...endpoint })

/** @throws {ServiceError} when none of them can do what is needed. */
const usable = (routes: readonly Route[], need: Need): readonly Route[] => {
  const fit = routes.filter(({ format }) => serves(format, need))
  if (fit.length > 0) return Object.freeze(need === 'vision' ? fit.map(withVision) : fit)
  if (routes.length === 0) throw new ServiceError('model_not_found', param)
  throw new ServiceError('model_not_found', { ...param, message: `The provider of this model has no ${words[need]}.` })
}

/** A model that is known to take no images is replaced by its provider's model for images. */
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
}

/** A connection serves what its provider sells, what is named `provider/model`, and what its model sync brought. */
const byConnection = (
  { endpoint, models }: OwnConnection,
  asked: string,
  sellers: readonly Seller[],
): readonly Route[] => {
  const sold = sellers.find(({ provider }) => provider === endpoint.provider)
  if (sold !== undefined) return [routeTo(endpoint, sold.model)]
  if (models?.has(asked)) return [routeTo(endpoint, asked)]
  const split = splitName(asked)
  const named = split !== null && split.head.toLowerCase() === endpoint.provider && !providerNamed(split.head)
  return named ? [routeTo(endpoint, split.rest)] : []
}

/** First tier: `custom:<id>` and `custom:<id>/<model>`. */
const byCustomId = (customs: readonly OwnProvider[], asked: string): readonly Route[] => {
  const { head, rest } = splitName(asked) ?? { head: asked, rest: null }
  const provider = customs.find(({ id }) => `${customPrefix}${id}` === head.toLowerCase())
  return provider === undefined ? [] : ofCustom(provider, rest)
}

/**
 * The tiers below: the provider's name alone; its name, a slash and a model; the bare id of one of its models. The first
 * that finds somebody counts. Case does not matter in names; of two with one name the older serves.
 */
const byCustomName = (customs: readonly OwnProvider[], asked: string): readonly Route[] => {
  const wanted = asked.toLowerCase()
  const alias = customs.find(({ name }) => name.toLowerCase() === wanted)
  if (alias !== undefined) return ofCustom(alias, null)
  const named = customs.find(
    ({ name }) => wanted.startsWith(`${name.toLowerCase()}/`) && asked.length > name.length + 1,
  )
  if (named !== undefined) return ofCustom(named, asked.slice(named.name.length + 1))
  const offering = customs.find(({ models }) => models.some(({ model_name }) => model_name === asked))
  return offering === undefined ? [] : [routeTo(offering.endpoint, asked)]
}

/** @param model as its server or its label names it, or anything that the server may know; null for its first model. */
const ofCustom = ({ endpoint, models }: OwnProvider, model: string | null): readonly Route[] => {
  if (model === null) {
    const [first] = models
    return first === undefined ? [] : [routeTo(endpoint, first.model_name)]
  }
  const byId = models.find(({ model_name }) => model_name === model)
  const labelled = byId ?? models.find(({ display_name }) => display_name === model)
  return [routeTo(endpoint, labelled?.model_name ?? model)]
}
