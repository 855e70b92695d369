import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { VectorsUnusable } from '../search/vector-port.ts'

/** What this adapter uses of `apache-arrow`. */
export interface ArrowPackage {
  readonly Schema: new (fields: readonly object[]) => ArrowSchema
  readonly Field: new (name: string, type: object, nullable: boolean) => object
  readonly Utf8: new () => object
  readonly Binary: new () => object
  readonly Float32: new () => object
  readonly Float64: new () => object
  readonly List: new (item: object) => object
  readonly FixedSizeList: new (length: number, item: object) => object
  readonly Struct: new (fields: readonly object[]) => object
  readonly Table: new (schema: ArrowSchema, batches: readonly object[]) => ArrowTable
  readonly RecordBatch: new (schema: ArrowSchema, struct: object) => object
  makeData(parts: object): object
  vectorFromArray(values: readonly unknown[], type: object): { readonly data: readonly object[] }
}

export interface ArrowSchema {
  readonly fields: readonly { readonly name: string; readonly type: { readonly listSize?: number } }[]
}

/** A part of a column. */
interface ArrowData {
  readonly length: number
  readonly children: readonly { readonly values: Float32Array }[]
  getValid(row: number): boolean
}

/** A column of a table or of a batch. */
interface ArrowColumn extends Iterable<unknown> {
  readonly data: readonly ArrowData[]
}

export interface ArrowTable {
  readonly numRows: number
  getChild(name: string): ArrowColumn | null
}

interface WordsOptions {
  readonly withPosition: boolean
  readonly baseTokenizer: 'whitespace'
  readonly lowercase: boolean
  readonly stem: boolean
  readonly removeStopWords: boolean
  readonly asciiFolding: boolean
}

interface IvfPqOptions {
  readonly distanceType: 'cosine'
  readonly maxIterations: number
}

/** What this adapter uses of `@lancedb/lancedb`. */
export interface LancePackage {
  readonly Session: new (indexCacheBytes: bigint, metadataCacheBytes: bigint) => object
  readonly Index: { btree(): object; ivfPq(options: IvfPqOptions): object; fts(options: WordsOptions): object }
  readonly MatchQuery: new (words: string, column: string) => object
  connect(uri: string, options: { readonly readConsistencyInterval: number }, session: object): Promise<LanceConnection>
}

export interface LanceConnection {
  tableNames(options: { readonly limit: number; readonly startAfter?: string }): Promise<readonly string[]>
  openTable(name: string): Promise<LanceTable>
  createEmptyTable(name: string, schema: ArrowSchema, options: { readonly existOk: boolean }): Promise<LanceTable>
  dropTable(name: string): Promise<void>
  close(): void
}

export interface LanceTable {
  schema(): Promise<ArrowSchema>
  version(): Promise<number>
  countRows(filter?: string): Promise<number>
  add(rows: ArrowTable): Promise<unknown>
  delete(filter: string): Promise<unknown>
  mergeInsert(key: string): LanceMerge
  query(): LanceQuery
  vectorSearch(vector: Float32Array): LanceVectorQuery
  listIndices(): Promise<readonly { readonly columns: readonly string[] }[]>
  createIndex(column: string, options: { readonly config: object }): Promise<void>
  checkoutLatest(): Promise<void>
  optimize(options?: { readonly cleanupOlderThan: Date }): Promise<unknown>
}

interface LanceMerge {
  whenMatchedUpdateAll(options?: { readonly where: string }): LanceMerge
  whenNotMatchedInsertAll(): LanceMerge
  execute(rows: ArrowTable): Promise<unknown>
}

export interface LanceQuery extends AsyncIterable<ArrowTable> {
  fullTextSearch(words: object): LanceQuery
  where(filter: string): LanceQuery
  select(columns: readonly string[]): LanceQuery
  limit(rows: number): LanceQuery
  /** Leaves out what the index of words lacks. */
  fastSearch(): LanceQuery
  toArrow(): Promise<ArrowTable>
}

interface LanceVectorQuery extends LanceQuery {
  distanceType(type: 'cosine'): LanceVectorQuery
  nprobes(partitions: number): LanceVectorQuery
  refineFactor(factor: number): LanceVectorQuery
}

/** The two packages, which are no dependencies of the server: 200 MB that most installations never use. */
export interface LancePackages {
  readonly lance: LancePackage
  readonly arrow: ArrowPackage
}

const specifier = '@lancedb/lancedb'
/** With fewer its index of words is never finished, without an error. */
const minThreads = 2

/** Loads LanceDB from where `require` finds it. */
export const lanceOf = (require: NodeJS.Require): LancePackages => {
  // its engine writes a warning for every new table otherwise
  process.env.LANCEDB_LOG ??= 'error'
  if (availableParallelism() <= minThreads) process.env.LANCE_CPU_THREADS ??= `${minThreads}`
  return { lance: require(specifier), arrow: require('apache-arrow') }
}

/**
 * Loads LanceDB, which an operator has installed beside the server, or in the working folder.
 *
 * @throws {VectorsUnusable} when it is in neither.
 */
export const loadLance = (): LancePackages => {
  for (const folder of [import.meta.filename, join(process.cwd(), 'package.json')]) {
    const require = createRequire(folder)
    try {
      require.resolve(specifier)
    } catch {
      continue
    }
    return lanceOf(require)
  }
  throw new VectorsUnusable(`LANCEDB_URI needs LanceDB: run \`npm install ${specifier}@0.31.0 apache-arrow@18.1.0\`.`)
}
