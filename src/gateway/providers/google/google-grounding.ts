import { maxCitations } from '#gateway/call/streaming/streamed-citations.ts'
import { arrayOf, countOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { citedText } from '../anthropic/anthropic-citations.ts'

/** A part of an answer: a text has its place among the texts of the answer, in UTF-16 units. */
interface GroundedPart {
  readonly isText: boolean
  readonly start: number
  text: string
}

/** Gathers the texts of a candidate and what they cite: Google names places by the bytes of a part. */
export class Grounding {
  readonly #parts: GroundedPart[] = []
  readonly #queries = new Set<string>()
  #metadata: WireObject = {}
  #length = 0

  /** Adds the next parts of the answer. The first of a later event continues the last one, if both are of a kind. */
  add(parts: readonly WireObject[], metadata: unknown): void {
    for (const [place, part] of parts.entries()) {
      const isText = part.thought !== true && typeof part.text === 'string'
      const last = this.#parts.at(-1)
      const text = isText ? textOf(part.text) : ''
      if (place === 0 && last?.isText === isText) last.text += text
      else this.#parts.push({ isText, start: this.#length, text })
      this.#length += text.length
    }
    if (!isObject(metadata)) return
    for (const query of arrayOf(metadata.webSearchQueries)) if (textOf(query) !== '') this.#queries.add(textOf(query))
    if (arrayOf(metadata.groundingSupports).length > 0) this.#metadata = metadata
  }

  /** Number of searches of the web, which Google charges for; a later event may repeat those of an earlier one. */
  get searches(): number {
    return this.#queries.size
  }

  /** Returns the fields of a delta for what the texts cite; null when they cite nothing. */
  delta(): WireObject | null {
    const chunks = arrayOf(this.#metadata.groundingChunks).map((chunk) => sourceOf(objectOf(chunk)))
    const supports = arrayOf(this.#metadata.groundingSupports).map(objectOf).slice(0, maxCitations)
    const annotations: unknown[] = []
    const citations: unknown[] = []
    for (const [part, own] of Map.groupBy(supports, ({ segment }) => this.#partOf(objectOf(segment)))) {
      if (part === undefined) continue
      const placeIn = placesIn(part, own)
      for (const { segment, groundingChunkIndices } of own) {
        const { startIndex, endIndex } = objectOf(segment)
        const cited = arrayOf(groundingChunkIndices).flatMap((at) => chunks[countOf(at)] ?? [])
        const found = citedText(cited.slice(0, maxCitations - citations.length), placeIn(startIndex), placeIn(endIndex))
        annotations.push(...arrayOf(found.annotations))
        citations.push(...arrayOf(found.citations))
      }
    }
    if (citations.length === 0) return null
    return { citations, ...(annotations.length > 0 && { annotations }) }
  }

  /** The text that a segment is of. Some models count the thoughts before it as a part, and others do not. */
  #partOf({ partIndex }: WireObject): GroundedPart | undefined {
    const from = countOf(partIndex)
    return this.#parts.slice(from).find(({ isText }) => isText) ?? this.#parts.findLast(({ isText }) => isText)
  }
}

/** Returns the place in the answer, in UTF-16 units, of a byte of a part. Each piece of the text is read once. */
const placesIn = ({ start, text }: GroundedPart, supports: readonly WireObject[]): ((byte: unknown) => number) => {
  const bytes = Buffer.from(text)
  const given = supports.flatMap(({ segment }) => {
    const { startIndex, endIndex } = objectOf(segment)
    return [countOf(startIndex), countOf(endIndex)]
  })
  const places = new Map<number, number>()
  let [known, units] = [0, start]
  for (const byte of [...new Set(given)].sort((one, other) => one - other)) {
    units += bytes.toString('utf8', known, byte).length
    known = byte
    places.set(byte, units)
  }
  return (byte) => places.get(countOf(byte)) ?? start
}

/** Returns a source as Anthropic's citations have it, which every API here reads. An empty index says that it is not Anthropic's. */
const sourceOf = ({ web, maps, retrievedContext }: WireObject): WireObject => {
  const page = isObject(web) ? web : objectOf(maps)
  const title = textOf(page.title)
  if (textOf(page.uri) !== '')
    return { type: 'web_search_result_location', url: page.uri, title, cited_text: '', encrypted_index: '' }
  const { uri, title: name, text } = objectOf(retrievedContext)
  return {
    ...{ type: 'search_result_location', source: textOf(uri), title: textOf(name), cited_text: textOf(text) },
    ...{ search_result_index: 0, start_block_index: 0, end_block_index: 0, encrypted_index: '' },
  }
}
