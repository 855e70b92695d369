import { arrayOf, isObject, objectOf, type WireObject } from '#outgoing/wire.ts'
import type { Restorer } from '../call/redaction.ts'

const placeNames = ['start_index', 'end_index'] as const

/** Places in a restored text, by those in the text as it was written. */
type Places = ReadonlyMap<unknown, number>

/** Restores what an answer cites, and where: placeholders and the values in their place have different lengths. */
export class RestoredCitations {
  readonly #restorer: Restorer
  /** The text of the answer as the model wrote it. */
  #text = ''
  /** A place in that text, and the same place in the restored one. */
  #known = { written: 0, restored: 0 }

  constructor(restorer: Restorer) {
    this.#restorer = restorer
  }

  /** Adds text of the answer, before it is restored. */
  add(text: string): void {
    this.#text += text
  }

  /** Returns the fields of a message or a delta that cite. */
  fields({ citations, annotations }: WireObject): WireObject {
    const quotes = [...arrayOf(citations), ...arrayOf(annotations).map((each) => objectOf(each).url_citation)]
    const places = this.#placesOf(quotes.map(objectOf))
    return {
      ...(Array.isArray(citations) && { citations: citations.map((each) => placed(this.#texts(each), places)) }),
      ...(Array.isArray(annotations) && { annotations: annotations.map((each) => this.#annotation(each, places)) }),
    }
  }

  #annotation(annotation: unknown, places: Places): unknown {
    const { url_citation, ...rest } = objectOf(annotation)
    return isObject(url_citation) ? { ...rest, url_citation: placed(this.#texts(url_citation), places) } : annotation
  }

  #texts(quote: unknown): WireObject {
    const fields = Object.entries(objectOf(quote))
    return Object.fromEntries(
      fields.map(([name, value]) => [name, typeof value === 'string' ? this.#restorer.restore(value) : value]),
    )
  }

  /** Places in their order, so that each part of the text is restored once. */
  #placesOf(quotes: readonly WireObject[]): Places {
    const written = new Set(quotes.flatMap((quote) => placeNames.map((name) => quote[name])))
    const numbers = [...written].filter((place) => typeof place === 'number').sort((a, b) => a - b)
    return new Map(numbers.map((place) => [place, this.#placeOf(place)]))
  }

  #placeOf(written: number): number {
    const from = written < this.#known.written ? { written: 0, restored: 0 } : this.#known
    const between = this.#restorer.restore(this.#text.slice(from.written, written))
    this.#known = { written, restored: from.restored + between.length }
    return this.#known.restored
  }
}

const placed = (quote: WireObject, places: Places): WireObject => {
  const moved = placeNames.flatMap((name) => (places.has(quote[name]) ? [[name, places.get(quote[name])]] : []))
  return { ...quote, ...Object.fromEntries(moved) }
}
