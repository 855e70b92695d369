import type { Json, JsonObject } from '#specs/dsl/json.ts'

/** The fields of a list row that show fields of a context: by name, the field of the context. */
export type FieldsOf<Fields extends Readonly<Record<string, keyof Context>>, Context> = {
  readonly [Name in keyof Fields]: Context[Fields[Name]]
}

/** Returns the fields of a list row, without those that the context does not have. */
export const rowFields = (fields: Readonly<Record<string, string>>, context: JsonObject): JsonObject => {
  const row: Record<string, Json> = {}
  for (const name in fields) {
    const value = context[fields[name] ?? '']
    if (value !== undefined) row[name] = value
  }
  return row
}
