import type { JsonObject, StoredRecord } from '#storage/index.ts'
import { projects } from '../accounts/kinds.ts'
import type { AnyKind, SealedField } from '../records/schema.ts'
import type { SecretBox } from '../records/secret-box.ts'

/** A record whose secrets were sealed again. */
export interface Resealed {
  /** Null when the record cannot be kept, because a secret that it needs cannot be opened or replaced. */
  readonly record: StoredRecord | null
  readonly losses: readonly string[]
}

/** The sealed fields that kinds declare, by the kind's name. */
export class SealedFields {
  readonly #fields: ReadonlyMap<string, readonly SealedField[]>

  constructor(kinds: readonly AnyKind[]) {
    this.#fields = new Map(kinds.map(({ name, sealed = [] }) => [name, sealed]))
  }

  /** Opens a record's secrets with one box and seals them with the other. */
  resealed(kind: string, record: StoredRecord, boxes: { readonly from: SecretBox; readonly to: SecretBox }): Resealed {
    let now: StoredRecord | null = record
    const losses: string[] = []
    for (const sealed of this.#fields.get(kind) ?? []) {
      const value = now?.data[sealed.field]
      if (now === null || typeof value !== 'string' || sealed.isSealed?.(value) === false) continue
      const opened = attempt(() => boxes.from.open(value, sealed.aad(record)))
      if (opened === null) losses.push(sealed.loss)
      const again: string | null =
        opened === null ? (sealed.instead?.(boxes.to, record) ?? null) : boxes.to.seal(opened, sealed.aad(record))
      now = again === null ? null : withData(now, { [sealed.field]: again })
    }
    return { record: now, losses }
  }

  /** Returns the record without values that differ between stores: its sealed fields, and a project's organisation. */
  unsealed(kind: string, record: StoredRecord): StoredRecord {
    const fields = this.#fields.get(kind) ?? []
    const bare = withData(record, Object.fromEntries(fields.map(({ field }) => [field, null])))
    return kind === projects.name ? { ...bare, project: '' } : bare
  }
}

const withData = (record: StoredRecord, change: JsonObject): StoredRecord => ({
  ...record,
  data: { ...record.data, ...change },
})

const attempt = (open: () => string): string | null => {
  try {
    return open()
  } catch {
    return null
  }
}
