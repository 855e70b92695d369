import { readFile } from 'node:fs/promises'
import { partOf } from './onnx-part.ts'
import type { OnnxRuntime, OnnxSession, OnnxTensor } from './schema.ts'

type Values = Readonly<Record<string, OnnxTensor>>

export interface LayeredParts {
  readonly runtime: OnnxRuntime
  readonly options: Readonly<Record<string, unknown>>
  /** Values by which the model is cut, from the lowest layer on; none: it is run as a whole. */
  readonly cuts: readonly string[]
  /** Inner values that it returns too. */
  readonly values: readonly string[]
}

/** A sentence model in parts, each of which continues from the one below: what needs only its lower layers does not run the upper ones. */
export class LayeredSession {
  readonly #sessions: readonly OnnxSession[]

  private constructor(sessions: readonly OnnxSession[]) {
    this.#sessions = sessions
  }

  static async open(file: string, { runtime, options, cuts, values }: LayeredParts): Promise<LayeredSession> {
    const opened = (model: string | Uint8Array) => runtime.InferenceSession.create(model, options)
    if (values.length === 0) return new LayeredSession([await opened(file)])
    const model: Uint8Array = await readFile(file)
    const sessions: OnnxSession[] = []
    for (const [at, cut] of [...cuts, null].entries()) {
      const given = cuts.slice(Math.max(0, at - 1), at)
      const wanted = cut === null ? values.filter((value) => !cuts.includes(value)) : [cut]
      sessions.push(await opened(partOf(model, { given, wanted, isTop: cut === null })))
    }
    return new LayeredSession(sessions)
  }

  /** Names of what the model returns as a whole. */
  get outputNames(): readonly string[] {
    return this.#sessions.at(-1)?.outputNames ?? []
  }

  /** Returns what the layers make of the inputs: those that make a value, or all. Of the inputs, those that it has count. */
  async run(inputs: Values, upTo?: string): Promise<Values> {
    let values = inputs
    for (const session of this.#sessions) {
      const given = Object.fromEntries(Object.entries(values).filter(([name]) => session.inputNames.includes(name)))
      values = { ...values, ...(await session.run(given)) }
      if (upTo !== undefined && upTo in values) break
    }
    return values
  }
}
