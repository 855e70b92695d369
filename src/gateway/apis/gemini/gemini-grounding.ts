import { maxCitations } from '#gateway/call/streaming/streamed-citations.ts'
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
  { citations, annotations }: { readonly citations?: unknown; readonly annotations?: unknown },
): Pick<GeminiAnswer['candidates'][number], 'groundingMetadata'> => {
  const addresses = arrayOf(annotations).map((each) => objectOf(each).url_citation)
  const documents = arrayOf(citations).filter((each) => isObject(each) && isOfDocument(each))
  const quotes = [...addresses, ...documents].filter(isObject).slice(0, maxCitations)
  if (quotes.length === 0) return {}
  const chunks = new Map<string, { readonly at: number; readonly chunk: WireObject }>()
  const placesOf = (quote: WireObject) => [countOf(quote.start_index), countOf(quote.end_index)] as const
  const bytes = bytesAt(text, quotes.flatMap(placesOf))
  let quoted = 0
  const groundingSupports = quotes.map((quote) => {
    const chunk = chunkOf(quote)
    const known = chunks.get(JSON.stringify(chunk)) ?? { at: chunks.size, chunk }
    chunks.set(JSON.stringify(chunk), known)
    const [from, to] = placesOf(quote)
    const part = text.slice(from, to)
    quoted += part.length
    const segment = {
      ...{ startIndex: bytes.get(from), endIndex: bytes.get(to) },
      ...(quoted <= maxQuoted && { text: part }),
    }
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

/** Characters of segments in one answer: each citation of a long text may have all of it, and the places are enough. */
const maxQuoted = 1024 * 1024

/** Returns the number of bytes before places in UTF-16 units. Each part of the text is counted once. */
const bytesAt = (text: string, places: readonly number[]): ReadonlyMap<number, number> => {
  let [known, counted] = [0, 0]
  const sorted = [...new Set(places)].sort((one, other) => one - other)
  return new Map(
    sorted.map((place) => {
      counted += Buffer.byteLength(text.slice(known, place))
      known = place
      return [place, counted]
    }),
  )
}
