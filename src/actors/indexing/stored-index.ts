import type { TypedKind } from '#records/schema.ts'
import type { DocumentSegment, Language, SegmentBytes, SegmentPart, SegmentReader } from '#retrieval/index.ts'

/** What an index is of: the pages of a project, a knowledge base. Its bytes are read and written nowhere else. */
export interface IndexPlace {
  readonly project: string
  readonly tenant: string | null
  /** Id of the row with its state. */
  readonly id: string
}

/** A segment of an index, whose bytes are blobs. */
export type SegmentRef = {
  readonly id: string
  /** Absent, or another number: it is made anew. */
  readonly format?: number
  /** First and last of the revisions whose changes it has. */
  readonly from: number
  readonly to: number
  readonly documents: number
  readonly passages: number
  /** Length of its vectors; 0 without any. */
  readonly dimensions: number
  /** ms since the epoch: the earliest of the removals of documents that it has; null for none. */
  readonly removed_at: number | null
  /** Length of each of its parts in bytes. */
  readonly bytes: { readonly [part in SegmentPart]?: number }
  /** Number of passages in each language. */
  readonly languages: { readonly [name in Language]?: number }
}

/** The state of an index: one row. */
export type IndexState = {
  /** Increases with every change of its documents. */
  readonly revision: number
  /** ms since the epoch: when changes were last announced by a process that writes no segments (before 0.3). */
  readonly announced_at?: number
  /** Processes that are changing documents, with the time of their announcement in ms since the epoch. */
  readonly changing?: { readonly [process: string]: number }
  /** Documents that those processes may have removed, by process. */
  readonly removing?: { readonly [process: string]: readonly string[] }
  /** Process that makes all of a copy of the index, with the time in ms since the epoch at which it last said so. */
  readonly making?: { readonly process: string; readonly at: number }
  /** Whether it is, or was, too large to be made anew whenever a document has to leave every copy. */
  readonly large?: true
  /** Removed documents of which the files of a large copy may still have something. */
  readonly erasing?: readonly string[]
  /** Number of times that all of a removed document had to leave every copy of the index; absent: never. */
  readonly purges?: number
  /** Absent until a process has written the index. */
  readonly segments?: readonly SegmentRef[]
}

/** A stored document, of which a segment is made. */
export interface IndexedRow {
  readonly id: string
  readonly version: number
}

/** Makes a segment. */
export interface SegmentWriter<Row extends IndexedRow, Segment extends DocumentSegment = DocumentSegment> {
  readonly written: {
    readonly documents: number
    readonly passages: number
    readonly dimensions: number
    readonly removals: [id: string, at: number][]
    readonly languages: SegmentRef['languages']
  }
  /** @param others language of passages whose own cannot be recognised. */
  add(row: Row, others: () => Language): Promise<void> | void
  copy(segment: Segment, isKept: (document: number) => boolean): Generator<void, unknown, void>
  finished(): Generator<void, SegmentBytes, void>
}

/** An index in memory, which is read from segments. */
export interface LoadedIndex<Row extends IndexedRow> {
  readonly size: number
  /** Estimated memory in bytes. */
  readonly bytes: number
  /** Number of its passages in memory, with those that were removed or replaced. */
  readonly extent: number
  /** Number of the segments that it has read. */
  readonly segments: number
  readonly language: Language
  readonly ids: Iterable<string>
  /** Whether it has what is stored of a document. */
  has(row: Row): boolean
  /** Called before segments are read. Returns whether all have to be read anew. */
  prepare?(stored: readonly SegmentRef[]): Promise<boolean>
  load(read: SegmentReader): Promise<void>
}

/** Declares an index that is stored in segments: what it is of, and how its segments are written and read. */
export interface StoredIndex<
  Row extends IndexedRow,
  Index extends LoadedIndex<Row>,
  Segment extends DocumentSegment = DocumentSegment,
> {
  readonly states: TypedKind<IndexState>
  /** Beginning of the names of the blobs of its segments. */
  readonly blobs: (place: IndexPlace) => string
  readonly writer: (place: IndexPlace) => SegmentWriter<Row, Segment>
  readonly segment: (bytes: SegmentBytes) => Segment
  /** @param before the one that it replaces. */
  readonly open: (place: IndexPlace, before: Index | null) => Index
  /** Called after the first state was stored: what the index is of may have been deleted meanwhile, with its state. */
  readonly begun?: (place: IndexPlace) => Promise<void>
  /** Whether documents may have been stored before their index had a state. */
  readonly mayLackState?: true
  /** Yields every document. */
  readonly all: (place: IndexPlace) => AsyncIterable<Row>
}

/** Version of the format of segments and of the analysis of their texts; incremented when either changes. */
export const segmentFormat = 3

/** Maximum age of an index in memory in ms, after which changes by other processes are applied. */
export const recheckMs = 1_000
