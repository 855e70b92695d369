import type { Row } from '#records/schema.ts'
import type { RecordStore } from '#storage/index.ts'
import type { Clock } from '../runtime/index.ts'
import { type MemoryData, memories } from './kinds.ts'

const dayMs = 86_400_000
/** Batching window in ms: a store that writes to disk does so once for all notes of a window. */
const gatherMs = 1_000

/** Maximum number of waiting notes. Further ones are dropped; the next search on the same day makes them again. */
export const maxPendingUses = 2_000

/** Records in the background on which day memories were last found. A lost note makes one appear idle for longer. */
export class LastUsedRecorder {
  readonly #records: RecordStore
  readonly #clock: Clock
  readonly #waiting = new Map<string, Row<MemoryData>>()
  #cancel: (() => void) | null = null

  constructor(records: RecordStore, clock: Clock) {
    this.#records = records
    this.#clock = clock
  }

  /** Records that these memories were found now. */
  note(rows: Iterable<Row<MemoryData>>): void {
    const day = Math.floor(this.#clock.now() / dayMs) * dayMs
    for (const row of rows) {
      if (row.data.used_at_ms === day || this.#waiting.size >= maxPendingUses) continue
      this.#waiting.set(row.id, { ...row, version: row.version + 1, data: { ...row.data, used_at_ms: day } })
    }
    if (this.#waiting.size > 0) this.#cancel ??= this.#clock.after(gatherMs, () => this.#write())
  }

  close(): void {
    this.#cancel?.()
    this.#waiting.clear()
  }

  #write(): void {
    this.#cancel = null
    const rows = [...this.#waiting.values()]
    this.#waiting.clear()
    // the write fails for a memory that was changed in the meantime, so the change stays
    for (const row of rows) this.#records.replace(memories, row).catch(() => {})
  }
}
