import type { Embedder, EmbedUse } from '../embedder.ts'
import { VectorTable } from '../vector-table.ts'
import { referenceTexts } from './reference-texts.ts'

/** Number of the nearest reference texts from which the similarity of unrelated texts is estimated. */
const nearest = 12

/**
 * How similar texts are, by one embedder, that have nothing to do with one another. The cosines of embedders differ: of
 * some all are above 0.7. They also differ between texts: a question in general terms is close to everything. A cosine
 * means something only beside those of the same texts with unrelated ones.
 */
export class Background {
  readonly #passages = new VectorTable()
  readonly #questions = new VectorTable()
  readonly #scale: number

  /** @param passages vectors of the reference texts as passages; `questions` those of their questions, in the same order. */
  constructor(passages: readonly Float32Array[], questions: readonly Float32Array[]) {
    for (const [at, vector] of passages.entries()) this.#passages.set(at, vector)
    for (const [at, vector] of questions.entries()) this.#questions.set(at, vector)
    this.#scale = deviationOf(this.#deviations(questions))
  }

  /** Whether there are enough vectors, in different directions. */
  get isUsable(): boolean {
    return this.#scale > 0 && this.#questions.size > nearest && this.#passages.size > nearest
  }

  /** Returns the cosine that a question has with the nearest unrelated passages. */
  ofQuestion(vector: Float32Array): number {
    return nearestOf(cosinesWith(this.#passages, vector))
  }

  /** Returns the cosine that a passage has with the nearest unrelated questions. */
  ofPassage(vector: Float32Array): number {
    return nearestOf(cosinesWith(this.#questions, vector))
  }

  /** Returns by how many standard deviations a cosine is above such a one. */
  above(cosine: number, unrelated: number): number {
    return (cosine - unrelated) / this.#scale
  }

  /** Cosines of each question with the passages of the others, less their mean. */
  #deviations(questions: readonly Float32Array[]): readonly number[] {
    return questions.flatMap((question, own) => {
      const known = this.#questions.has(own) ? [...cosinesWith(this.#passages, question)] : []
      const others = known.filter((_, at) => at !== own && this.#passages.has(at))
      const mean = others.reduce((sum, cosine) => sum + cosine, 0) / Math.max(1, others.length)
      return others.map((cosine) => cosine - mean)
    })
  }
}

/** Reference texts that are embedded at once: a question of a caller waits for no more than these. */
const atOnce = 8

/** Embeds the reference texts. @throws what the embedder throws. */
export async function backgroundOf({ embed }: Pick<Embedder, 'embed'>): Promise<Background> {
  const all = async (texts: readonly string[], use: EmbedUse): Promise<readonly Float32Array[]> => {
    const vectors: Float32Array[] = []
    for (let first = 0; first < texts.length; first += atOnce)
      vectors.push(...(await embed(texts.slice(first, first + atOnce), use)))
    return vectors
  }
  const statements = referenceTexts.map(([statement]) => statement)
  const questions = referenceTexts.map(([, question]) => question)
  return new Background(await all(statements, 'passage'), await all(questions, 'query'))
}

function cosinesWith(table: VectorTable, vector: Float32Array): Float32Array {
  const cosines = new Float32Array(referenceTexts.length)
  const query = table.query(vector)
  if (query !== null) table.cosines(query, cosines, { from: 0, to: cosines.length })
  return cosines
}

function nearestOf(cosines: Float32Array): number {
  const sorted = cosines.sort()
  let sum = 0
  for (let at = Math.max(0, sorted.length - nearest); at < sorted.length; at++) sum += sorted[at] ?? 0
  return sum / nearest
}

const deviationOf = (values: readonly number[]): number =>
  Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / Math.max(1, values.length))
