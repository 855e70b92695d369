import type { JsonObject, RecordKind, StoredRecord } from '#storage/ports.ts'
import type { SecretBox } from './secret-box.ts'

/** A kind of record whose `data` is a `T`, with what backup, export and erasure have to know of it. */
export interface TypedKind<T extends JsonObject> extends RecordKind {
  /** Carries the type only; never there at run time. */
  readonly dataType?: T
  /** Fields that the secret box has sealed: a backup seals them anew, and no export of a tenant shows them. */
  readonly sealed?: readonly SealedField[]
  /** Fields of the project and not of the tenant that the record is about: no export of a tenant has them. */
  readonly unexported?: readonly string[]
  /** What becomes of a tenant's or a user's records when they are erased. Absent: they are removed. */
  readonly erasure?: Erasure
  /** Name of the list in a tenant's export; null: derived from other kinds, so left out. Absent: the kind's own name. */
  readonly exported?: string | null
  /** Id of the one record that a project has among those of the installation: its backup has it. */
  readonly ofProject?: (project: string) => string
  /** Blobs, in order, whose text the export has as the field `text` of the record. */
  readonly textBlobs?: (data: JsonObject) => readonly string[]
}

/** Any kind, whatever its data. */
export type AnyKind = TypedKind<JsonObject>

/**
 * - `kept`: the records outlive the tenant and the user.
 * - `anonymised`: they go with the tenant; when a user is erased they stay, with `external_user_id` null and no owner.
 */
export type Erasure = 'kept' | 'anonymised'

/** A field of a record's data that the secret box has sealed. */
export interface SealedField {
  readonly field: string
  /** Absent: every value is. */
  readonly isSealed?: (value: string) => boolean
  /** What the value was sealed for. */
  readonly aad: (record: StoredRecord) => string
  /** What takes the place of a value that cannot be opened; null: the record is left out. */
  readonly instead: ((box: SecretBox, record: StoredRecord) => string) | null
  /** What operators read then. */
  readonly loss: string
}

/** A stored record whose `data` is known. */
export interface Row<T extends JsonObject> extends StoredRecord {
  readonly data: T
}

/** The fields of `T` that name one row: any part of it. */
export type KeyOf<T extends JsonObject> = { readonly [Field in keyof T]?: T[Field] } & JsonObject

/** Gives a record of `kind` its type. Only `Table` writes records of a kind, so what is read is what was written. */
export const rowOf = <T extends JsonObject>(_kind: TypedKind<T>, record: StoredRecord): Row<T> => record as Row<T>
