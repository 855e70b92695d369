import type { JsonObject } from '#storage/ports.ts'

/** Answers a question to a running effect. The same question may arrive twice. */
export type Answering = (question: JsonObject) => Promise<JsonObject>

/** Questions to running effects of this process, by actor. Neither question nor answer is stored. */
export class EffectQuestions {
  readonly #answering = new Map<string, Answering>()

  /** Registers an effect of `actor` to answer questions. @returns a function that ends that */
  open(actor: string, answer: Answering): () => void {
    this.#answering.set(actor, answer)
    return () => {
      if (this.#answering.get(actor) === answer) this.#answering.delete(actor)
    }
  }

  /** Resolves with the answer; null when no effect of the actor answers here. */
  async answer(actor: string, question: JsonObject): Promise<JsonObject | null> {
    return (await this.#answering.get(actor)?.(question)) ?? null
  }
}
