import type { Row } from '#records/schema.ts'
import type { Clock } from '#runtime/clock.ts'
import type { RecordStore } from '#storage/ports.ts'
import { type MemoryData, memories } from './kinds.ts'

const dayMs = 86_400_000
/** Notes are gathered for so long: a store that writes to disk does so once for all of them, in ms. */
const gatherMs = 1_000

/** Notes that wait at most. Those beyond are left out, and made by the next search of their day. */
export const maxUsedNotes = 2_000

/**
 * Notes the day on which memories were found last, behind the answers. A note that is lost makes a memory seem idle for a
 * day longer, no more.
 */
export class UsedDays {
  readonly #records: RecordStore
  readonly #clock: Clock
  readonly #waiting = new Map<string, Row<MemoryData>>()
  #cancel: (() => void) | null = null

  constructor(records: RecordStore, clock: Clock) {
    this.#records = records
    this.#clock = clock
  }

  /** Notes that these were found now. */
  note(rows: Iterable<Row<MemoryData>>): void {
    const day = Math.floor(this.#clock.now() / dayMs) * dayMs
    for (const row of rows) {
      if (row.data.used_at_ms === day || this.#waiting.size >= maxUsedNotes) continue
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
    // one that was changed meanwhile keeps its change
    for (const row of rows) this.#records.replace(memories, row).catch(() => {})
  }
}
