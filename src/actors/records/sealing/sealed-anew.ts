import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import { projectScope, type RecordStore, type StoredRecord } from '#storage/index.ts'
import type { AnyKind, SealedField } from '../schema.ts'
import { openedOrNull, type SecretBox } from '../secret-box.ts'

/** A secret box that knows which of its keys sealed a value. */
export interface KeyedBox extends SecretBox {
  /** Whether the current key sealed the value. */
  isCurrent(sealed: string): boolean
}

/** Number of values that are not sealed under the current key. */
export interface SealedCount {
  /** Sealed under earlier master keys that are known. */
  readonly earlier: number
  /** Sealed under unknown keys, or altered since: they have to be entered again, or are swept when they expire. */
  readonly unreadable: number
}

/** Dependencies for finding and resealing values. */
export interface SealedParts {
  readonly records: RecordStore
  /** Kinds in processing order; the one that records that an earlier key is needed comes last. */
  readonly kinds: readonly AnyKind[]
  readonly box: KeyedBox
}

/** Few records per page, since a browser profile may be large. */
const pageSize = 20
const maxTries = 20

const sealedKinds = (kinds: readonly AnyKind[]): readonly AnyKind[] =>
  kinds.filter(({ sealed }) => sealed !== undefined)

/** Counts the values that are not sealed under the current key. @throws {StoreUnavailable} */
export const countSealed = async (parts: SealedParts): Promise<SealedCount> => {
  const count = { earlier: 0, unreadable: 0 }
  for (const kind of sealedKinds(parts.kinds)) {
    for await (const record of recordsOf(parts, kind)) {
      const { changed, unreadable } = sealedAnew(parts.box, kind, record)
      if (changed !== null) count.earlier += 1
      count.unreadable += unreadable
    }
  }
  return count
}

/**
 * Reseals under the current key the values that another key sealed, row by row: completed rows stay done when the
 * process dies, and a row that changes meanwhile is read again.
 *
 * @param goesOn false stops it between two pages.
 * @returns null when it was stopped.
 * @throws {StoreUnavailable} {Error} for a row that other writers keep changing: the rows after it are left for the
 *   next time
 */
export const sealAnew = async (parts: SealedParts, goesOn: () => boolean): Promise<SealedCount | null> => {
  const count = { earlier: 0, unreadable: 0 }
  for (const kind of sealedKinds(parts.kinds)) {
    for await (const page of pagesOf(parts, kind)) {
      if (!goesOn()) return null
      // written together, they are one write of an embedded store
      const done = await Promise.all(page.map((record) => rewritten(parts, kind, record)))
      for (const { earlier, unreadable } of done) {
        count.earlier += earlier
        count.unreadable += unreadable
      }
    }
  }
  return count
}

/**
 * Reseals one row. Its version is incremented, so that a writer that has read the old value cannot write it back; its
 * time of update stays.
 */
const rewritten = async (parts: SealedParts, kind: AnyKind, first: StoredRecord): Promise<SealedCount> => {
  const { records, box } = parts
  let record: StoredRecord | null = first
  for (let tried = 0; record !== null && tried < maxTries; tried += 1) {
    const { changed, unreadable } = sealedAnew(box, kind, record)
    if (changed === null) return { earlier: 0, unreadable }
    if ((await records.replace(kind, { ...changed, version: record.version + 1 })) === 'done')
      return { earlier: 1, unreadable }
    record = await records.get(kind, projectScope(first.project), first.id)
  }
  // otherwise an earlier key would be reported as removable while a row is still sealed under it
  if (record !== null) throw new Error(`${kind.name} ${first.id} changes too often to be sealed anew`)
  return { earlier: 0, unreadable: 0 }
}

interface Anew {
  /** null: nothing in it was sealed under another known key. */
  readonly changed: StoredRecord | null
  readonly unreadable: number
}

const sealedAnew = (box: KeyedBox, { sealed = [] }: AnyKind, record: StoredRecord): Anew => {
  let data = record.data
  let unreadable = 0
  for (const field of sealed) {
    const value = sealedValue(field, record)
    if (value === null || box.isCurrent(value)) continue
    const opened = openedOrNull(box, value, field.aad(record))
    if (opened === null) unreadable += 1
    else data = { ...data, [field.field]: box.seal(opened, field.aad(record)) }
  }
  return { changed: data === record.data ? null : { ...record, data }, unreadable }
}

const sealedValue = ({ field, isSealed }: SealedField, { data }: StoredRecord): string | null => {
  const value = data[field]
  return typeof value === 'string' && value !== '' && isSealed?.(value) !== false ? value : null
}

async function* pagesOf({ records }: SealedParts, kind: AnyKind): AsyncGenerator<readonly StoredRecord[]> {
  let after: string | null = null
  for (;;) {
    const page: readonly StoredRecord[] = await records.ofEveryProject(kind, after, pageSize)
    if (page.length > 0) yield page
    if (page.length < pageSize) return
    after = page.at(-1)?.id ?? null
    // lets other callers of an embedded store run in between
    await nextSlice()
  }
}

async function* recordsOf(parts: SealedParts, kind: AnyKind): AsyncGenerator<StoredRecord> {
  for await (const page of pagesOf(parts, kind)) yield* page
}
