import { isOfDocument } from '#gateway/providers/anthropic/anthropic-citations.ts'
import { arrayOf, countOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { GeminiAnswer } from './gemini-answer.ts'

/**
 * Returns what a text cites as Google reports it, with places in bytes; nothing for a text without citations.
 *
 * @param cited a message, or what its deltas cite: `annotations` of addresses, and `citations`, which are of documents too.
 */
export const groundingOf = (
  text: string,
  { citations, annotations }: WireObject,
): Pick<GeminiAnswer['candidates'][number], 'groundingMetadata'> => {
  const addresses = arrayOf(annotations).map((each) => objectOf(each).url_citation)
  const documents = arrayOf(citations).filter((each) => isObject(each) && isOfDocument(each))
  const quotes = [...addresses, ...documents].filter(isObject)
  if (quotes.length === 0) return {}
  const chunks = new Map<string, { readonly at: number; readonly chunk: WireObject }>()
  const bytes = bytesIn(text)
  const groundingSupports = quotes.map((quote) => {
    const chunk = chunkOf(quote)
    const known = chunks.get(JSON.stringify(chunk)) ?? { at: chunks.size, chunk }
    chunks.set(JSON.stringify(chunk), known)
    const [from, to] = [countOf(quote.start_index), countOf(quote.end_index)]
    const segment = { startIndex: bytes(from), endIndex: bytes(to), text: text.slice(from, to) }
    return { segment, groundingChunkIndices: [known.at] }
  })
  return {
    groundingMetadata: { groundingChunks: [...chunks.values()].map(({ chunk }) => chunk), groundingSupports },
  }
}

const chunkOf = ({ url, title, document_title, source, cited_text }: WireObject): WireObject =>
  textOf(url) === ''
    ? {
        retrievedContext: {
          title: textOf(document_title) || textOf(title) || textOf(source),
          text: textOf(cited_text),
        },
      }
    : { web: { uri: url, title: textOf(title) } }

/** Returns the number of bytes before a place in UTF-16 units. Places mostly come in order, so that each part is counted once. */
const bytesIn = (text: string): ((place: number) => number) => {
  let [known, counted] = [0, 0]
  return (place) => {
    if (place < known) [known, counted] = [0, 0]
    counted += Buffer.byteLength(text.slice(known, place))
    known = place
    return counted
  }
}
