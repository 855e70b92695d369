import { arrayOf, objectOf, parseJson, textOf } from '#outgoing/wire.ts'
import { type Embedder, numbersOfText, textOfVector } from '#retrieval/index.ts'
import type { AnswerPlace, AnswerStore, KeptAnswer } from '#storage/index.ts'
import type { CachePolicy } from '../call/reuse.ts'
import { hashed, type LastQuestion } from './cache-key.ts'
import { distinctWords, literalsOf } from './distinct-words.ts'

/**
 * Number of questions that one is compared with: the newest with the same context and the same distinct words, or for a
 * judge the same numbers, names and quotes.
 */
const maxCompared = 64
/** Time in ms after which a call is made without a comparison. */
const embedWithinMs = 300

interface Known {
  /** Key of the answer. */
  readonly key: string
  readonly vector: string
  /** The question; '' where no judge compares it. */
  readonly text: string
}

/** A question that is similar to another one. */
export interface SimilarQuestion {
  /** Key of its answer. */
  readonly key: string
  readonly text: string
  /** Whether it has the same answer by the words of both; otherwise a judge has to decide. */
  readonly isSame: boolean
}

/** How questions are compared. */
type Comparison = Pick<CachePolicy, 'threshold' | 'judge'>

/** Finds questions with the same meaning among those whose answers are stored. */
export class SimilarQuestions {
  readonly #store: AnswerStore
  readonly #embedder: Embedder

  constructor(store: AnswerStore, embedder: Embedder) {
    this.#store = store
    this.#embedder = embedder
  }

  /**
   * Returns the most similar question; null when none is similar enough, or when the questions cannot be compared in time.
   *
   * @throws {EmbedderUnavailable}
   */
  async closest(place: AnswerPlace, question: LastQuestion, by: Comparison): Promise<SimilarQuestion | null> {
    const known = await this.#known(place, this.#listOf(question, by))
    if (known.length === 0) return null
    const vector = await inTime(this.#vectorOf(question))
    const found = vector === null ? null : closestOf(known, numbersOf(vector), by.judge?.threshold ?? by.threshold)
    if (found === null) return null
    const { key, text, cosine } = found
    const hasWords = by.judge === null || distinctWords(text) === distinctWords(question.text)
    return { key, text, isSame: hasWords && cosine >= by.threshold }
  }

  /** Adds a question whose answer has been stored. @throws {EmbedderUnavailable} */
  async add(
    place: AnswerPlace,
    question: LastQuestion,
    { by, key, ttlMs, mark }: Omit<KeptAnswer, 'text'> & { readonly key: string; readonly by: Comparison },
  ): Promise<void> {
    const list = this.#listOf(question, by)
    const vector = await this.#vectorOf(question)
    const others = (await this.#known(place, list)).filter((each) => each.key !== key)
    const added = { key, vector, ...(by.judge !== null && { text: question.text }) }
    const text = JSON.stringify([...others.slice(1 - maxCompared), added])
    if (vector !== null) await this.#store.put(place, list, { text, ttlMs, mark })
  }

  #listOf({ context, text }: LastQuestion, { judge }: Comparison): string {
    const alike = judge === null ? ['questions', distinctWords(text)] : ['judged', literalsOf(text)]
    return hashed([...alike, this.#embedder.id, context]) ?? ''
  }

  async #known(place: AnswerPlace, list: string): Promise<readonly Known[]> {
    const found = await this.#store.read(place, [list])
    return arrayOf(parseJson(found?.values[0] ?? '[]')).map((each) => {
      const { key, vector, text } = objectOf(each)
      return { key: textOf(key), vector: textOf(vector), text: textOf(text) }
    })
  }

  /** Returns null for a text that the model cannot read. */
  async #vectorOf({ text }: LastQuestion): Promise<string | null> {
    const [vector] = await this.#embedder.embed([text], 'query')
    return vector === undefined || vector.every((value) => value === 0) ? null : textOfVector(vector)
  }
}

/** Returns null when the value is not there in time. */
const inTime = async <T>(value: Promise<T>): Promise<T | null> => {
  const late = Promise.withResolvers<null>()
  const timer = setTimeout(() => late.resolve(null), embedWithinMs)
  try {
    return await Promise.race([value, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

const numbersOf = (vector: string): Int8Array => numbersOfText(vector) ?? new Int8Array()

const closestOf = (known: readonly Known[], question: Int8Array, threshold: number) => {
  let [best, found]: [number, Known | null] = [threshold, null]
  for (const each of known) {
    const cosine = cosineOf(question, numbersOf(each.vector))
    if (cosine < best) continue
    best = cosine
    found = each
  }
  return found === null ? null : { ...found, cosine: best }
}

const cosineOf = (one: Int8Array, other: Int8Array): number => {
  let [product, ofOne, ofOther] = [0, 0, 0]
  for (let at = 0; at < one.length; at++) {
    const [left, right] = [one[at] ?? 0, other[at] ?? 0]
    product += left * right
    ofOne += left * left
    ofOther += right * right
  }
  const length = Math.sqrt(ofOne * ofOther)
  return length === 0 || one.length !== other.length ? 0 : product / length
}
