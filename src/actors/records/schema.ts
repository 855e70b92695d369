import type { JsonObject, RecordKind, StoredRecord } from '../../storage/ports.ts'

/** A kind of record whose `data` is a `T`. */
export interface TypedKind<T extends JsonObject> extends RecordKind {
  /** Carries the type only; never there at run time. */
  readonly dataType?: T
}

/** A stored record whose `data` is known. */
export interface Row<T extends JsonObject> extends StoredRecord {
  readonly data: T
}

/** The fields of `T` that name one row: any part of it. */
export type KeyOf<T extends JsonObject> = { readonly [Field in keyof T]?: T[Field] } & JsonObject

/** Gives a record of `kind` its type. Only `Table` writes records of a kind, so what is read is what was written. */
export const rowOf = <T extends JsonObject>(_kind: TypedKind<T>, record: StoredRecord): Row<T> => record as Row<T>
