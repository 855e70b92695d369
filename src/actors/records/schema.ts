import type { JsonObject, RecordKind, StoredRecord } from '#storage/index.ts'
import type { SecretBox } from './secret-box.ts'

/** A kind of record whose `data` is a `T`, with its properties for backup, export and erasure. */
export interface TypedKind<T extends JsonObject> extends RecordKind {
  /** Carries the type only; never set at run time. */
  readonly dataType?: T
  /** Fields that are sealed by the secret box: a backup reseals them, and tenant exports omit them. */
  readonly sealed?: readonly SealedField[]
  /** Fields that concern the project rather than the tenant: tenant exports omit them. */
  readonly unexported?: readonly string[]
  /** Treatment of the records when their tenant or user is erased. Absent: they are removed. */
  readonly erasure?: Erasure
  /** Name of the list in a tenant's export; null: omitted, as derived from other kinds. Absent: the kind's own name. */
  readonly exported?: string | null
  /** Id of a project's record in a kind that belongs to the installation; the project's backup includes it. */
  readonly ofProject?: (project: string) => string
  /** Masks the fields that people see sanitized, as in the API: tenant exports show the others as they are stored. */
  readonly masked?: (data: JsonObject) => JsonObject
  /** Names of blobs whose text, in this order, becomes the field `text` of the exported record. */
  readonly textBlobs?: (data: JsonObject) => readonly string[]
  /** The list in an exported row of the bytes that its actor keeps, whose blobs are named by this and their ids. */
  readonly byteBlobs?: { readonly list: string; readonly named: string }
}

/** A kind with any type of data. */
export type AnyKind = TypedKind<JsonObject>

/**
 * How records are treated on erasure.
 *
 * - `kept`: the records outlive the tenant and the user.
 * - `anonymised`: they are removed with the tenant; when a user is erased they stay, with `external_user_id` null and
 *   no owner.
 * - `last`: they are removed with the tenant; that of a user is removed by the erasure of the user, at its end.
 */
type Erasure = 'kept' | 'anonymised' | 'last'

/** A field of a record's data that is sealed by the secret box. */
export interface SealedField {
  readonly field: string
  /** Whether a value is sealed; every value is when absent. */
  readonly isSealed?: (value: string) => boolean
  /** Associated data under which the value was sealed. */
  readonly aad: (record: StoredRecord) => string
  /** Replacement for a value that cannot be opened; null: the record is left out. */
  readonly instead: ((box: SecretBox, record: StoredRecord) => string) | null
  /**
   * The fields, in the kind or in what it belongs to, with the address that receives the value: a change of one of them
   * drops the value, or has to set it again (specs/decisions/0020-credentials.md). Null: the value is never
   * sent, or only to an address that is fixed or stored with it.
   */
  readonly sentTo: readonly string[] | null
  /** Description of the loss for operators. */
  readonly loss: string
}

/** A stored record whose `data` is known. */
export interface Row<T extends JsonObject> extends StoredRecord {
  readonly data: T
}

/** Fields of `T` that identify one row: any subset of them. */
export type KeyOf<T extends JsonObject> = { readonly [Field in keyof T]?: T[Field] } & JsonObject

/** Types a record of `kind`. Only `Table` writes records of a kind, so what is read has the type that was written. */
export const rowOf = <T extends JsonObject>(_kind: TypedKind<T>, record: StoredRecord): Row<T> => record as Row<T>

/** A value as the API shows it: null when it is absent. */
type Shown<Value> = undefined extends Value ? Exclude<Value, undefined> | null : Value

/** Returns fields as the API shows them: by name, the field of `source` that each shows; null when it is absent. */
export const shownFields = <Source extends object, Fields extends Readonly<Record<string, keyof Source>>>(
  fields: Fields,
  source: Source,
) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, source[field] ?? null])) as {
    readonly [Name in keyof Fields]: Shown<Source[Fields[Name]]>
  }

/** Returns fields each of which shows the field of the same name. */
export const namesOf = <Name extends string>(fields: Readonly<Record<Name, unknown>>) =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, name])) as { readonly [Each in Name]: Each }

/** Returns these fields of an object, without those that are absent. */
export const picked = <Source extends object, Name extends keyof Source>(source: Source, names: readonly Name[]) =>
  Object.fromEntries(names.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]]]))) as Pick<
    Source,
    Name
  >
