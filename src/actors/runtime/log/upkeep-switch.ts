import type { RecordKind, RecordStore, StoredRecord } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import type { Clock } from '../clock.ts'

/** Records of housekeeping tasks that operators may pause: one per task, absent until it is first paused. */
export const upkeepRows: RecordKind = { name: 'upkeep' }

/** How long a pause state that was read is reused, in ms. */
const freshMs = 2000

const scope = projectScope('system')

/** When a housekeeping task was paused, and by whom. */
export interface Paused {
  /** ms since the epoch. */
  readonly at: number
  readonly by: string
}

/** Pauses and resumes housekeeping tasks of the whole installation; a pause survives restarts. */
export class UpkeepSwitch {
  readonly #records: RecordStore
  readonly #clock: Clock
  readonly #known = new Map<string, { readonly readAt: number; readonly paused: Paused | null }>()

  constructor({ records, clock }: { readonly records: RecordStore; readonly clock: Clock }) {
    this.#records = records
    this.#clock = clock
  }

  /** Whether a task is paused; the answer may be up to two seconds old. @throws {StoreUnavailable} */
  async isPaused(id: string): Promise<boolean> {
    const known = this.#known.get(id)
    if (known !== undefined && this.#clock.steady() - known.readAt < freshMs) return known.paused !== null
    return (await this.paused(id)) !== null
  }

  /** Reads when and by whom a task was paused; null while it is not. @throws {StoreUnavailable} */
  async paused(id: string): Promise<Paused | null> {
    const readAt = this.#clock.steady()
    const paused = pausedIn(await this.#records.get(upkeepRows, scope, id))
    this.#known.set(id, { readAt, paused })
    return paused
  }

  /** Pauses a task; does nothing when it is already paused. @throws {StoreUnavailable} */
  pause(id: string, by: string): Promise<Paused | null> {
    return this.#set(id, (before) => before ?? { at: this.#clock.now(), by })
  }

  /** Resumes a task. @throws {StoreUnavailable} */
  async resume(id: string): Promise<void> {
    await this.#set(id, () => null)
  }

  async #set(id: string, change: (before: Paused | null) => Paused | null): Promise<Paused | null> {
    for (;;) {
      const stored = await this.#records.get(upkeepRows, scope, id)
      const paused = change(pausedIn(stored))
      const now = this.#clock.now()
      const record: StoredRecord = {
        ...{ id, project: scope.project, tenant: null, user: null, expires_at: null },
        version: (stored?.version ?? 0) + 1,
        created_at: stored?.created_at ?? now,
        updated_at: now,
        data: paused === null ? {} : { paused_at: paused.at, paused_by: paused.by },
      }
      const written = await (stored === null
        ? this.#records.insert(upkeepRows, record)
        : this.#records.replace(upkeepRows, record))
      if (written !== 'done') continue
      this.#known.set(id, { readAt: this.#clock.steady(), paused })
      return paused
    }
  }
}

const pausedIn = (stored: StoredRecord | null): Paused | null => {
  const { paused_at: at, paused_by: by } = stored?.data ?? {}
  return typeof at === 'number' && typeof by === 'string' ? { at, by } : null
}
