import { RowTurns } from '#records/row-turns.ts'
import { Table } from '#records/table.ts'
import type { DocumentSegment } from '#retrieval/index.ts'
import { newId } from '#runtime/index.ts'
import { type BlobStore, projectScope, type RecordStore } from '#storage/index.ts'
import { type IndexParts, IndexSegments } from './index-segments.ts'
import { SegmentBlobs } from './segment-blobs.ts'
import { abandoned, covers, languageOf } from './segment-refs.ts'
import type { IndexedRow, IndexPlace, IndexState, LoadedIndex, SegmentRef, StoredIndex } from './stored-index.ts'

/** Maximum number of changed documents that wait for their segment. */
const maxWaiting = 200
/** Time in ms for which an announcement covers further changes: half of that after which it counts as abandoned. */
const announcedMs = 30_000
/** Time in ms after which a process that does not say so any more no longer makes a copy of an index. */
const makingMs = 60_000
/** Beginning of the names of processes that note in documents, and for removals in the state, what they change. */
export const changePrefix = 'wcm'

/** Changes of documents by this process that no segment has yet. */
class Open<Row extends IndexedRow> {
  readonly process = newId(changePrefix)
  /** ms since the epoch: when it was announced; null if it is not. */
  announcedAt: number | null = null
  /** Number of changes that are being made. */
  making = 0
  readonly rows: Map<string, Row>
  readonly removed: Map<string, number>

  /** @param noted changes that were noted before, in the same maps. */
  constructor({ rows, removed }: Omit<Noted<Row>, 'process'> = { rows: new Map(), removed: new Map() }) {
    this.rows = rows
    this.removed = removed
  }

  get isEmpty(): boolean {
    return this.making === 0 && this.rows.size === 0 && this.removed.size === 0
  }
}

/** Where a change notes the documents that it has changed, and the time at which it removed others. */
export interface Noted<Row extends IndexedRow> {
  /** Name under which the change was announced. */
  readonly process: string
  readonly rows: Map<string, Row>
  readonly removed: Map<string, number>
}

export interface ChangesParts {
  readonly records: RecordStore
  readonly blobs: BlobStore
  readonly now: () => number
  /** Whether this process merges the segments of a project; absent: of all. */
  readonly isOurs?: (project: string) => boolean
}

/**
 * Writes what changes of documents as segments of their index. A change is announced before it is made. A process that
 * ends before it has noted its changes leaves the announcement, and the next one that searches a minute later compares
 * all documents with the index.
 */
export class IndexChanges<Row extends IndexedRow, Index extends LoadedIndex<Row>, Segment extends DocumentSegment> {
  readonly #parts: IndexParts<Row, Index, Segment>
  readonly declaration: StoredIndex<Row, Index, Segment>
  readonly blobs: SegmentBlobs
  readonly segments: IndexSegments<Row, Index, Segment>
  readonly #open = new Map<string, Open<Row>>()
  readonly #turns = new RowTurns()
  readonly #process = newId('wmk')

  constructor(declaration: StoredIndex<Row, Index, Segment>, { records, blobs, now, isOurs }: ChangesParts) {
    this.declaration = declaration
    this.blobs = new SegmentBlobs(blobs, declaration.blobs, now)
    const states = new Table(records, declaration.states, now)
    this.#parts = { declaration, states, blobs: this.blobs, now, ...(isOurs && { isOurs }) }
    this.segments = new IndexSegments(this.#parts)
  }

  /** Whether this process merges the segments of a project. */
  isOurs(project: string): boolean {
    return this.#parts.isOurs?.(project) ?? true
  }

  async state({ project, id }: IndexPlace): Promise<IndexState | null> {
    return (await this.#parts.states.get(projectScope(project), id))?.data ?? null
  }

  /** Whether changes of this process are in no segment yet. */
  has({ project, id }: IndexPlace): boolean {
    return this.#open.has(keyOf({ project, id }))
  }

  /** Makes a change of documents, after it was announced. */
  async make<T>(place: IndexPlace, change: (note: Noted<Row>) => Promise<T>): Promise<T> {
    const key = keyOf(place)
    const open = await this.#turns.take(key, () => this.#announced(place))
    try {
      return await change(open)
    } catch (error) {
      // it may have been made: its announcement stays, until all documents are compared; what was noted is stored as usual
      if (this.#open.get(key) === open) this.#renounce(key, open)
      throw error
    } finally {
      open.making--
      if (open.rows.size + open.removed.size >= maxWaiting || open.isEmpty) await this.flush(place)
    }
  }

  /** Announces that a change is about to remove a document, of which no row will be left that names the process. */
  async removing(place: IndexPlace, { process }: Noted<Row>, id: string): Promise<void> {
    await this.#amend(place, (data) => ({
      ...data,
      removing: { ...data.removing, [process]: [...(data.removing?.[process] ?? []), id] },
    }))
  }

