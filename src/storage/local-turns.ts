import type { SharedTurns, TurnRule, TurnState } from './cluster-ports.ts'
import type { SteadyClock } from './local-limits.ts'

/** Turns at one resource; all times by the steady clock. */
interface Resource {
  /** End of each turn, should it not be given back, by holder. */
  readonly held: Map<string, number>
  /** When the next turn may begin because of the spacing. */
  next: number
  postponedUntil: number
}

/** Maximum number of resources whose turns are stored. */
export const maxResources = 10_000

/** Turns of this process alone. */
export class LocalTurns implements SharedTurns {
  /** The most recently used resource is last. */
  readonly #resources = new Map<string, Resource>()
  readonly #clock: SteadyClock

  constructor(clock: SteadyClock) {
    this.#clock = clock
  }

  async take(key: string, holder: string, { atOnce, spacingMs, holdMs }: TurnRule): Promise<TurnState> {
    const now = this.#clock.steady()
    const resource = this.#resourceOf(key)
    for (const [each, end] of resource.held) if (end <= now) resource.held.delete(each)
    if (resource.postponedUntil > now) return refused(resource.postponedUntil - now, true)
    if (resource.held.size >= atOnce) return refused(Math.min(...resource.held.values()) - now)
    if (resource.next > now) return refused(resource.next - now)
    resource.held.set(holder, now + holdMs)
    resource.next = now + spacingMs
    return { taken: true, waitMs: 0, postponed: false }
  }

  async giveBack(key: string, holder: string): Promise<void> {
    this.#resources.get(key)?.held.delete(holder)
  }

  async postpone(key: string, ms: number): Promise<void> {
    const resource = this.#resourceOf(key)
    resource.postponedUntil = Math.max(resource.postponedUntil, this.#clock.steady() + ms)
  }

  #resourceOf(key: string): Resource {
    const resource = this.#resources.get(key) ?? { held: new Map(), next: 0, postponedUntil: 0 }
    this.#resources.delete(key)
    this.#evict()
    this.#resources.set(key, resource)
    return resource
  }

  /** Drops the oldest resources that no turn depends on, and beyond the maximum the oldest. */
  #evict(): void {
    const now = this.#clock.steady()
    for (const [key, { held, next, postponedUntil }] of this.#resources) {
      const isIdle = held.size === 0 && next <= now && postponedUntil <= now
      if (!isIdle && this.#resources.size < maxResources) return
      this.#resources.delete(key)
    }
  }
}

const refused = (waitMs: number, postponed = false): TurnState => ({ taken: false, waitMs, postponed })
