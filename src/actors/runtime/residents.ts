import { type Activated, type ActivationParts, activate } from './activation.ts'
import { NotOwner, Superseded } from './commit/superseded.ts'
import type { Resident } from './resident.ts'

/** Dependencies of `Residents`. */
export interface ResidentsParts extends ActivationParts {
  /** Called when an actor was loaded: work that its newest commit left unfinished is to be resumed. */
  readonly came: (found: Activated) => void
  /** Called when an actor could not be loaded because another process runs it now. */
  readonly superseded: (id: string, error: Superseded) => void
}

/**
 * The actors in memory. Each is there at most once, and is loaded once however many requests need it at the same time.
 */
export class Residents {
  readonly #parts: ResidentsParts
  readonly #live = new Map<string, Resident>()
  readonly #loading = new Map<string, Promise<Resident | null>>()

  constructor(parts: ResidentsParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#live.size
  }

  values(): IterableIterator<Resident> {
    return this.#live.values()
  }

  get(id: string): Resident | undefined {
    return this.#live.get(id)
  }

  /** Whether the shard is still held under the epoch at which this actor was loaded or created. */
  isCurrent({ shard, epoch }: Pick<Resident, 'shard' | 'epoch'>): boolean {
    return this.#parts.ownership.heldUnder(shard) === epoch
  }

  /**
   * Adds an actor that was just created; returns false when it is already in memory, or its shard is no longer held.
   */
  add(resident: Resident): boolean {
    if (this.#live.has(resident.id) || !this.isCurrent(resident)) return false
    this.#live.set(resident.id, resident)
    return true
  }

  /**
   * Returns the actor, loading it when it is not in memory; null when there is none.
   * @throws {Superseded} {StoreUnavailable}
   */
  load(id: string): Promise<Resident | null> {
    const resident = this.#live.get(id)
    if (resident !== undefined) {
      resident.usedAt = this.#parts.clock.now()
      return Promise.resolve(resident)
    }
    const loading = this.#loading.get(id) ?? this.#activate(id).finally(() => this.#loading.delete(id))
    this.#loading.set(id, loading)
    return loading
  }

  evict(resident: Resident | undefined): void {
    if (resident === undefined) return
    resident.dead = true
    if (this.#live.get(resident.id) === resident) this.#live.delete(resident.id)
  }

  async #activate(id: string): Promise<Resident | null> {
    const found = await activate(this.#parts, id).catch((error: unknown) => {
      if (error instanceof Superseded) this.#parts.superseded(id, error)
      throw error
    })
    if (found === null) return null
    const present = this.#live.get(id)
    if (present !== undefined) return present
    if (!this.isCurrent(found.resident)) throw new NotOwner(`the shard of ${id} was given away meanwhile`)
    this.#live.set(id, found.resident)
    this.#parts.came(found)
    return found.resident
  }
}
