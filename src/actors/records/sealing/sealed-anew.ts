import { projectScope } from '#specs/scope.ts'
import type { RecordStore, StoredRecord } from '#storage/ports.ts'
import type { AnyKind, SealedField } from '../schema.ts'
import type { SecretBox } from '../secret-box.ts'

/** A box that knows which of its keys sealed a value. */
export interface KeyedBox extends SecretBox {
  /** Whether the key that seals now has sealed it. */
  isCurrent(sealed: string): boolean
}

/** What became of sealed values that are not under the key that seals now. */
export interface SealedCount {
  /** Of earlier master keys that are known. */
  readonly earlier: number
  /** Of keys that are not known, or changed since: they have to be given anew, or are swept when they expire. */
  readonly unreadable: number
}

/** What sealed values are found by. */
export interface SealedParts {
  readonly records: RecordStore
  /** In this order: what says that an earlier key is needed comes last. */
  readonly kinds: readonly AnyKind[]
  readonly box: KeyedBox
}

/** A profile of a browser may be long: few are held at a time. */
const pageSize = 20
const maxTries = 20

const sealedKinds = (kinds: readonly AnyKind[]): readonly AnyKind[] =>
  kinds.filter(({ sealed }) => sealed !== undefined)

/** Counts what is not sealed under the key that seals now. @throws {StoreUnavailable} */
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
 * Seals under the key that seals now what another one has sealed, row by row: what was done stays done when the process
 * dies, and a row that changes meanwhile is read again.
 *
 * @param goesOn false ends it between two pages. @returns null when it was ended.
 * @throws {StoreUnavailable} {Error} for a row that other writers do not leave alone: what comes behind it is left for the next time
 */
export const sealAnew = async (parts: SealedParts, goesOn: () => boolean): Promise<SealedCount | null> => {
  const count = { earlier: 0, unreadable: 0 }
  for (const kind of sealedKinds(parts.kinds)) {
    for await (const page of pagesOf(parts, kind)) {
      if (!goesOn()) return null
      // together they are one write of an embedded store
      const done = await Promise.all(page.map((record) => rewritten(parts, kind, record)))
      for (const { earlier, unreadable } of done) {
        count.earlier += earlier
        count.unreadable += unreadable
      }
    }
  }
  return count
}

/** Its version rises, since a writer that has read the value of before must not put it back; when it was updated stays. */
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
  // an earlier key must not be called free to go while a row is sealed under it
  if (record !== null) throw new Error(`${kind.name} ${first.id} changes too often to be sealed anew`)
  return { earlier: 0, unreadable: 0 }
}

interface Anew {
  /** null: nothing in it was sealed under another key that is known. */
  readonly changed: StoredRecord | null
  readonly unreadable: number
}

const sealedAnew = (box: KeyedBox, { sealed = [] }: AnyKind, record: StoredRecord): Anew => {
  let data = record.data
  let unreadable = 0
  for (const field of sealed) {
    const value = sealedValue(field, record)
    if (value === null || box.isCurrent(value)) continue
    const opened = openedValue(box, value, field.aad(record))
    if (opened === null) unreadable += 1
    else data = { ...data, [field.field]: box.seal(opened, field.aad(record)) }
  }
  return { changed: data === record.data ? null : { ...record, data }, unreadable }
}

const sealedValue = ({ field, isSealed }: SealedField, { data }: StoredRecord): string | null => {
  const value = data[field]
  return typeof value === 'string' && value !== '' && isSealed?.(value) !== false ? value : null
}

const openedValue = (box: SecretBox, value: string, aad: string): string | null => {
  try {
    return box.open(value, aad)
  } catch {
    return null
  }
}

async function* pagesOf({ records }: SealedParts, kind: AnyKind): AsyncGenerator<readonly StoredRecord[]> {
  let after: string | null = null
  for (;;) {
    const page: readonly StoredRecord[] = await records.ofEveryProject(kind, after, pageSize)
    if (page.length > 0) yield page
    if (page.length < pageSize) return
    after = page.at(-1)?.id ?? null
    // other callers of an embedded store come in between
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function* recordsOf(parts: SealedParts, kind: AnyKind): AsyncGenerator<StoredRecord> {
  for await (const page of pagesOf(parts, kind)) yield* page
}
