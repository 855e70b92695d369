import { join } from 'node:path'
import { KeptRows } from './kept-rows.ts'
import type { OnnxRuntime, OnnxSession, OnnxTensor, ReaderPlace } from './schema.ts'

/** Numbers kept of the vectors of texts: 10,000 texts, 15 MB. */
const maxNumbers = 10_000 * 384

export interface PairReaderParts {
  readonly runtime: OnnxRuntime
  readonly folder: string
  readonly options: Readonly<Record<string, unknown>>
}

/**
 * Judges whether a text answers a question (specs/decisions/0310-reading-memories.md): layers that were trained for it
 * continue from the lower layers of the sentence model and make a vector of each text, and a small network compares two.
 */
export class PairReader {
  readonly #runtime: OnnxRuntime
  readonly #layers: OnnxSession
  readonly #judge: OnnxSession
  readonly #vectors = new KeptRows(maxNumbers)

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

  /** Returns the vector of a text. @param states what the lower layers make of it; called when it is not known. */
  async vector(key: string, states: () => Promise<OnnxTensor>): Promise<Float32Array> {
    const known = this.#vectors.get(key)
    if (known !== undefined) return known
    const vector = numbersOf(await this.#layers.run({ states: await states() }), 'vector').slice()
    this.#vectors.set(key, vector)
    return vector
  }

  /** Returns the logarithm of the odds that each text answers the question, by their vectors. */
  async odds(question: Float32Array, texts: readonly Float32Array[]): Promise<readonly number[]> {
    const size = question.length
    const all = new Float32Array(texts.length * size)
    for (const [at, text] of texts.entries()) all.set(text, at * size)
    const { Tensor } = this.#runtime
    const outputs = await this.#judge.run({
      question: new Tensor('float32', question, [1, size]),
      texts: new Tensor('float32', all, [texts.length, size]),
    })
    return [...numbersOf(outputs, 'odds')]
  }
}

function numbersOf(outputs: Readonly<Record<string, OnnxTensor>>, name: string): Float32Array {
  const data = outputs[name]?.data
  if (!(data instanceof Float32Array)) throw new Error(`the model has no ${name}`)
  return data
}
