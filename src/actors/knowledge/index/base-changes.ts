import type { Logger } from 'pino'
import { type ChangesParts, IndexChanges, type Noted } from '#actors/indexing/index-changes.ts'
import type { IndexPlace, StoredIndex } from '#actors/indexing/stored-index.ts'
import { rowOf } from '#records/schema.ts'
import { DocumentSegment } from '#retrieval/index.ts'
import type { Clock } from '#runtime/index.ts'
import { actorBlobs, type RowWatcher } from '#runtime/internal.ts'
import { projectScope, type StoredRecord, StoreUnavailable } from '#storage/index.ts'
import { knowledgeBases, knowledgeIndexes, sourceRows } from '../kinds.ts'
import type { SourceFacts, SourceRow } from '../schema.ts'
import type { BaseIndex } from '../search/base-index.ts'
import type { SourceBlobs } from '../sources/source-blobs.ts'
import { sourcesOf } from '../sources/source-rows.ts'
import { areSameFacts, factsOf } from './source-facts.ts'
import { SourceSegmentWriter } from './source-segment-writer.ts'

export interface BaseChangesParts extends ChangesParts {
  readonly sources: SourceBlobs
  readonly open: (place: IndexPlace, before: BaseIndex | null) => BaseIndex
  readonly clock: Pick<Clock, 'after'>
  readonly log: Pick<Logger, 'warn'>
  /** Called when changes of this node are in the store, where other nodes read them. */
  readonly written: (place: IndexPlace) => void
  /** Called when a source was removed on this node. */
  readonly removed: (place: IndexPlace, source: string) => void
}

/** Time in ms after which what a removed source left in segments is removed from them, together with others. */
const purgeMs = 1_000
/** Number of sources whose facts are kept to find rows that change nothing. */
const maxKnown = 20_000

const tailOf = (id: string): string => id.slice(id.indexOf('_') + 1)

/** The index of a base. */
export const basePlace = (project: string, tenant: string | null, base: string): IndexPlace => ({
  ...{ project, tenant, id: `kix_${tailOf(base)}` },
})

const baseOf = ({ id }: IndexPlace): string => `kb_${tailOf(id)}`

const baseIndex = (
  { sources, records, open }: BaseChangesParts,
  {
    leftOut,
    begun,
  }: { readonly leftOut: (source: string) => void; readonly begun: (place: IndexPlace) => Promise<void> },
): StoredIndex<SourceRow, BaseIndex> => ({
  states: knowledgeIndexes,
  begun,
  blobs: (place) => actorBlobs({ tenant: place.tenant, actor: baseOf(place) }),
  writer: () => new SourceSegmentWriter(sources, leftOut),
  segment: (bytes) => new DocumentSegment(bytes),
  mayLackState: true,
  open,
  all: async function* (place) {
    for await (const row of sourcesOf(records, projectScope(place.project), baseOf(place)))
      if (row.data.document !== null) yield row
  },
})

/** Writes what changes of the sources of bases as segments of their indexes, as their list rows are written. */
export class BaseChanges {
  readonly index: IndexChanges<SourceRow, BaseIndex, DocumentSegment>
  readonly #parts: BaseChangesParts
  /** Facts of sources as this process last noted them. */
  readonly #known = new Map<string, SourceFacts>()
  readonly #purging = new Set<string>()

  constructor(parts: BaseChangesParts) {
    this.#parts = parts
    this.index = new IndexChanges(
      baseIndex(parts, {
        // its next row is noted, whatever that says
        leftOut: (source) => this.#known.delete(source),
        begun: (place) => this.#removeUnlessOfBase(place),
      }),
      parts,
    )
  }

  /** Forgets all facts: rows that change nothing are noted once more. */
  forgetKnown(): void {
    this.#known.clear()
  }

  /** Rejects only while the store is unavailable: a row is not held up by its index. */
  readonly watch: RowWatcher = async (records) => {
    try {
      return await this.#watched(records)
    } catch (err) {
      if (err instanceof StoreUnavailable) throw err
      this.#parts.log.warn({ err }, 'rows of sources are written without their index')
      return () => {}
    }
  }

