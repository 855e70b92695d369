import { projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import type { TypedKind } from '../records/schema.ts'
import { Table } from '../records/table.ts'

type ImportMarkData = {
  /** SHA-256 of the file. */
  readonly file: string
  /** All of the file is in the store and was compared with it. */
  readonly done: boolean
}

/** Which file a project was imported from, by the project's id; it distinguishes a resumed import from a foreign project. */
export const importMarks: TypedKind<ImportMarkData> = { name: 'imports' }

/** Not the id of any project or organisation. */
const place = 'imports'

/** The marks of a store. */
export class ImportMarks {
  readonly #table: Table<ImportMarkData>

  /** @param now ms since the epoch. */
  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, importMarks, now)
  }

  /** What is known of an import of this project. */
  async of(project: string): Promise<ImportMarkData | null> {
    return (await this.#table.get(projectScope(place), project))?.data ?? null
  }

  /** Notes that an import of this file begins. */
  async begin(project: string, file: string): Promise<void> {
    await this.#table.insert({ id: project, project: place, data: { file, done: false } })
  }

  /** Notes that it is complete. */
  async finish(project: string): Promise<void> {
    await this.#table.change(projectScope(place), project, { edit: (row) => ({ ...row.data, done: true }) })
  }
}
