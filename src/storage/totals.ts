import type { Scope } from './scope.ts'

/** Totals up to this many records are of the moment of the request. */
export const currentTotal = 1_000
/** Totals up to this many records are exact. */
export const exactTotal = 10_000
/** Maximum age in ms of a total above `currentTotal`. */
export const totalAgeMs = 5_000
/** Maximum number of lists whose totals are cached; the oldest are evicted. */
const maxRemembered = 10_000

/** Number of records in a list; `at_least` of a list longer than `exactTotal`. */
export interface Total {
  readonly count: number
  readonly is: 'exact' | 'at_least'
}

/** A total that was not limited. */
export const exactly = (count: number): Total => ({ count, is: 'exact' })

/**
 * Totals for numbered pages. Each counts at most `exactTotal` records and one, whatever the length of the list; above
 * `currentTotal` that is done once per `totalAgeMs` for all callers (specs/decisions/0040).
 */
export class Totals {
  readonly #known = new Map<string, { readonly total: Promise<Total>; readonly at: number }>()

  /**
   * @param list identifies kind, scope and conditions.
   * @param countTo counts, and stops at `limit`.
   */
  async of(list: string, countTo: (limit: number) => Promise<number>): Promise<Total> {
    const few = await countTo(currentTotal + 1)
    if (few <= currentTotal) return exactly(few)
    const total = await this.#beyond(list, countTo)
    return total.count < few ? { count: few, is: 'at_least' } : total
  }

  #beyond(list: string, countTo: (limit: number) => Promise<number>): Promise<Total> {
    const known = this.#known.get(list)
    if (known !== undefined && performance.now() - known.at < totalAgeMs) return known.total
    const total = countTo(exactTotal + 1).then(
      (count): Total => (count <= exactTotal ? exactly(count) : { count: exactTotal, is: 'at_least' }),
    )
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
