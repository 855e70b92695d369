import type { Redacted } from '#gateway/call/redaction.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { ParserPool } from '#src/parsing/parser-pool.ts'
import type { DetectionOptions } from '../find-personal-data.ts'
import { lookup } from '../kept-values.ts'
import { PlaceholderRestorer } from '../placeholders.ts'
import type { RedactionTasks } from './redaction-tasks.ts'
import { replacedFrom } from './schema.ts'

/** The longest request takes about a second; the worst known input takes a few seconds. */
const limits = { deadlineMs: 20_000, maxHeapMb: 512 }

/** A dedicated worker, started by the first long request. */
const parsers = new ParserPool<RedactionTasks>(limits, new URL('./redaction-worker.ts', import.meta.url))

/** Redacts texts in a worker. @throws {ServiceError} `redaction_unavailable` when the worker fails. */
export const redactInWorker = async (
  { texts, toolArguments }: Pick<Redacted, 'texts' | 'toolArguments'>,
  { types, region }: DetectionOptions,
): Promise<Redacted> => {
  const input = { texts, toolArguments, types: [...types], region }
  const made = await parsers.parse('redact', input).catch((cause: unknown) => {
    throw new ServiceError('redaction_unavailable', { cause })
  })
  const replaced = replacedFrom(made)
  return {
    texts: texts.map((text, at) => replaced.texts[at] ?? text),
    toolArguments: toolArguments.map((text, at) => replaced.toolArguments[at] ?? text),
    ...(replaced.found !== undefined && { found: replaced.found }),
    restorer: replaced.values === null ? null : new PlaceholderRestorer(lookup(replaced.values)),
  }
}
