import {
  type Change,
  changeOf,
  correctedOf,
  mayUpdate,
  meantOf,
  oddsOfSigns,
  partsOf,
  type Related,
  topicWords,
  updatedOf,
} from '#facts/index.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { EmbedderUnavailable, type OlderText, Pause, vectorOfText } from '#retrieval/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { RecordStore } from '#storage/index.ts'
import type { EmbedderOf, MemoryEmbedder } from '../embedding/embedders.ts'
import { holdingContent, holdingParts } from '../indexes/superseded-parts.ts'
import type { MemoryEntry, UserMemoryIndex } from '../indexes/user-memory-index.ts'
import { type MemoryData, memories } from '../kinds.ts'
import type { PassedMemory } from '../memory-batch.ts'
import { type MemoryOwner, ownersScope } from '../memory-owner.ts'

export interface UpdatedMemoriesParts {
  readonly records: RecordStore
  readonly now: () => number
  readonly embedderOf: EmbedderOf
}

/** An older memory that a new one updates, and the parts of it that no longer hold; none when that is in doubt. */
export interface UpdatedMemory {
  readonly row: Row<MemoryData>
  readonly parts: readonly string[]
}

/** Maximum number of older memories that are compared. */
const maxCompared = 64

/** Maximum number of these, the likeliest by vectors, whose signs of an update are read. */
const maxSigned = 8
/** Maximum number of these whose vectors are made for it, the latest: those of others follow in the background. */
const maxEmbedded = 8

/** A correction is one of what was said last, within this time in ms. */
const correctedWithinMs = 7 * 86_400_000

/** A text, and its vector by the project's embedder where it is stored. */
interface Compared {
  readonly text: string
  readonly vector: Float32Array | null
}

interface Update {
  readonly text: string
  readonly change: Change
}

/** Compares an update with texts, by an embedder; null: there are no vectors. */
interface Comparison {
  readonly embedder: string | null
  readonly cosines: (texts: readonly Compared[]) => Promise<readonly (number | null)[]>
}

const byWords: Comparison = { embedder: null, cosines: async (texts) => texts.map(() => null) }

/**
 * Finds the memory that a new one updates, where no rule reads the facts of both: as the packaged model judges both, or, without
 * it, by words that state a change, the subject, and how close the texts are (specs/decisions/0138-facts-by-rules.md).
 */
export class UpdatedMemories {
  readonly #parts: UpdatedMemoriesParts
  readonly #table: Table<MemoryData>

  constructor(parts: UpdatedMemoriesParts) {
    this.#parts = parts
    this.#table = new Table(parts.records, memories, parts.now)
  }

  /**
   * Returns the memory that `item` updates; null for none.
   *
   * @param isJudged whether the packaged model may judge that, for a few ms.
   * @throws {StoreUnavailable}
   */
  async of(
    owner: MemoryOwner,
    index: UserMemoryIndex,
    { item, isJudged }: { readonly item: PassedMemory; readonly isJudged: boolean },
  ): Promise<UpdatedMemory | null> {
    if (item.flags.length > 0) return null
    const change = changeOf(item.content)
    const embedder = isJudged ? await this.#parts.embedderOf(owner.project) : null
    const judge = embedder !== null && (await comparedBy(embedder, item.content, [])) !== null ? embedder : null
    if (change === null && judge === null) return null
    const at = item.observedAt ?? this.#parts.now()
    const older = [...index.entries()].filter((entry) => isOlder(entry, item, at)).sort(byTime)
    const rows = await this.#rowsOf(owner, older.slice(0, maxCompared))
    const judged = judge === null ? 'unknown' : await this.#judged({ owner, judge, text: item.content }, rows)
    if (judged !== 'unknown') return judged
    return change === null ? null : await this.#byWords(owner, rows, { text: item.content, change, at })
  }

