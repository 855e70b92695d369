import { arrayOf, isObject, objectOf, type WireObject } from '#outgoing/wire.ts'
import type { Restorer } from '../call/redaction.ts'

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
    return {
      ...(Array.isArray(citations) && { citations: citations.map((each) => this.#placed(this.#texts(each))) }),
      ...(Array.isArray(annotations) && { annotations: arrayOf(annotations).map((each) => this.#annotation(each)) }),
    }
  }

  #annotation(annotation: unknown): unknown {
    const { url_citation, ...rest } = objectOf(annotation)
    return isObject(url_citation) ? { ...rest, url_citation: this.#placed(this.#texts(url_citation)) } : annotation
  }

  #texts(quote: unknown): WireObject {
    const fields = Object.entries(objectOf(quote))
    return Object.fromEntries(
      fields.map(([name, value]) => [name, typeof value === 'string' ? this.#restorer.restore(value) : value]),
    )
  }

  #placed(quote: WireObject): WireObject {
    const places = (['start_index', 'end_index'] as const).flatMap((name) => {
      const place = quote[name]
      return typeof place === 'number' ? [[name, this.#placeOf(place)] as const] : []
    })
    return { ...quote, ...Object.fromEntries(places) }
  }

  /** Citations are mostly in the order of the text, of which each part is then restored once. */
  #placeOf(written: number): number {
    const from = written < this.#known.written ? { written: 0, restored: 0 } : this.#known
    const between = this.#restorer.restore(this.#text.slice(from.written, written))
    this.#known = { written, restored: from.restored + between.length }
    return this.#known.restored
  }
}
