import { isOfDocument } from '#gateway/providers/anthropic/anthropic-citations.ts'
import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { Source } from './response-output.ts'

/** `[3]`: the form in which the model is instructed to cite its sources. */
const marks = /\[(\d{1,3})\]/g

/** Returns the citations of sources in a text, as annotations of chat completions. Indexes are in UTF-16 units. */
export const citationsIn = (text: string, sources: readonly Source[]): readonly WireObject[] => {
  if (sources.length === 0) return []
  return Array.from(text.matchAll(marks)).flatMap(({ index, 0: mark, 1: number }): readonly WireObject[] => {
    const source = sources[Number(number) - 1]
    if (source === undefined) return []
    if ('file_id' in source) {
      const { file_id, filename, place } = source
      return [{ type: 'file_citation', file_citation: { index, file_id, filename, ...place } }]
    }
    const { url, title } = source
    const url_citation = { start_index: index, end_index: index + mark.length, url, title }
    return [{ type: 'url_citation', url_citation }]
  })
}

/** Returns the citations of a delta that are of documents, which are no annotations of chat completions. */
export const documentsCited = ({ citations }: WireObject): readonly WireObject[] =>
  arrayOf(citations)
    .map(objectOf)
    .filter(isOfDocument)
    .map(({ file_id, document_title, title, source, cited_text, start_index, end_index }) => {
      const filename = textOf(document_title) || textOf(title) || textOf(source)
      return {
        type: 'file_citation',
        file_citation: { file_id: textOf(file_id), filename, cited_text, start_index, end_index },
      }
    })
