import { joinedIn, joinedSummaries } from '#retrieval/index.ts'
import { newId } from '#runtime/index.ts'
import { runInSlices } from '#src/concurrency/run-in-slices.ts'

/** Beginning of the names of the notes that have the summaries of large segments. */
const prefix = 'joined'
/** Bytes from which a joined summary takes no further segment: it is read, joined and stored as a whole, in one turn of the loop each. */
const fullBytes = 6 * 1024 * 1024

/** A note of an engine that has the summaries of some large segments as one, so that it has each word once. */
interface JoinedNote {
  readonly name: string
  readonly summary: Uint8Array
  readonly of: readonly string[]
}

export const isJoined = (name: string): boolean => name.startsWith(prefix)

/** Returns the joined summaries of notes: of two that have the same segment, as processes make them at once, the later one. */
export const joinedOf = (notes: ReadonlyMap<string, Uint8Array>): readonly JoinedNote[] => {
  const known = new Set<string>()
  const latest = [...notes].filter(([name]) => isJoined(name)).toSorted(([a], [b]) => (a < b ? 1 : -1))
  return latest.flatMap(([name, summary]) => {
    const of = joinedIn(summary)
    if (of.some((id) => known.has(id))) return []
    for (const id of of) known.add(id)
    return [{ name, summary, of }]
  })
}

/** The joined summaries of an index while segments are added and leave. */
export class JoinedNotes {
  #notes: readonly JoinedNote[]
  readonly #fullBytes: number

  constructor(notes: readonly JoinedNote[], full = fullBytes) {
    this.#notes = notes
    this.#fullBytes = full
  }

  get all(): readonly JoinedNote[] {
    return this.#notes
  }

  has(segment: string): boolean {
    return this.#notes.some(({ of }) => of.includes(segment))
  }

  /** Forgets summaries with a segment that is no longer there. */
  keep(segments: ReadonlySet<string>): void {
    this.#notes = this.#notes.filter(({ of }) => of.every((id) => segments.has(id)))
  }

  async add(id: string, summary: Uint8Array): Promise<void> {
    const open = this.#notes.find((each) => each.summary.length < this.#fullBytes)
    const joined = await runInSlices(joinedSummaries(open?.summary ?? null, { id, summary }))
    const note = { name: newId(prefix), summary: joined, of: [...(open?.of ?? []), id] }
    this.#notes = [note, ...this.#notes.filter((each) => each !== open)]
  }
}