  async #watched(records: readonly StoredRecord[]): Promise<(isWritten: boolean) => void> {
    const changes = (await Promise.all(records.map((record) => this.#changeOf(record)))).filter((each) => each !== null)
    const groups = Map.groupBy(changes, ({ place }) => place.id)
    const begun = await Promise.all(
      [...groups.values()].flatMap((some) => (some[0] === undefined ? [] : [this.#begin(some[0].place, some)])),
    )
    return (isWritten) => {
      for (const end of begun) end(isWritten)
    }
  }

  /** Returns what a row changes of an index; null for nothing. */
  async #changeOf(record: StoredRecord): Promise<SourceChange | null> {
    const { project, tenant, id } = record
    if (record.expires_at !== null) return this.#removalOf(record)
    const row: SourceRow = rowOf(sourceRows, record)
    const facts = factsOf(row)
    const known = this.#known.get(id)
    if (facts === null || (known !== undefined && areSameFacts(known, facts))) return null
    return { place: basePlace(project, tenant, row.data.knowledge_base_id), id, row, facts }
  }

  async #removalOf({ project, tenant, id }: StoredRecord): Promise<SourceChange | null> {
    const before = await this.#parts.records.get(sourceRows, projectScope(project), id)
    const base = before?.data.knowledge_base_id
    if (typeof base !== 'string') return null
    const place = basePlace(project, tenant, base)
    return (await this.index.state(place)) === null ? null : { place, id, row: null, facts: null }
  }

  /** Announces changes of a base. The function that it returns notes them. */
  async #begin(place: IndexPlace, changes: readonly SourceChange[]): Promise<(isWritten: boolean) => void> {
    const [begun, ended] = [Promise.withResolvers<Noted<SourceRow>>(), Promise.withResolvers<boolean>()]
    const made = this.index.make(place, async (noted) => {
      begun.resolve(noted)
      if (!(await ended.promise)) throw new Error('the rows were not written')
    })
    made.catch(begun.reject)
    const noted = await begun.promise
    return (isWritten) => {
      // at once: a search that waited for the rows finds what they have
      if (isWritten) for (const change of changes) this.#note(change, noted)
      ended.resolve(isWritten)
      const written = made.then(async () => {
        await this.index.flush(place)
        this.#parts.written(place)
        await this.index.segments.merge(place)
      })
      written.catch((err: unknown) => {
        if (isWritten) this.#parts.log.warn({ err, index: place.id }, 'the index of a base is written later')
      })
    }
  }

  #note({ id, row, facts, place }: SourceChange, noted: Noted<SourceRow>): void {
    if (this.#known.size >= maxKnown) this.#known.clear()
    if (row !== null && facts !== null) {
      this.#known.set(id, facts)
      noted.rows.set(id, row)
    } else {
      this.#known.delete(id)
      noted.rows.delete(id)
      noted.removed.set(id, this.#parts.now())
      this.#parts.removed(place, id)
      this.#purgeSoon(place)
    }
  }

  #purgeSoon(place: IndexPlace): void {
    if (this.#purging.has(place.id)) return
    this.#purging.add(place.id)
    this.#parts.clock.after(purgeMs, () => {
      this.#purging.delete(place.id)
      this.index.purge(place).catch((err: unknown) => {
        this.#parts.log.warn({ err, index: place.id }, 'what a removed source left in segments is removed later')
      })
    })
  }

  /** A base may be deleted while its index is written. */
  async #removeUnlessOfBase(place: IndexPlace): Promise<void> {
    const base = await this.#parts.records.get(knowledgeBases, projectScope(place.project), baseOf(place))
    if (base === null) await this.remove(place)
  }

  /** Removes the index of a deleted base. */
  async remove(place: IndexPlace): Promise<void> {
    const { records, blobs } = this.#parts
    await records.remove(knowledgeIndexes, projectScope(place.project), place.id)
    await blobs.remove(place.project, actorBlobs({ tenant: place.tenant, actor: baseOf(place) }))
  }
}

/** What the row of a source changes. */
interface SourceChange {
  readonly place: IndexPlace
  readonly id: string
  /** null: the source is removed. */
  readonly row: SourceRow | null
  readonly facts: SourceFacts | null
}
