import { RowTurns } from '#records/row-turns.ts'
import { PageSegmentWriter } from '#retrieval/index.ts'
import { newId } from '#runtime/index.ts'
import { projectScope } from '#storage/index.ts'
import type { PageSegmentRef, WebCorpusData } from '../kinds.ts'
import { CorpusSegments, type CorpusSegmentsParts, corpusId } from './corpus-segments.ts'
import { findableRow } from './findable-row.ts'
import type { WebPageRow } from './page-store.ts'
import { abandoned, covers, languageOf } from './segment-refs.ts'

/** Maximum number of changed pages that wait for their segment. */
const maxWaiting = 200
/** Time in ms for which an announcement covers further changes: half of that after which it counts as abandoned. */
const announcedMs = 30_000

/** Changes of a project's pages by this process that no segment has yet. */
class Open {
  readonly process = newId('wch')
  /** ms since the epoch: when it was announced; null if it is not. */
  announcedAt: number | null = null
  /** Number of changes that are being made. */
  making = 0
  readonly rows = new Map<string, WebPageRow>()
  readonly removed = new Map<string, number>()

  get isEmpty(): boolean {
    return this.making === 0 && this.rows.size === 0 && this.removed.size === 0
  }
}

/**
 * Writes what changes of the pages of a project as segments of its index. A change is announced before it is made. A
 * process that ends before it has noted its changes leaves the announcement, and the next one that searches the pages a
 * minute later compares them all with the index.
 */
export class CorpusChanges {
  readonly #parts: CorpusSegmentsParts
  readonly segments: CorpusSegments
  readonly #open = new Map<string, Open>()
  readonly #turns = new RowTurns()

  constructor(parts: CorpusSegmentsParts) {
    this.#parts = parts
    this.segments = new CorpusSegments(parts)
  }

  async corpus(project: string): Promise<WebCorpusData | null> {
    return (await this.#parts.corpora.get(projectScope(project), corpusId(project)))?.data ?? null
  }

  /** Makes a change of a page, after it was announced. */
  async make<T>(project: string, change: (note: Open) => Promise<T>): Promise<T> {
    const open = await this.#turns.take(project, () => this.#announced(project))
    try {
      return await change(open)
    } catch (error) {
      // it may have been made: its announcement stays, until all pages are compared
      if (this.#open.get(project) === open) this.#open.delete(project)
      throw error
    } finally {
      open.making--
      if (open.rows.size >= maxWaiting || open.isEmpty) await this.flush(project)
    }
  }

  async #announced(project: string): Promise<Open> {
    const open = this.#open.get(project) ?? new Open()
    this.#open.set(project, open)
    open.making++
    const at = this.#parts.now()
    if (open.announcedAt !== null && at - open.announcedAt < announcedMs) return open
    try {
      await this.#edit(project, (data) => ({ ...data, changing: { ...data.changing, [open.process]: at } }))
      open.announcedAt = at
      return open
    } catch (error) {
      open.making--
      throw error
    }
  }

  /** Stores the changes that were made so far as a segment: they are found by other processes from then on. */
  async flush(project: string): Promise<void> {
    await this.#turns.take(project, async () => {
      const open = this.#open.get(project)
      if (open === undefined) return
      await this.#store(project, open)
      if (open.isEmpty && open.announcedAt === null) this.#open.delete(project)
    })
  }

  async #store(project: string, open: Open): Promise<void> {
    const [rows, removed] = [[...open.rows.values()], [...open.removed]]
    const writer = new PageSegmentWriter()
    const { segments: refs = [] } = (await this.corpus(project)) ?? {}
    const language = languageOf(refs)
    for (const row of rows) writer.add(findableRow(row), () => language)
    writer.removals.push(...removed)
    const isChange = rows.length > 0 || removed.length > 0
    const segment = isChange ? await this.segments.put(project, { writer, from: 0, to: 0 }) : null
    const at = this.#parts.now()
    let isKept = false
    await this.#edit(project, (data) => {
      // a change that is being made keeps the announcement
      isKept = open.making > 0
      const { [open.process]: _, ...others } = data.changing ?? {}
      const changing = isKept ? { ...others, [open.process]: at } : others
      return segment === null ? { ...data, changing } : { ...withSegments(data, [segment]), changing }
    })
    open.announcedAt = isKept ? at : null
    for (const row of rows) if (open.rows.get(row.id) === row) open.rows.delete(row.id)
    for (const [id, at] of removed) if (open.removed.get(id) === at) open.removed.delete(id)
  }

  /**
   * Adds what was missing in the segments: the pages that all segments of a revision, and these, have are all pages.
   *
   * @returns the revision; null when pages changed meanwhile, so that it may not be all.
   */
  async complete(project: string, { before, segments, replaced }: Completion): Promise<number | null> {
    let revision: number | null = null
    const dropped = new Set(replaced.map(({ id }) => id))
    const closed = new Set(abandoned(before, this.#parts.now()))
    await this.#edit(project, (data) => {
      const between = { after: before.revision, to: data.revision }
      revision = covers(data.segments ?? [], between) ? data.revision + 1 : null
      if (revision === null) return data
      const { announced_at, changing = {}, ...rest } = data
      const others = Object.fromEntries(Object.entries(changing).filter(([process]) => !closed.has(process)))
      const isLater = announced_at !== undefined && !closed.has('') && announced_at !== before.announced_at
      const kept = (data.segments ?? []).filter(({ id }) => !dropped.has(id))
      const all = segments.map((each) => ({ ...each, from: 1, to: data.revision + 1 }))
      return {
        ...{ ...rest, revision, changing: others, segments: [...kept, ...all] },
        ...(isLater && { announced_at }),
      }
    })
    for (const { id } of revision === null ? segments : replaced) await this.#parts.blobs.remove(project, id)
    return revision
  }

  async #edit(project: string, change: (data: WebCorpusData) => WebCorpusData): Promise<void> {
    const { corpora } = this.#parts
    const [scope, id] = [projectScope(project), corpusId(project)]
    for (let tried = 0; tried < 3; tried += 1) {
      if ((await corpora.change(scope, id, { edit: ({ data }) => change(data) })) !== null) return
      if ((await corpora.insert({ id, project, data: change({ revision: 0 }) })) !== null) return
    }
  }
}

/** What was missing in the segments of a corpus. */
interface Completion {
  /** The corpus, as it was before its pages were compared with its segments. */
  readonly before: WebCorpusData
  readonly segments: readonly PageSegmentRef[]
  /** Segments that the others replace, because they cannot be read. */
  readonly replaced: readonly PageSegmentRef[]
}

/** Adds segments with the changes of the next revision. */
const withSegments = (data: WebCorpusData, added: readonly PageSegmentRef[]): WebCorpusData => {
  const revision = data.revision + 1
  const segments = added.map((each) => ({ ...each, from: revision, to: revision }))
  return { ...data, revision, segments: [...(data.segments ?? []), ...segments] }
}
