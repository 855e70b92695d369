import type { PiiType } from '#specs/resources/gateway/redaction.ts'
import type { Redacted, RedactionPolicy } from '../call/redaction.ts'
import { findApart } from './apart/find-apart.ts'
import { findHits, type HitsOf } from './find-personal-data.ts'
import { Placeholders } from './placeholders.ts'

/** What a project has chosen. */
export interface PolicyChoice {
  readonly types: readonly PiiType[]
  readonly input: boolean
  readonly toolArguments: boolean
  readonly embeddings?: boolean
  readonly speech?: boolean
  readonly restore: boolean
  /** Country whose national phone numbers are known without a prefix, ISO 3166. */
  readonly region: string
}

/** Redaction by a project's choice. Placeholders are numbered anew in each request. */
export const policyBy = (choice: PolicyChoice): RedactionPolicy => {
  const { types, input, toolArguments, embeddings = input, speech = input, restore, region } = choice
  const sought = { types: new Set(types), region }
  const replaced = (texts: readonly string[], calls: readonly string[], hits: HitsOf): Redacted => {
    const placeholders = new Placeholders(hits)
    for (const text of texts) placeholders.keepClearOf(text)
    for (const text of calls) placeholders.keepClearOf(text)
    return {
      texts: texts.map((text) => placeholders.redact(text)),
      toolArguments: calls.map((text) => placeholders.redactJson(text)),
      restorer: restore && placeholders.used ? placeholders.restorer() : null,
    }
  }
  return {
    ...{ input, toolArguments, embeddings, speech },
    redact: (texts, calls = []) => replaced(texts, calls, findHits(sought)),
    redactApart: async (texts, calls = []) => replaced(texts, calls, await findApart([...texts, ...calls], sought)),
  }
}
