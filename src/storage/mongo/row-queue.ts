import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from 'mongodb'
import { jsonOf } from '../long-json.ts'
import { type RecordKind, type StoredRecord, StoreUnavailable } from '../ports.ts'
import { asPortError, duplicateKey, isPassing } from './errors.ts'
import { foundBy } from './row-lists.ts'
import { byId, type RecordDocument, toRecordUpdate, type WriteError, writeErrorsIn } from './schema.ts'

/** One statement of a batch. */
interface Update {
  readonly q: { readonly _id: string; readonly project: string; readonly version: { readonly $lt: number } }
  readonly u: Omit<RecordDocument, '_id'>
  readonly upsert: boolean
  readonly hint: typeof byId.hint
}

interface Call {
  left: number
  error: unknown
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** The newest version of one queued row, and all callers that wait for it or for an older one. */
interface Waiting {
  record: StoredRecord
  readonly calls: Call[]
}

/** Queued rows of one kind by id. */
interface Group {
  readonly kind: RecordKind
  readonly rows: Map<string, Waiting>
}

/**
 * Upserts of list rows. All rows of one turn of the event loop, or of one round trip, go into one command per kind, one
 * command at a time. Of several queued versions of a row, only the highest is written.
 *
 * Writes are acknowledged by a majority with its journal. A commit is closed once its rows are acknowledged, and this
 * process may outlive the server: a row lost in a server crash would be missing behind a closed commit
 * (specs/decisions/0004-projections.md).
 */
export class RowQueue {
  readonly #db: Db
  readonly #declared: (kind: RecordKind) => RecordKind
  #groups = new Map<string, Group>()
  #running: Promise<void> | null = null

  /** @param declared the kind as the store was prepared for it. */
  constructor(db: Db, declared: (kind: RecordKind) => RecordKind) {
    this.#db = db
    this.#declared = declared
  }

  /** Resolves when each row, or a newer version of it, is written. @throws {StoreUnavailable} */
  project(rows: readonly { readonly kind: RecordKind; readonly record: StoredRecord }[]): Promise<void> {
    if (rows.length === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const call: Call = { left: rows.length, error: null, resolve, reject }
      for (const { kind, record } of rows) this.#add(kind, record, call)
      this.#running ??= this.#run()
    })
  }

  /** Resolves when nothing is left to write; never rejects. */
  async drain(): Promise<void> {
    await this.#running
  }

  #add(kind: RecordKind, record: StoredRecord, call: Call): void {
    const group = this.#groups.get(kind.name) ?? { kind, rows: new Map<string, Waiting>() }
    this.#groups.set(kind.name, group)
    const waiting = group.rows.get(record.id)
    if (!waiting) group.rows.set(record.id, { record, calls: [call] })
    else {
      waiting.calls.push(call)
      if (record.version > waiting.record.version) waiting.record = record
    }
  }

  async #run(): Promise<void> {
    while (this.#groups.size > 0) {
      await nextTurn()
      const groups = this.#groups
      this.#groups = new Map()
      await Promise.all([...groups.values()].map((group) => this.#write(group)))
    }
    this.#running = null
  }

  async #write({ kind, rows }: Group): Promise<void> {
    const batch = [...rows.values()]
    try {
      const errors = await this.#upsert(kind, batch, true)
      const passed = errors.filter(isOvertaken).flatMap(({ index }) => batch[index] ?? [])
      const again = passed.length > 0 ? await this.#upsert(kind, passed, false) : []
      for (const error of errors) if (!isOvertaken(error)) fail(batch[error.index], kind, error)
      for (const error of again) fail(passed[error.index], kind, error)
    } catch (error) {
      for (const { calls } of batch) for (const call of calls) call.error ??= asPortError(error)
    }
    for (const { calls } of batch) for (const call of calls) finish(call)
  }

  /**
   * Writes rows whose stored version is lower. An upsert that meets a higher version tries to insert and violates
   * `_id`; so does one that races with another host's first insert, hence the second round without `upsert`.
   */
  async #upsert(kind: RecordKind, batch: readonly Waiting[], upsert: boolean): Promise<readonly WriteError[]> {
    const updates: Update[] = []
    for (const { record } of batch) {
      const u = toRecordUpdate(record, foundBy(this.#declared(kind), record), await jsonOf(record.data))
      const q = { _id: record.id, project: record.project, version: { $lt: record.version } }
      updates.push({ q, u, upsert, ...byId })
    }
    const writeConcern = { w: 'majority', j: true } as const
    return writeErrorsIn(await this.#db.command({ update: kind.name, updates, ordered: false, writeConcern }))
  }
}

const isOvertaken = ({ code, keyPattern }: WriteError): boolean =>
  code === duplicateKey && keyPattern !== undefined && '_id' in keyPattern

/** Of a cluster, one shard may fail alone: then a statement has the code that is otherwise the command's. */
const fail = (row: Waiting | undefined, kind: RecordKind, { code }: WriteError): void => {
  for (const call of row?.calls ?? []) {
    call.error ??= isPassing(code)
      ? new StoreUnavailable(`mongodb refused a row with code ${code}`)
      : new Error(`${kind.name} ${row?.record.id} was refused: it breaks a unique key or is too large`)
  }
}

const finish = (call: Call): void => {
  if (--call.left > 0) return
  if (call.error === null) call.resolve()
  else call.reject(call.error)
}
