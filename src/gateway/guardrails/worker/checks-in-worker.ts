import { ParserPool } from '#src/parsing/parser-pool.ts'
import type { Json } from '#storage/index.ts'
import type { LocalSpec } from '../local-checks.ts'
import type { Finding } from '../scan.ts'
import type { GuardTasks } from './guard-tasks.ts'
import { faultsFrom, findingsFrom } from './schema.ts'

const limits = { deadlineMs: 10_000, maxHeapMb: 512 }

/** A dedicated worker, started by the first long text. */
const parsers = new ParserPool<GuardTasks>(limits, new URL('./guard-worker.ts', import.meta.url))

/** Makes local checks of long texts. @throws {ParserFailed} */
export const scanInWorker = async (
  specs: readonly LocalSpec[],
  texts: readonly (readonly string[])[],
  project: string,
): Promise<readonly Finding[]> =>
  findingsFrom(await parsers.parse('scan', { specs, texts }, { owner: { project, tenant: null } }))

/** What is wrong with a value: the JSON Pointer of the place, and a sentence without its subject. */
export type SchemaFault = readonly [place: string, fault: string]

/** Returns what is wrong with JSON by a JSON Schema, the first faults only. @throws {ParserFailed} */
export const schemaFaults = async (schema: Json, text: string, project: string): Promise<readonly SchemaFault[]> =>
  faultsFrom(await parsers.parse('matches', { schema, text }, { owner: { project, tenant: null } }))
