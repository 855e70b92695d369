import { join } from 'node:path'
import { KeptRows } from './kept-rows.ts'
import type { OnnxRuntime, OnnxSession, OnnxTensor, ReaderPlace } from './schema.ts'

/** Numbers kept of texts, some 2,000 for each: 4,000 texts, 32 MB. */
const maxNumbers = 8_000_000
/** What a token that is not there adds to its likeness. */
const unseen = -1e4

export interface PairReaderParts {
  readonly runtime: OnnxRuntime
  readonly folder: string
  readonly options: Readonly<Record<string, unknown>>
}

/**
 * Judges whether a text answers a question (specs/decisions/0310-reading-memories.md): layers that were trained for it
 * continue from the lower layers of the sentence model and make a vector of each text and of each of its tokens, and a
 * small network compares those of two texts.
 */
export class PairReader {
  readonly #runtime: OnnxRuntime
  readonly #layers: OnnxSession
  readonly #judge: OnnxSession
  /** Of each text its vector, then those of its tokens, then what these weigh in a question. */
  readonly #read = new KeptRows(maxNumbers)
  /** Lengths of both kinds of vectors; known once a text was read. */
  #sizes = { vector: 0, part: 0 }

  private constructor(runtime: OnnxRuntime, layers: OnnxSession, judge: OnnxSession) {
    this.#runtime = runtime
    this.#layers = layers
    this.#judge = judge
  }

  static async open(
    { runtime, folder, options }: PairReaderParts,
    files: Pick<ReaderPlace, 'layers' | 'judge'>,
  ): Promise<PairReader> {
    const opened = (file: string): Promise<OnnxSession> => runtime.InferenceSession.create(join(folder, file), options)
    return new PairReader(runtime, await opened(files.layers), await opened(files.judge))
  }

  /** Returns the vectors of a text and of its tokens. @param states what the lower layers make of it; called when it is not known. */
  async vectors(key: string, states: () => Promise<OnnxTensor>): Promise<Float32Array> {
    const known = this.#read.get(key)
    if (known !== undefined) return known
    const outputs = await this.#layers.run({ states: await states() })
    const [vector, parts, weights] = [
      numbersOf(outputs, 'vector'),
      numbersOf(outputs, 'parts'),
      numbersOf(outputs, 'weigh'),
    ]
    this.#sizes = { vector: vector.length, part: parts.length / weights.length }
    const read = new Float32Array([...vector, ...parts, ...weights])
    this.#read.set(key, read)
    return read
  }

  /** Returns the logarithm of the odds that each text answers the question, by their vectors. */
  async odds(question: Float32Array, texts: readonly Float32Array[]): Promise<readonly number[]> {
    const { vector, part } = this.#sizes
    const tokensOf = (read: Float32Array): number => (read.length - vector) / (part + 1)
    const longest = Math.max(...texts.map(tokensOf))
    const vectors = new Float32Array(texts.length * vector)
    const parts = new Float32Array(texts.length * longest * part)
    const missing = new Float32Array(texts.length * longest)
    for (const [at, text] of texts.entries()) {
      const tokens = tokensOf(text)
      vectors.set(text.subarray(0, vector), at * vector)
      parts.set(text.subarray(vector, vector + tokens * part), at * longest * part)
      missing.fill(unseen, at * longest + tokens, (at + 1) * longest)
    }
    const words = tokensOf(question)
    const end = vector + words * part
    const tensor = (data: Float32Array, ...dims: readonly number[]) => new this.#runtime.Tensor('float32', data, dims)
    const outputs = await this.#judge.run({
      question: tensor(question.subarray(0, vector), 1, vector),
      words: tensor(question.subarray(vector, end), 1, words, part),
      weights: tensor(question.subarray(end), 1, 1, words),
      texts: tensor(vectors, texts.length, vector),
      parts: tensor(parts, texts.length, longest, part),
      missing: tensor(missing, texts.length, 1, longest),
    })
    return [...numbersOf(outputs, 'odds')]
  }
}

function numbersOf(outputs: Readonly<Record<string, OnnxTensor>>, name: string): Float32Array {
  const data = outputs[name]?.data
  if (!(data instanceof Float32Array)) throw new Error(`the model has no ${name}`)
  return data
}
