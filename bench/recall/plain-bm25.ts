import { porterStem } from '#retrieval/analysis/porter.ts'
import type { Collection, Question, Scope } from './collection.ts'
import { mean, ndcgAt } from './measures.ts'

/** Okapi BM25 over whole texts, as a plain search library has it: no passages, titles, priors or fusion. */
interface Variant {
  readonly k1: number
  readonly stems: boolean
}

const b = 0.75
const variants: readonly Variant[] = [1.2, 1.5].flatMap((k1) => [true, false].map((stems) => ({ k1, stems })))
/** Words that search libraries leave out of English texts. */
const stopWords = new Set(
  'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with'.split(
    ' ',
  ),
)

/** Returns nDCG@10 of plain BM25 on all questions of a set, of the best of its usual settings. */
export function plainNdcg({ scopes }: Collection): number {
  return Math.max(...variants.map((variant) => mean(scopes.flatMap((scope) => ndcgsOf(scope, variant)))))
}

function ndcgsOf(scope: Scope, variant: Variant): readonly number[] {
  const wholes = [...Map.groupBy(scope.texts, ({ id }) => scope.partOf?.(id) ?? id)].map(([id, texts]) => {
    return { id, words: wordsIn(texts.map(({ text }) => text).join('\n'), variant) }
  })
  const index = new PlainIndex(wholes, variant)
  return scope.questions
    .filter(({ relevant }) => relevant.size > 0)
    .map((question) => ndcgAt(index.search(question, 10), question.relevant, 10))
}

const wordsIn = (text: string, { stems }: Variant): readonly string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}\p{M}_]{2,}/gu) ?? [])
    .filter((word) => !stopWords.has(word))
    .map((word) => (stems ? porterStem(word) : word))

class PlainIndex {
  readonly #ids: readonly string[]
  readonly #lengths: readonly number[]
  readonly #postings = new Map<string, Map<number, number>>()
  readonly #variant: Variant

  constructor(wholes: readonly { readonly id: string; readonly words: readonly string[] }[], variant: Variant) {
    this.#variant = variant
    this.#ids = wholes.map(({ id }) => id)
    this.#lengths = wholes.map(({ words }) => words.length)
    for (const [at, { words }] of wholes.entries()) {
      for (const word of words) {
        const times = this.#postings.get(word) ?? new Map<number, number>()
        this.#postings.set(word, times.set(at, (times.get(at) ?? 0) + 1))
      }
    }
  }

  search({ text }: Question, limit: number): readonly string[] {
    const { k1 } = this.#variant
    const size = this.#ids.length
    const average = mean(this.#lengths)
    const scores = new Map<number, number>()
    for (const word of wordsIn(text, this.#variant)) {
      const times = this.#postings.get(word) ?? new Map<number, number>()
      const idf = Math.log(1 + (size - times.size + 0.5) / (times.size + 0.5))
      for (const [at, count] of times) {
        const length = 1 - b + (b * (this.#lengths[at] ?? 0)) / average
        scores.set(at, (scores.get(at) ?? 0) + (idf * count) / (count + k1 * length))
      }
    }
    const best = [...scores].toSorted(([, one], [, other]) => other - one).slice(0, limit)
    return best.map(([at]) => this.#ids[at] ?? '')
  }
}
