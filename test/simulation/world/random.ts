/** Random numbers determined by a seed: mulberry32 on a mixed seed. */
export class Random {
  #state: number

  constructor(seed: number | string) {
    this.#state = hashOf(String(seed))
  }

  /** In [0, 1). */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** One of the items; undefined if there are none. */
  pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.next() * items.length)]
  }

  /** One of the names, with a probability according to its weight. */
  weighted<K extends string>(weights: readonly (readonly [K, number])[], otherwise: K): K {
    let point = this.next() * weights.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of weights) {
      point -= weight
      if (point < 0) return name
    }
    return otherwise
  }
}

const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return hash ^ (hash >>> 13)
}
