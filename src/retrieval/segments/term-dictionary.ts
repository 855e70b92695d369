import type { Columns } from './columns.ts'
import { hash32 } from './hash.ts'
import type { Column } from './schema.ts'
import type { OrderedTerms, TermNumbers } from './term-numbers.ts'
import { Texts, textColumns } from './texts.ts'

export function* dictionaryColumns({
  terms,
  hashes,
}: OrderedTerms): Generator<void, Readonly<Record<string, Column>>, void> {
  return { ...(yield* textColumns('terms', terms)), hashes }
}

/** The terms of a segment, in the order of their hashes. None is decoded until it is looked for. */
export class TermDictionary {
  readonly hashes: Uint32Array
  readonly #names: Texts

  constructor(columns: Columns) {
    this.hashes = columns.words('hashes')
    this.#names = new Texts(columns, 'terms')
  }

  get size(): number {
    return this.hashes.length
  }

  nameOf(place: number): string {
    return this.#names.at(place)
  }

  /** Returns the place of a term; -1 when the segment does not have it. */
  placeOf(name: string): number {
    const hash = hash32(name)
    const hashes = this.hashes
    let [low, high] = [0, hashes.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((hashes[middle] ?? 0) < hash) low = middle + 1
      else high = middle
    }
    for (; hashes[low] === hash; low++) if (this.nameOf(low) === name) return low
    return -1
  }
}

/** Returns the number in a new segment of a term of another one. */
export const numberOf = (
  place: number,
  {
    terms,
    known,
    numbers,
  }: { readonly terms: TermDictionary; readonly known: Int32Array; readonly numbers: TermNumbers },
): number => {
  const number = known[place] ?? -1
  if (number !== -1) return number
  const own = numbers.of(terms.nameOf(place))
  known[place] = own
  return own
}
