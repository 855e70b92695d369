import { type FileFilter, matchesFile } from '#actors/capability/file-filter.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import type { SourceFacts } from '../schema.ts'

/** What a search is limited to, by the metadata of sources: values of fields, or a filter of OpenAI's API. */
export type SourceCondition = { readonly fields: JsonObject } | { readonly file: FileFilter }

/** Whether a search may return hits of a source. */
export type SourceFilter = (source: FilteredSource) => boolean

/** What a filter examines of a source. */
export interface FilteredSource {
  readonly id: string
  readonly data: Pick<SourceFacts, 'metadata' | 'file_id'>
}

/** Returns the filter of a condition. */
export const sourceFilter = (condition: SourceCondition): SourceFilter => {
  if ('fields' in condition) return metadataFilter(condition.fields)
  const { file } = condition
  return ({ data }) => matchesFile(file, data.metadata)
}

/**
 * Returns a filter for sources whose metadata has the given values. A list in the filter matches any of its values, and
 * a list in the metadata matches by any of its elements. `source_id` is the id of the source, unless the metadata has a
 * field of that name.
 */
const metadataFilter = (filter: JsonObject): SourceFilter => {
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
