import type { PiiType } from '#specs/resources/gateway/redaction.ts'
import type { ParserTask } from '#src/parsing/parser-tasks.ts'
import { findHits } from '../find-personal-data.ts'
import { type KeptValues, keptValues } from '../kept-values.ts'
import { Placeholders } from '../placeholders.ts'

/** Texts of one request, and the types of data to redact. */
interface RequestTexts {
  readonly texts: readonly string[]
  readonly toolArguments: readonly string[]
  readonly types: readonly PiiType[]
  readonly region: string
}

/** The redacted texts of a request. */
export type ReplacedTexts = {
  /** null for a text in which nothing was replaced. */
  readonly texts: readonly (string | null)[]
  readonly toolArguments: readonly (string | null)[]
  /** Values to restore; null when there are none. */
  readonly values: KeptValues | null
  readonly found?: Readonly<Record<string, number>>
}

/** Tasks of the worker that redacts long requests. */
export interface RedactionTasks {
  readonly redact: ParserTask<RequestTexts>
}

/**
 * Data is found and replaced in the same thread: transferring 400,000 positions between threads takes longer than
 * finding them.
 */
export const redactionTasks: RedactionTasks = {
  redact: async ({ texts, toolArguments, types, region }): Promise<ReplacedTexts> => {
    const placeholders = new Placeholders(findHits({ types: new Set(types), region }))
    const replaced = placeholders.replaced(texts, toolArguments)
    const changed = (before: readonly string[], after: readonly string[]) =>
      after.map((text, at) => (text === before[at] ? null : text))
    return {
      texts: changed(texts, replaced.texts),
      toolArguments: changed(toolArguments, replaced.toolArguments),
      ...(placeholders.found !== undefined && { found: placeholders.found }),
      values: placeholders.used ? keptValues(placeholders.values) : null,
    }
  },
}
