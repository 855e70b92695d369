import { UserMemoryIndex } from '#actors/memory/indexes/user-memory-index.ts'
import type { MemoryData } from '#actors/memory/kinds.ts'
import { factData } from '#actors/memory/understanding.ts'
import { factsOf } from '#facts/index.ts'
import type { Row } from '#records/schema.ts'
import type { Embedder } from '#retrieval/embedder.ts'
import type { Background } from '#retrieval/ranking/background.ts'
import { textOfVector } from '#retrieval/vector-bytes.ts'
import { isZero } from '#retrieval/vector-table.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'
import type { Remembered } from './sets.ts'

/** An embedder, and how similar unrelated texts are by it. */
export interface Embedding {
  readonly embedder: Embedder
  readonly background: Background
}

interface FoundMemory {
  readonly id: string
  readonly score: number
  readonly parts?: Readonly<Record<string, number>>
}

export interface SearchResult {
  readonly hits: readonly FoundMemory[]
  /** Ids by descending cosine; empty without an embedder, or when it does not read the question. */
  readonly byCosine: readonly string[]
}

/** The memories of one scope in the index that the service keeps of a user. */
export class MemoryScope {
  readonly #index: UserMemoryIndex
  readonly #vectors: ReadonlyMap<string, Float32Array>
  readonly #texts: ReadonlyMap<string, string>
  readonly #embedding: Embedding | null

  private constructor(
    embedding: Embedding | null,
    memories: readonly Remembered[],
    vectors: ReadonlyMap<string, Float32Array>,
  ) {
    this.#index = new UserMemoryIndex(embedding?.embedder.id ?? null)
    this.#vectors = vectors
    this.#texts = new Map(memories.map(({ id, text }) => [id, text]))
    this.#embedding = embedding
  }

  static async of(memories: readonly Remembered[], embedding: Embedding | null): Promise<MemoryScope> {
    const texts = memories.map(({ text }) => text)
    const vectors = (await embedding?.embedder.embed(texts, 'passage')) ?? []
    const byId = new Map(memories.map(({ id }, at) => [id, vectors[at] ?? new Float32Array(0)]))
    const scope = new MemoryScope(embedding, memories, byId)
    const id = embedding?.embedder.id ?? null
    await scope.#index.putAll(memories.map((memory, at) => rowOf(memory, id, vectors[at] ?? null)))
    return scope
  }

  /** @param explain returns also the parts of the scores. */
  async search(text: string, limit: number, explain = false): Promise<SearchResult> {
    const [vector = null] = (await this.#embedding?.embedder.embed([text], 'query')) ?? []
    const isRead = vector !== null && !isZero(vector)
    const { hits } = await this.#index.passages.search({
      ...{ text, vector: isRead ? vector : null, limit, now: Date.UTC(2026, 6, 1), explain },
      ...(this.#embedding !== null && {
        embedder: this.#embedding.embedder.id,
        background: this.#embedding.background,
        read: (ids: readonly string[]) => this.#read(text, ids),
      }),
    })
    return { hits, byCosine: isRead ? this.#byCosine(vector, limit) : [] }
  }

  async #read(question: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const texts = ids.map((id) => this.#texts.get(id) ?? '')
    const odds = (await this.#embedding?.embedder.read?.(question, texts)) ?? []
    return new Map(ids.flatMap((id, at) => (odds[at] === undefined ? [] : [[id, odds[at]]])))
  }

  #byCosine(vector: Float32Array, limit: number): readonly string[] {
    const all = [...this.#vectors].map(([id, other]) => ({ id, cosine: dot(vector, other) }))
    return all
      .toSorted((a, b) => b.cosine - a.cosine)
      .slice(0, limit)
      .map(({ id }) => id)
  }
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0
  for (let at = 0; at < other.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0)
  return sum
}

/** A stored row as the service writes it, with the facts that its rules find. */
const rowOf = (
  { id, text, at }: Remembered,
  embedder: string | null,
  vector: Float32Array | null,
): Row<MemoryData> => ({
  ...{ id, project: 'prj_bench', tenant: null, user: 'bench', version: 1 },
  ...{ created_at: at, updated_at: at, expires_at: null },
  data: {
    ...{ owner: 'bench', content: text, scope: 'user', session_id: null, namespace: null, importance: 0.5 },
    ...{ pinned: false, metadata: {}, source: 'write', speaker: null, receipt: null, redacted: [] },
    facts: atOnce(factsOf(text, { observedAt: at, speaker: 'user' })).map(factData),
    ...{ observed_at_ms: at, valid_from_ms: null, valid_to_ms: null, superseded_by: null },
    ...(vector === null || isZero(vector)
      ? { embedder: null, vector: null }
      : { embedder, vector: textOfVector(vector) }),
    ...{ used_at_ms: null, versions: [] },
  },
})
