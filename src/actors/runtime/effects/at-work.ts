import type { JsonObject } from '#storage/ports.ts'

/** Answers a question about what an effect does now. It may come twice. */
export type Answering = (question: JsonObject) => Promise<JsonObject>

/** What effects of this process answer while they run, by their actor. Nothing of it is stored: not the question, not the answer. */
export class AtWork {
  readonly #answering = new Map<string, Answering>()

  /** The effect of `actor` answers from now on. @returns what ends that */
  open(actor: string, answer: Answering): () => void {
    this.#answering.set(actor, answer)
    return () => {
      if (this.#answering.get(actor) === answer) this.#answering.delete(actor)
    }
  }

  /** Null when no effect of the actor answers here. */
  async answer(actor: string, question: JsonObject): Promise<JsonObject | null> {
    return (await this.#answering.get(actor)?.(question)) ?? null
  }
}
