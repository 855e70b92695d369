import type { Json, JsonObject } from '#storage/index.ts'
import type { SourceFacts } from '../schema.ts'

/** Whether a search may return hits of a source. */
export type SourceFilter = (source: FilteredSource) => boolean

/** What a filter examines of a source. */
export interface FilteredSource {
  readonly id: string
  readonly data: Pick<SourceFacts, 'metadata' | 'file_id'>
}

/**
 * Returns a filter for sources whose metadata has the given values. A list in the filter matches any of its values, and
 * a list in the metadata matches by any of its elements. `source_id` is the id of the source, unless the metadata has a
 * field of that name.
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
