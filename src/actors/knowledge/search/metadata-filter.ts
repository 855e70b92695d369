import type { Json, JsonObject } from '#storage/ports.ts'
import type { SourceRow } from '../schema.ts'

/** Whether a source may be found. */
export type SourceFilter = (source: SourceRow) => boolean

/**
 * Sources whose metadata has these values: a list takes any of its values, and a list in the metadata has any of its
 * own. `source_id` is the source's id.
 */
export const metadataFilter = (filter: JsonObject): SourceFilter => {
  const wanted = Object.entries(filter).map(([field, value]) => ({ field, values: new Set(listOf(value).map(keyOf)) }))
  return ({ id, data }) =>
    wanted.every(({ field, values }) => {
      const held = field === 'source_id' && data.metadata.source_id === undefined ? id : data.metadata[field]
      return held !== undefined && listOf(held).some((each) => values.has(keyOf(each)))
    })
}

const listOf = (value: Json | undefined): readonly Json[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value]

const keyOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))
