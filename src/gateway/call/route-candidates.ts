import { ServiceError } from '#specs/errors/errors.ts'
import type { Candidate, CandidateQueue } from './candidates.ts'
import { poolOrder } from './pools/pool-order.ts'
import type { RouteHealth } from './pools/route-health.ts'
import type { Need, Route, Routes } from './routes.ts'

/** Dependencies of {Candidates}. */
export interface RouteCandidatesParts {
  readonly routes: Routes
  readonly health: RouteHealth
}

/** The models to look up for a request; `models` is in the order in which to try them. */
export interface RouteCandidatesQuery {
  readonly project: string
  readonly need: Need
  readonly models: readonly string[]
  /** Returns a text that names the conversation of the request; null when it has none. Called for pools only. */
  readonly conversation?: () => string | null
  /** What `x-route` says beside the choice from a pool; null or absent: nothing. */
  readonly note?: string | null
}

/**
 * The routes for one request, in the order in which to try them: every route of the model, then those of each fallback.
 * Those of a pool are in the order of its policy. Routes that failed repeatedly in recent calls come last. Models are looked up lazily.
 */
export class RouteCandidates implements CandidateQueue<Candidate> {
  readonly #parts: RouteCandidatesParts
  readonly #project: string
  readonly #need: Need
  readonly #models: readonly string[]
  readonly #resting: Candidate[] = []
  readonly #conversation: () => string | null
  readonly #note: string | null
  #modelAt = -1
  #routes: readonly Route[] = []
  #routeAt = 0
  #model = ''
  #given = 0
  #unknown: unknown = null
  #poolSize = 0
  #current: Route | null = null

  constructor(parts: RouteCandidatesParts, query: RouteCandidatesQuery) {
    const { project, need, models, conversation = () => null, note = null } = query
    this.#conversation = conversation
    this.#note = note
    this.#parts = parts
    this.#project = project
    this.#need = need
    this.#models = models
  }

  /**
   * Returns the next route; null when none is left.
   *
   * @throws {ServiceError} (or rejects) when no model of the request has a route; the error is that of the first model.
   */
  next(): Candidate | null | Promise<Candidate | null> {
    for (;;) {
      const route = this.#routes[this.#routeAt++]
      if (route === undefined) return this.#nextModel()
      const candidate = { model: this.#model, route }
      if (this.#isAlone() || !this.#parts.health.rests(route)) return this.#give(candidate)
      this.#resting.push(candidate)
    }
  }

  /** Whether a route is left to try after the current one. */
  get hasMore(): boolean {
    return this.#routeAt < this.#routes.length || this.#modelAt + 1 < this.#models.length || this.#resting.length > 0
  }

  get hasPeer(): boolean {
    if (this.#current?.pool === undefined) return false
    return this.#routes.some(
      (route, at) => at >= this.#routeAt && route.pool !== undefined && !this.#parts.health.rests(route),
    )
  }

  get choice(): string | null {
    const { pool } = this.#current ?? {}
    if (pool === undefined || this.#poolSize < 2) return this.#note
    const chosen = `${pool.strategy};try=${this.#given};of=${this.#poolSize}`
    return this.#note === null ? chosen : `${this.#note};${chosen}`
  }

  /** Skips the remaining routes of the current model, since they would get the same request. */
  skipModel(): void {
    this.#routeAt = this.#routes.length
    const other = this.#resting.filter(({ model }) => model !== this.#model)
    this.#resting.splice(0, this.#resting.length, ...other)
  }

  #isAlone(): boolean {
    return this.#models.length === 1 && this.#routes.length === 1
  }

  #give(candidate: Candidate): Candidate {
    this.#given++
    this.#current = candidate.route
    return candidate
  }

  #nextModel(): Candidate | null | Promise<Candidate | null> {
    const model = this.#models[++this.#modelAt]
    if (model === undefined) return this.#last()
    this.#model = model
    this.#routeAt = 0
    this.#routes = []
    let found: readonly Route[] | Promise<readonly Route[]>
    try {
      found = this.#parts.routes.resolve(this.#project, model, this.#need)
    } catch (error) {
      return this.#without(error)
    }
    if (found instanceof Promise)
      return found.then(
        (routes) => this.#with(routes),
        (error) => this.#without(error),
      )
    return this.#with(found)
  }

  #with(routes: readonly Route[]): Candidate | null | Promise<Candidate | null> {
    this.#routes = this.#pooled(routes)
    return this.next()
  }

  /** Orders the routes of the project's pool, which come first. */
  #pooled(routes: readonly Route[]): readonly Route[] {
    const size = routes.findIndex(({ pool }) => pool === undefined)
    const pool = size === -1 ? routes : routes.slice(0, size)
    this.#poolSize = pool.length
    const policy = pool[0]?.pool
    if (policy === undefined || pool.length === 1) return routes
    const stateOf = (route: Route) => this.#parts.health.stateOf(route)
    const conversation = policy.sticky ? this.#conversation() : null
    const ordered = poolOrder(pool, policy, { conversation, stateOf, random: Math.random })
    return [...ordered, ...routes.slice(pool.length)]
  }

  /** When a model has no route, a fallback may serve the request; an internal error ends the search. */
  #without(error: unknown): Candidate | null | Promise<Candidate | null> {
    if (!(error instanceof ServiceError)) throw error
    this.#unknown ??= error
    return this.#nextModel()
  }

  #last(): Candidate | null {
    const resting = this.#resting.shift()
    if (resting !== undefined) return this.#give(resting)
    if (this.#given === 0 && this.#unknown !== null) throw this.#unknown
    return null
  }
}
