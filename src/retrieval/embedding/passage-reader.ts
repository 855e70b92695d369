import { join } from 'node:path'
import type { PairReaderParts } from './pair-reader.ts'
import type { OnnxRuntime, OnnxSession, PassageReaderPlace } from './schema.ts'

/**
 * Reads passages of skills (specs/decisions/0157-skills.md): layers that were trained for it continue from what the lower layers of the
 * sentence model make of one.
 */
export class PassageReader {
  /** Name of the value of the sentence model from which it continues. */
  readonly states: string
  readonly #runtime: OnnxRuntime
  readonly #layers: OnnxSession

  private constructor(runtime: OnnxRuntime, layers: OnnxSession, states: string) {
    this.#runtime = runtime
    this.#layers = layers
    this.states = states
  }

  static async open(
    { runtime, folder, options }: PairReaderParts,
    { file, states }: PassageReaderPlace,
  ): Promise<PassageReader> {
    return new PassageReader(runtime, await runtime.InferenceSession.create(join(folder, file), options), states)
  }

  /** Returns the logarithm of the odds that a passage would have an agent act against the one it works for. */
  async odds(states: Float32Array, tokens: number): Promise<number> {
    const { odds } = await this.#layers.run({
      states: new this.#runtime.Tensor('float32', states, [1, tokens, states.length / tokens]),
    })
    if (!(odds?.data instanceof Float32Array)) throw new Error('the reader of skills has no odds')
    return odds.data[0] ?? 0
  }
}
