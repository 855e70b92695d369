import type { SharedTurns, TurnRule, TurnState } from './cluster-ports.ts'
import type { SteadyClock } from './local-limits.ts'

/** Turns at one resource; all times by the steady clock. */
interface Place {
  /** End of each turn, should it not be given back, by holder. */
  readonly held: Map<string, number>
  /** When the next turn may begin because of the spacing. */
  next: number
  postponedUntil: number
}

/** Maximum number of resources whose turns are stored. */
export const maxPlaces = 10_000

/** Turns of this process alone. */
export class LocalTurns implements SharedTurns {
  /** The most recently used resource is last. */
  readonly #places = new Map<string, Place>()
  readonly #clock: SteadyClock

  constructor(clock: SteadyClock) {
    this.#clock = clock
  }

  async take(key: string, holder: string, { atOnce, spacingMs, holdMs }: TurnRule): Promise<TurnState> {
    const now = this.#clock.steady()
    const place = this.#placeOf(key)
    for (const [each, end] of place.held) if (end <= now) place.held.delete(each)
    if (place.postponedUntil > now) return refused(place.postponedUntil - now, true)
    if (place.held.size >= atOnce) return refused(Math.min(...place.held.values()) - now)
    if (place.next > now) return refused(place.next - now)
    place.held.set(holder, now + holdMs)
    place.next = now + spacingMs
    return { taken: true, waitMs: 0, postponed: false }
  }

  async giveBack(key: string, holder: string): Promise<void> {
    this.#places.get(key)?.held.delete(holder)
  }

  async postpone(key: string, ms: number): Promise<void> {
    const place = this.#placeOf(key)
    place.postponedUntil = Math.max(place.postponedUntil, this.#clock.steady() + ms)
  }

  #placeOf(key: string): Place {
    const place = this.#places.get(key) ?? { held: new Map(), next: 0, postponedUntil: 0 }
    this.#places.delete(key)
    this.#evict()
    this.#places.set(key, place)
    return place
  }

  /** Drops the oldest resources that no turn depends on, and beyond the maximum the oldest. */
  #evict(): void {
    const now = this.#clock.steady()
    for (const [key, { held, next, postponedUntil }] of this.#places) {
      const isIdle = held.size === 0 && next <= now && postponedUntil <= now
      if (!isIdle && this.#places.size < maxPlaces) return
      this.#places.delete(key)
    }
  }
}

const refused = (waitMs: number, postponed = false): TurnState => ({ taken: false, waitMs, postponed })