  /** Whether this process may make a copy of an index: no other does. It has to be claimed again within a minute. */
  async claim(place: IndexPlace): Promise<boolean> {
    const at = this.#parts.now()
    let isOurs = false
    await this.#amend(place, (data) => {
      const { making } = data
      isOurs = making === undefined || making.process === this.#process || at - making.at >= makingMs
      return isOurs ? { ...data, making: { process: this.#process, at } } : data
    })
    return isOurs
  }

  /** Ends what `claim` began. */
  release(place: IndexPlace): Promise<void> {
    return this.#amend(place, ({ making, ...data }) =>
      making === undefined || making.process === this.#process ? data : { ...data, making },
    )
  }

  /** Notes that a copy of an index is not made anew any more. */
  enlarged(place: IndexPlace): Promise<void> {
    return this.#amend(place, (data) => ({ ...data, large: true }))
  }

  /** Notes documents that have to leave the files of a large copy, or that have left them. */
  erasing(place: IndexPlace, ids: readonly string[], isDone = false): Promise<void> {
    return this.#amend(place, ({ erasing = [], ...data }) => {
      const given = new Set(ids)
      const others = erasing.filter((id) => !given.has(id))
      const all = isDone ? others : [...others, ...given]
      return { ...data, ...(all.length > 0 && { erasing: all }) }
    })
  }

  /** Leaves the announcement of changes to others, and goes on with what was noted. */
  #renounce(key: string, open: Open<Row>): void {
    if (open.making === 1 && open.rows.size === 0 && open.removed.size === 0) this.#open.delete(key)
    else this.#open.set(key, new Open(open))
  }

  async #announced(place: IndexPlace): Promise<Open<Row>> {
    const key = keyOf(place)
    const open = this.#open.get(key) ?? new Open<Row>()
    this.#open.set(key, open)
    open.making++
    const at = this.#parts.now()
    if (open.announcedAt !== null && at - open.announcedAt < announcedMs) return open
    try {
      await this.#edit(place, (data) => ({ ...data, changing: { ...data.changing, [open.process]: at } }))
      open.announcedAt = at
      return open
    } catch (error) {
      open.making--
      throw error
    }
  }

  /** Stores the changes that were made so far as a segment: they are found by other processes from then on. */
  async flush(place: IndexPlace): Promise<void> {
    const key = keyOf(place)
    await this.#turns.take(key, async () => {
      const open = this.#open.get(key)
      if (open === undefined) return
      await this.#store(place, open)
      if (open.isEmpty && open.announcedAt === null) this.#open.delete(key)
    })
  }

  /** Makes the changes known to other processes, and merges segments. */
  async changed(place: IndexPlace): Promise<void> {
    await this.flush(place)
    await this.segments.merge(place)
  }

  /** Makes the changes known, and removes at once what the index has of removed documents. */
  async purge(place: IndexPlace): Promise<void> {
    await this.flush(place)
    await this.segments.compact(place)
  }

  /** Begins a new generation of what is made of the segments. */
  purged(place: IndexPlace): Promise<void> {
    return this.#edit(place, (data) => ({ ...data, purges: (data.purges ?? 0) + 1 }))
  }

  async #store(place: IndexPlace, open: Open<Row>): Promise<void> {
    const { declaration, now } = this.#parts
    const [rows, removed] = [[...open.rows.values()], [...open.removed]]
    const writer = declaration.writer(place)
    const { segments: refs = [] } = (await this.state(place)) ?? {}
    const language = languageOf(refs)
    for (const row of rows) await writer.add(row, () => language)
    writer.written.removals.push(...removed)
    const isChange = writer.written.documents > 0 || removed.length > 0
    const segment = isChange ? await this.segments.put(place, { writer, from: 0, to: 0 }) : null
    const at = now()
    let isKept = false
    await this.#edit(place, (data) => {
      // a change that is being made keeps the announcement
      isKept = open.making > 0
      const { [open.process]: _, ...others } = data.changing ?? {}
      const changing = isKept ? { ...others, [open.process]: at } : others
      const next = isKept ? data : withoutRemovals(data, new Set([open.process]))
      return segment === null ? { ...next, changing } : { ...withSegments(next, [segment]), changing }
    })
    open.announcedAt = isKept ? at : null
    for (const row of rows) if (open.rows.get(row.id) === row) open.rows.delete(row.id)
    for (const [id, at] of removed) if (open.removed.get(id) === at) open.removed.delete(id)
  }

  /**
   * Adds what was missing in the segments, if anything was: the documents that all segments of a revision, and these, have are all.
   *
   * @returns the revision; null when documents changed meanwhile, so that it may not be all, or another process has added it.
   */
  async complete(place: IndexPlace, { before, segments, replaced }: Completion): Promise<number | null> {
    let revision: number | null = null
    const dropped = new Set(replaced.map(({ id }) => id))
    const closed = new Set(abandoned(before, this.#parts.now()))
    await this.#edit(place, (data) => {
      const between = { after: before.revision, to: data.revision }
      const isMissing = stillLacks(data, { before, closed, dropped })
      revision = isMissing && covers(data.segments ?? [], between) ? data.revision + Number(segments.length > 0) : null
      if (revision === null) return data
      const { announced_at, changing = {}, ...rest } = withoutRemovals(data, closed)
      const others = Object.fromEntries(Object.entries(changing).filter(([process]) => !closed.has(process)))
      const isLater = announced_at !== undefined && !closed.has('') && announced_at !== before.announced_at
      const kept = (data.segments ?? []).filter(({ id }) => !dropped.has(id))
      const all = segments.map((each) => ({ ...each, from: 1, to: data.revision + 1 }))
      return {
        ...{ ...rest, revision, changing: others, segments: [...kept, ...all] },
        ...(isLater && { announced_at }),
      }
    })
    for (const { id } of revision === null ? segments : replaced) await this.#parts.blobs.remove(place, id)
    return revision
  }

  /** Changes a state, unless it was removed with all that it is of. */
  async #amend({ project, id }: IndexPlace, change: (data: IndexState) => IndexState): Promise<void> {
    await this.#parts.states.change(projectScope(project), id, { edit: ({ data }) => change(data) })
  }

  async #edit({ project, tenant, id }: IndexPlace, change: (data: IndexState) => IndexState): Promise<void> {
    const { states } = this.#parts
    for (let tried = 0; tried < 3; tried += 1) {
      if ((await states.change(projectScope(project), id, { edit: ({ data }) => change(data) })) !== null) return
      if ((await states.insert({ id, project, tenant, data: change({ revision: 0 }) })) === null) continue
      await this.declaration.begun?.({ project, tenant, id })
      return
    }
  }
}

