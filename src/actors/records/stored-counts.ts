import { currentTotal, projectScope, type RecordKind, type RecordStore, totalAgeMs } from '#storage/index.ts'

/** Maximum number of projects whose counts are cached; the oldest are evicted. */
const maxCached = 10_000

interface Counted {
  readonly counted: Promise<number>
  readonly at: number
  /** Rows that this process has stored since the count began; some may be included in it. */
  added: number
}

/**
 * Numbers of the rows of a kind that projects store, for limits. A cached count includes what this process has stored since, so that its
 * writes never exceed a limit together; writes of other nodes and deletions are seen after `totalAgeMs`.
 */
export class StoredCounts {
  readonly #kind: RecordKind
  readonly #records: RecordStore
  readonly #now: () => number
  readonly #known = new Map<string, Counted>()

  constructor(kind: RecordKind, records: RecordStore, now: () => number) {
    this.#kind = kind
    this.#records = records
    this.#now = now
  }

  /**
   * Returns how many rows a project stores, for a check whether `more` fit below `max`. A number that leaves no room
   * counts nothing twice.
   *
   * @throws {StoreUnavailable}
   */
  async of(project: string, { max, more }: { readonly max: number; readonly more: number }): Promise<number> {
    if (max <= currentTotal) return (await this.#records.total(this.#kind, projectScope(project))).count
    for (;;) {
      const known = this.#fresh(project) ?? this.#count(project)
      const stored = (await known.counted) + known.added
      if (stored + more <= max || known.added === 0) return stored
      // a row that was stored while it was counted may have been counted twice
      if (this.#known.get(project) === known) this.#known.delete(project)
    }
  }

  /** Notes that this process has stored rows, or tried to. */
  stored(project: string, added: number): void {
    const known = this.#known.get(project)
    if (known !== undefined) known.added += added
  }

  #fresh(project: string): Counted | undefined {
    const known = this.#known.get(project)
    return known !== undefined && this.#now() - known.at < totalAgeMs ? known : undefined
  }

  #count(project: string): Counted {
    const counted = this.#records.count(this.#kind, projectScope(project))
    const known: Counted = { counted, at: this.#now(), added: 0 }
    this.#known.delete(project)
    this.#known.set(project, known)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= maxCached) break
      this.#known.delete(oldest)
    }
    counted.catch(() => this.#known.delete(project))
    return known
  }
}
