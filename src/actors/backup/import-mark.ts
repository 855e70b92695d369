import { projectScope, type RecordStore } from '#storage/index.ts'
import type { TypedKind } from '../records/schema.ts'
import { Table } from '../records/table.ts'

type ImportMarkData = {
  /** SHA-256 of the file. */
  readonly file: string
  /** Whether all of the file is in the store and was compared with it. */
  readonly done: boolean
}

/**
 * Records which file a project was imported from, by project id. It distinguishes a resumed import from a project that
 * exists already.
 */
export const importMarks: TypedKind<ImportMarkData> = { name: 'imports' }

/** Value of the rows' `project`; it is not the id of any project or organisation. */
const place = 'imports'

/** Reads and writes the import marks of a store. */
export class ImportMarks {
  readonly #table: Table<ImportMarkData>

  /** @param now ms since the epoch. */
  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, importMarks, now)
  }

  /** Returns the mark of this project; null when no import of it was begun. */
  async of(project: string): Promise<ImportMarkData | null> {
    return (await this.#table.get(projectScope(place), project))?.data ?? null
  }

  /** Records that an import of this file begins. */
  async begin(project: string, file: string): Promise<void> {
    const data = { file, done: false }
    if ((await this.#table.change(projectScope(place), project, { edit: () => data })) === null)
      await this.#table.insert({ id: project, project: place, data })
  }

  /** Records that the import is complete. */
  async finish(project: string): Promise<void> {
    await this.#table.change(projectScope(place), project, { edit: (row) => ({ ...row.data, done: true }) })
  }
}