const keyOf = ({ project, id }: Pick<IndexPlace, 'project' | 'id'>): string => `${project}/${id}`

/** What was missing in the segments of an index. */
interface Completion {
  /** The state, as it was before the documents were compared with its segments. */
  readonly before: IndexState
  readonly segments: readonly SegmentRef[]
  /** Segments that the others replace, because they cannot be read. */
  readonly replaced: readonly SegmentRef[]
}

/** Whether no other process has added what was missing, which would be there twice. */
const stillLacks = (
  { segments = [], changing = {}, announced_at }: IndexState,
  { before, closed, dropped }: { before: IndexState; closed: ReadonlySet<string>; dropped: ReadonlySet<string> },
): boolean => {
  const named = new Set(segments.map(({ id }) => id))
  const isOpen = (process: string): boolean =>
    process === '' ? announced_at === before.announced_at : changing[process] !== undefined
  const all = { after: 0, to: before.revision }
  const wasCovered = covers(before.segments ?? [], all)
  return (
    [...dropped].every((id) => named.has(id)) && [...closed].every(isOpen) && (wasCovered || !covers(segments, all))
  )
}

/** Returns a state without the announcements of removals by some processes. */
const withoutRemovals = ({ removing = {}, ...data }: IndexState, of: ReadonlySet<string>): IndexState => {
  const others = Object.entries(removing).filter(([process]) => !of.has(process))
  return others.length === 0 ? data : { ...data, removing: Object.fromEntries(others) }
}

/** Adds segments with the changes of the next revision. */
const withSegments = (data: IndexState, added: readonly SegmentRef[]): IndexState => {
  const revision = data.revision + 1
  const segments = added.map((each) => ({ ...each, from: revision, to: revision }))
  return { ...data, revision, segments: [...(data.segments ?? []), ...segments] }
}
