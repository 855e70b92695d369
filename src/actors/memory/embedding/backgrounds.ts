import type { Logger } from 'pino'
import { type Background, backgroundOf } from '#retrieval/index.ts'
import type { MemoryOwner } from '../memory-owner.ts'
import type { MemoryEmbedder } from './embedders.ts'

const againMs = 60_000

/**
 * How similar unrelated texts are by each embedder in use, to judge cosines. It is measured once per process and
 * embedder with the reference texts, some 200 sentences, at the first search; until then cosines are judged by what most
 * embedders have in common. No search waits for it.
 */
export class Backgrounds {
  readonly #now: () => number
  readonly #log: Logger
  readonly #known = new Map<string, Background>()
  /** Time in ms of the last attempt, by embedder. */
  readonly #tried = new Map<string, number>()

  constructor({ now, log }: { readonly now: () => number; readonly log: Logger }) {
    this.#now = now
    this.#log = log
  }

  /** Returns what is known of an embedder; null while it is measured. @param owner on whose behalf it is used. */
  of(embedder: MemoryEmbedder, owner: MemoryOwner): Background | null {
    const known = this.#known.get(embedder.id)
    if (known !== undefined) return known
    const tried = this.#tried.get(embedder.id)
    if (tried === undefined || tried + againMs <= this.#now()) void this.#measure(embedder, owner)
    return null
  }

  async #measure(embedder: MemoryEmbedder, owner: MemoryOwner): Promise<void> {
    this.#tried.set(embedder.id, this.#now())
    try {
      const embed: Parameters<typeof backgroundOf>[0]['embed'] = async (texts, use) =>
        (await embedder.embed(texts, use, owner)).vectors
      this.#known.set(embedder.id, await backgroundOf({ embed }))
    } catch (error) {
      this.#log.warn({ err: error, embedder: embedder.id }, 'the background of an embedder is not known yet')
    }
  }
}
