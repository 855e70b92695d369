import type { MemoryOwner } from './memory-owner.ts'

/** Part of the memory that bodies larger than the share of their caller do not use, even if they are alone in it. */
export const keptShare = 1 / 8

/** A body that is still arriving. Its bytes count as they arrive. */
export interface Arriving {
  /** Refuses the rest of the body, and releases its memory. */
  evict(): void
}

/** `weight`: multiple of what is free on the level above; `size`: bytes of the whole memory, 0 for a share of it. */
interface Proportions {
  readonly weight: number
  readonly size: number
}

/**
 * The memory that one project, credential or browser uses: a node in the tree below the whole memory.
 *
 * A share is a multiple of what is free on the level above. The more a caller uses, the less is free for it, while a
 * caller that uses nothing always finds something free: with a weight of 3, one project gets three quarters of the
 * memory, and ten get 3/31 each, with 1/31 left for the next one (dynamic thresholds of shared buffers, Choudhury and
 * Hahne 1998).
 */
export class MemoryQuota {
  readonly #parent: MemoryQuota | null
  readonly #key: string
  readonly #weight: number
  readonly #size: number
  readonly #children = new Map<string, MemoryQuota>()
  /** Bodies of this share itself that are still arriving, the oldest first. */
  readonly #arriving = new Set<Arriving>()
  /** Number of reservations in this share and below it. */
  #count = 0
  /** Bytes in memory. */
  held = 0
  /** Bytes of `held` whose bodies are still arriving, and can be evicted. */
  arrived = 0
  /** Bytes that the bodies of this share may hold once they have arrived. */
  promised = 0

  private constructor(parent: MemoryQuota | null, key: string, { weight, size }: Proportions) {
    this.#parent = parent
    this.#key = key
    this.#weight = weight
    this.#size = size
  }

  /** The whole memory. */
  static whole(size: number): MemoryQuota {
    return new MemoryQuota(null, '', { weight: 1, size })
  }

  /** Bytes that may be held here once `more` are added. */
  #limitWith(more: number): number {
    const parent = this.#parent
    if (parent === null) return this.#size
    return this.#weight * Math.max(0, parent.#limitWith(more) - parent.held - more)
  }

  /** The narrowest share of an owner; one that has no reservation yet is not remembered before `enter`. */
  of(owner: MemoryOwner): MemoryQuota {
    let share: MemoryQuota = this
    for (const { key, weight } of owner)
      share = share.#children.get(key) ?? new MemoryQuota(share, key, { weight, size: 0 })
    return share
  }

  /**
   * Whether another body of at most `bytes` may begin. One that is alone in a share may exceed it, but not use the last
   * eighth of the memory, which is kept for shorter bodies.
   */
  admits(bytes: number): boolean {
    const isAlone = this.promised === 0
    let isWithin = this.promised + bytes <= this.#limitWith(bytes)
    if (!isWithin && !isAlone) return false
    for (let share: MemoryQuota = this; share.#parent !== null; share = share.#parent) {
      const { held } = share
      const fits = held + bytes <= share.#limitWith(bytes)
      if (!fits && held > 0) return false
      isWithin &&= fits
    }
    return this.#whole.#takes(isWithin ? bytes : bytes + this.#whole.#size * keptShare)
  }

  /** What is arriving on behalf of others gives way to a caller that holds less. */
  #takes(bytes: number): boolean {
    const settled = this.held - this.arrived
    return settled === 0 || settled + bytes <= this.#size
  }

  get #whole(): MemoryQuota {
    return this.#parent === null ? this : this.#parent.#whole
  }

  /** Adds a reservation that may hold `promised` bytes. */
  enter(promised: number): void {
    this.promised += promised
    for (const share of this.#chain()) {
      const parent = share.#parent
      if (share.#count++ === 0 && parent !== null) parent.#children.set(share.#key, share)
    }
  }

  /** Removes a reservation, whose bytes have been subtracted. Shares without reservations are forgotten. */
  leave(): void {
    for (const share of this.#chain()) {
      const parent = share.#parent
      if (--share.#count === 0 && parent !== null) parent.#children.delete(share.#key)
    }
  }

  /** Changes the bytes in memory. */
  change(bytes: number, isArriving: boolean): void {
    for (const share of this.#chain()) {
      share.held += bytes
      if (isArriving) share.arrived += bytes
    }
  }

  begin(body: Arriving): void {
    this.#arriving.add(body)
  }

  /** The body has arrived, or is given up. */
  finish(body: Arriving, bytes: number): void {
    if (!this.#arriving.delete(body)) return
    for (const share of this.#chain()) share.arrived -= bytes
  }

  /** Number of reservations here and below. */
  get count(): number {
    return this.#count
  }

  /** The newest body that is arriving for the caller with the most such bytes; null when nothing arrives. */
  victim(): Arriving | null {
    let largest: MemoryQuota | null = null
    for (const child of this.#children.values())
      if (child.arrived > 0 && child.arrived > (largest?.arrived ?? 0)) largest = child
    if (largest !== null) return largest.victim()
    let newest: Arriving | null = null
    for (const body of this.#arriving) newest = body
    return newest
  }

  *#chain(): Generator<MemoryQuota> {
    for (let share: MemoryQuota | null = this; share !== null; share = share.#parent) yield share
  }
}
