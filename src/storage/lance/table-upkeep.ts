import type { LancePackage, LanceTable } from './lance-package.ts'

/** Number of changes after which a table is put in order, and the time in ms after the last one. */
const changesEach = 64
const quietMs = 30_000
/** Rounds of the clustering of an index: the engine's 50 take three times the CPU and find no more. */
const maxIterations = 15

interface UpkeepParts {
  readonly lance: Pick<LancePackage, 'Index'>
  readonly open: (name: string) => Promise<LanceTable | null>
  readonly drop: (name: string) => Promise<void>
  /** Age in ms from which earlier versions of a table are removed: a search may still read one. */
  readonly versionMs: number
  /** Number of rows from which a table has indexes; fewer are read faster without. */
  readonly indexedFrom: number
}

/** Puts tables in order after changes: files are merged, indexes follow, and vectors that were removed leave the files. */
export class TableUpkeep {
  readonly #parts: UpkeepParts
  /** Changes since the last time, by table; 0: only earlier versions are left to remove. */
  readonly #changes = new Map<string, number>()
  #timer: { readonly timeout: NodeJS.Timeout; readonly at: number } | null = null
  #running: Promise<void> = Promise.resolve()

  constructor(parts: UpkeepParts) {
    this.#parts = parts
  }

  /** Notes a change of a table. */
  changed(name: string): void {
    const changes = (this.#changes.get(name) ?? 0) + 1
    this.#changes.set(name, changes)
    if (changes % changesEach === 0) this.#begin([name])
    else this.#later(quietMs)
  }

  /** Puts all changed tables in order now. */
  settled(): Promise<void> {
    this.#begin([...this.#changes.keys()])
    return this.#running
  }

  /** Resolves when no table is being put in order. */
  async close(): Promise<void> {
    clearTimeout(this.#timer?.timeout)
    this.#changes.clear()
    await this.#running
  }

  #later(ms: number): void {
    const at = performance.now() + ms
    if (this.#timer !== null && this.#timer.at <= at) return
    clearTimeout(this.#timer?.timeout)
    const timeout = setTimeout(() => {
      this.#timer = null
      this.#begin([...this.#changes.keys()])
    }, ms).unref()
    this.#timer = { timeout, at }
  }

  #begin(names: readonly string[]): void {
    this.#running = this.#running.then(async () => {
      for (const name of names) await this.#tend(name)
    })
  }

  async #tend(name: string): Promise<void> {
    const changes = this.#changes.get(name)
    if (changes === undefined) return
    this.#changes.delete(name)
    if (changes > 0) {
      this.#changes.set(name, 0)
      this.#later(this.#parts.versionMs)
    }
    try {
      const table = await this.#parts.open(name)
      if (table === null) return
      // another process may just have stored something
      await table.checkoutLatest()
      // the base is gone; an index would keep codes of what was removed
      if ((await table.countRows()) === 0) return await this.#parts.drop(name)
      await table.optimize({ cleanupOlderThan: new Date(Date.now() - this.#parts.versionMs) })
      await this.#index(table)
    } catch {
      // another node may do the same; the next change repeats it, and a search works without
    }
  }

  async #index(table: LanceTable): Promise<void> {
    const { lance, indexedFrom } = this.#parts
    if ((await table.countRows()) < indexedFrom) return
    const indexed = new Set((await table.listIndices()).flatMap(({ columns }) => columns))
    const columns = new Set((await table.schema()).fields.map(({ name }) => name))
    const missing = Object.entries(indexes(lance)).filter(([column]) => columns.has(column) && !indexed.has(column))
    for (const [column, config] of missing) await table.createIndex(column, { config })
  }
}

const indexes = ({ Index }: UpkeepParts['lance']): Readonly<Record<string, object>> => ({
  key: Index.btree(),
  id: Index.btree(),
  document: Index.btree(),
  vector: Index.ivfPq({ distanceType: 'cosine', maxIterations }),
})
