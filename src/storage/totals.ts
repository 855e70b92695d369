/** Up to so many records a total is exact. */
export const exactTotal = 1_000
/** How far behind a larger total may be. */
export const totalAgeMs = 5_000
/** Lists whose totals are remembered; the oldest are forgotten. */
const mostRemembered = 10_000

/**
 * Totals of numbered pages: counting to `exactTotal` costs the same however many records there are, and what is beyond is
 * counted to the end once in `totalAgeMs` for all callers (specs/decisions/0041).
 */
export class Totals {
  readonly #known = new Map<string, { readonly total: Promise<number>; readonly at: number }>()

  /**
   * @param list names kind, scope and conditions.
   * @param countTo counts, and stops at `limit` when there is one.
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
      if (this.#known.size <= mostRemembered) break
      this.#known.delete(oldest)
    }
    total.catch(() => this.#known.delete(list))
    return total
  }
}

/** What names a list among totals. */
export const listName = (
  kind: { readonly name: string },
  { project, tenant, user }: { readonly project: string; readonly tenant: string | null; readonly user: string | null },
  where: object = {},
): string => JSON.stringify([kind.name, project, tenant, user, where])
