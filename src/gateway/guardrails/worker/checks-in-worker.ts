import { ParserPool } from '#src/parsing/parser-pool.ts'
import type { Json } from '#storage/index.ts'
import type { LocalSpec } from '../local-checks.ts'
import type { Finding } from '../scan.ts'
import type { GuardTasks } from './guard-tasks.ts'
import { findingsFrom } from './schema.ts'

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

/** Returns what is wrong with an answer by a JSON Schema; null for nothing. @throws {ParserFailed} */
export const schemaErrors = async (schema: Json, text: string, project: string): Promise<string | null> => {
  const found = await parsers.parse('matches', { schema, text }, { owner: { project, tenant: null } })
  return typeof found === 'string' ? found : null
}