  /** Returns what the sentence model finds; unknown when it does not answer. */
  async #judged(update: Judged, rows: readonly Row<MemoryData>[]): Promise<UpdatedMemory | null | 'unknown'> {
    const odds = await oddsOf(
      update,
      rows.map(({ data }) => comparedOf(data, update.judge.id)),
    )
    const found = odds === null ? 'unknown' : updatedOf(odds)
    if (found === 'unknown' || found === null) return found
    const row = rows[found.place]
    if (row === undefined || !found.sure) return row === undefined ? null : { row, parts: [] }
    const parts = holdingParts(row.data)
    const ofParts = await oddsOf(update, parts.length < 2 ? [] : parts.map((text) => ({ text, vector: null })))
    const best = Math.max(...(ofParts ?? []))
    return { row, parts: parts.filter((_, place) => (ofParts?.[place] ?? best) === best) }
  }

  async #byWords(
    owner: MemoryOwner,
    rows: readonly Row<MemoryData>[],
    { at, ...update }: Update & { readonly at: number },
  ): Promise<UpdatedMemory | null> {
    const { text, change } = update
    const alike = await updatable(rows, update)
    const { cosines: compare, embedder } = await this.#comparison(owner, text)
    const cosines = await compare(alike.map(({ data }) => comparedOf(data, embedder)))
    const words = topicWords(text)
    const candidates = alike.map(
      ({ data }, place): Related => ({ cosine: cosines[place] ?? null, shared: sharedWith(words, data.content) }),
    )
    const isRecent = ({ data }: Row<MemoryData>): boolean => at - data.observed_at_ms <= correctedWithinMs
    const recent = change === 'correction' ? alike.filter(isRecent).length : 0
    const meant = recent > 0 ? correctedOf(candidates.slice(0, recent)) : meantOf(candidates, embedder)
    const row = meant === null ? undefined : alike[meant]
    return row === undefined ? null : this.#partsOf(owner, row, update)
  }

  async #rowsOf(owner: MemoryOwner, entries: readonly MemoryEntry[]): Promise<readonly Row<MemoryData>[]> {
    const rows = await this.#table.getMany(
      ownersScope(owner),
      entries.map(({ id }) => id),
    )
    return entries.flatMap(({ id }) => rows.get(id) ?? [])
  }

  /** Returns the part of a memory that is the closest to the update; all of it when it has one part. */
  async #partsOf(owner: MemoryOwner, row: Row<MemoryData>, { text: update, change }: Update): Promise<UpdatedMemory> {
    const holding = holdingParts(row.data)
    if (partsOf(row.data.content).length < 2 || holding.length < 2) return { row, parts: holding }
    const parts = holding.filter((part) => mayUpdate(update, part, change))
    const { cosines: compare } = await this.#comparison(owner, update)
    const cosines = await compare(parts.map((text) => ({ text, vector: null })))
    const words = topicWords(update)
    const closeness = parts.map((text, place) => (cosines[place] ?? 0) + 0.02 * sharedWith(words, text))
    const best = closeness.indexOf(Math.max(...closeness))
    return { row, parts: parts.filter((_, place) => place === best) }
  }

  async #comparison(owner: MemoryOwner, update: string): Promise<Comparison> {
    const embedder = await this.#parts.embedderOf(owner.project)
    if (embedder === null) return byWords
    const embed = (texts: readonly string[]) => embedded(embedder, texts, owner)
    const [own] = await embed([update])
    if (own === undefined) return byWords
    return {
      embedder: embedder.id,
      cosines: async (texts) => {
        const made = (await embed(texts.flatMap(({ text, vector }) => (vector === null ? [text] : [])))).values()
        return texts.map(({ vector }) => cosineOf(own, vector ?? made.next().value))
      },
    }
  }
}

/** Returns the vectors of texts; none when the embedder fails, which must not fail the write. */
const embedded = async (
  embedder: MemoryEmbedder,
  texts: readonly string[],
  owner: MemoryOwner,
): Promise<readonly Float32Array[]> => {
  if (texts.length === 0) return []
  try {
    return (await embedder.embed(texts, 'passage', owner)).vectors
  } catch (error) {
    if (error instanceof ServiceError || error instanceof EmbedderUnavailable) return []
    throw error
  }
}

/** A text that may be an update, and what judges it. */
interface Judged {
  readonly owner: MemoryOwner
  readonly judge: MemoryEmbedder
  readonly text: string
}

/** Returns the logarithm of the odds that an update is one of each of these texts; null when they cannot be judged. */
async function oddsOf({ owner, judge, text }: Judged, older: readonly Compared[]): Promise<readonly number[] | null> {
  const missing = older.flatMap((each) => (each.vector === null ? [each.text] : [])).slice(0, maxEmbedded)
  const made = (await embedded(judge, missing, owner)).values()
  const vectors = older.map(({ vector }) => vector ?? made.next().value ?? null)
  const known = older.flatMap(({ text: of }, place) => olderOf(of, vectors[place] ?? null))
  const odds = await comparedBy(judge, text, known)
  if (odds === null) return null
  const judged = odds.values()
  const all = vectors.map((vector) => (vector === null ? never : (judged.next().value ?? never)))
  const likely = new Set([...all.keys()].toSorted((a, b) => (all[b] ?? never) - (all[a] ?? never)).slice(0, maxSigned))
  return all.map((each, place) => (likely.has(place) ? each + oddsOfSigns(text, older[place]?.text ?? '') : never))
}

const never = Number.NEGATIVE_INFINITY

const olderOf = (text: string, vector: Float32Array | null): readonly OlderText[] =>
  vector === null ? [] : [{ text, vector }]

/** Returns null when the embedder cannot compare texts. */
const comparedBy = async (
  embedder: MemoryEmbedder,
  update: string,
  older: readonly OlderText[],
): Promise<readonly number[] | null> => {
  try {
    const odds = (await embedder.compare?.(update, older)) ?? null
    return odds?.length === older.length ? odds : null
  } catch (error) {
    if (error instanceof EmbedderUnavailable) return null
    throw error
  }
}

const comparedOf = (data: MemoryData, embedder: string | null): Compared => ({
  text: holdingContent(data),
  vector: data.embedder === embedder && data.vector !== null ? vectorOfText(data.vector) : null,
})

const cosineOf = (one: Float32Array, other: Float32Array | undefined): number | null =>
  other === undefined || one.length !== other.length
    ? null
    : one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)

const isOlder = (entry: MemoryEntry, { place }: PassedMemory, at: number): boolean =>
  entry.validTo === null &&
  !entry.flagged &&
  entry.observedAt <= at &&
  entry.place.scope === place.scope &&
  entry.place.session === place.session &&
  entry.place.namespace === place.namespace

/** Returns the memories that an update may be about; long ones take milliseconds each. */
const updatable = async (
  rows: readonly Row<MemoryData>[],
  { text, change }: Update,
): Promise<readonly Row<MemoryData>[]> => {
  const pause = new Pause()
  const found: Row<MemoryData>[] = []
  for (const row of rows) {
    if (holdingParts(row.data).some((part) => mayUpdate(text, part, change))) found.push(row)
    if (pause.due()) await pause.turn()
  }
  return found
}

const byTime = (a: MemoryEntry, b: MemoryEntry): number => b.observedAt - a.observedAt || (a.id < b.id ? 1 : -1)

const sharedWith = (words: ReadonlySet<string>, text: string): number =>
  [...topicWords(text)].filter((word) => words.has(word)).length
