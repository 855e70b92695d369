import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { projectScope, type RecordStore } from '#storage/index.ts'
import { type MemoryVectorsData, memoryVectors, memoryVectorsId } from '../kinds.ts'

const scope = projectScope('system')
const maxKnown = 10_000

/** Projects that have memories, and how far the vectors of each have been made with its embedder. */
export class EmbeddedProjects {
  readonly #table: Table<MemoryVectorsData>
  readonly #known = new Set<string>()

  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, memoryVectors, now)
  }

  /** Records that a project has memories or is about to have some. @throws {StoreUnavailable} */
  async note(project: string): Promise<void> {
    if (this.#known.has(project)) return
    const data = { project, embedder: null, after: null }
    const id = memoryVectorsId(project)
    if ((await this.#table.get(scope, id)) === null) await this.#table.insert({ id, project: scope.project, data })
    if (this.#known.size >= maxKnown) this.#known.clear()
    this.#known.add(project)
  }

  /** Projects by id, after `after`. */
  page(after: string | undefined, limit: number): Promise<readonly Row<MemoryVectorsData>[]> {
    return this.#table.list(scope, { limit, ascending: true, ...(after !== undefined && { after }) })
  }

  /** Records that every memory up to `after` has its vector from this embedder. */
  async reached(project: string, embedder: string, after: string | null): Promise<void> {
    await this.#table.change(scope, memoryVectorsId(project), { edit: (row) => ({ ...row.data, embedder, after }) })
  }
}
