import type { Scope } from './scope.ts'

/** Totals up to this many records are exact. */
export const exactTotal = 1_000
/** Maximum age in ms of a larger total. */
export const totalAgeMs = 5_000
/** Maximum number of lists whose totals are cached; the oldest are evicted. */
const maxRemembered = 10_000

/**
 * Totals for numbered pages. Counting up to `exactTotal` has a bounded cost; beyond that, records are counted to the
 * end once per `totalAgeMs` for all callers (specs/decisions/0040).
 */
export class Totals {
  readonly #known = new Map<string, { readonly total: Promise<number>; readonly at: number }>()

  /**
   * @param list identifies kind, scope and conditions.
   * @param countTo counts, and stops at `limit` if given.
   */
  async of(list: string, countTo: (limit?: number) => Promise<number>): Promise<number> {
    const few = await countTo(exactTotal + 1)
    if (few <= exactTotal) return few
    return Math.max(few, await this.#beyond(list, countTo))
  }

  #beyond(list: string, countTo: () => Promise<number>): Promise<number> {
    const known = this.#known.get(list)
    if (known !== undefined && performance.now() - known.at < totalAgeMs) return known.total
    const total = countTo()
    this.#known.delete(list)
    this.#known.set(list, { total, at: performance.now() })
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= maxRemembered) break
      this.#known.delete(oldest)
    }
    total.catch(() => this.#known.delete(list))
    return total
  }
}

/** Identifies a list by kind, scope and conditions. */
export const listName = (
  kind: { readonly name: string },
  { project, tenant, user, among }: Scope,
  where: object = {},
): string => JSON.stringify([kind.name, project, tenant, user, where, among])
