import type { PiiType } from '#specs/resources/gateway/redaction.ts'
import type { RedactionPolicy } from '../call/redaction.ts'
import { Placeholders } from './placeholders.ts'

/** What a project has chosen. */
export interface PolicyChoice {
  readonly types: readonly PiiType[]
  readonly input: boolean
  readonly toolArguments: boolean
  readonly restore: boolean
  /** Country whose national phone numbers are known without a prefix, ISO 3166. */
  readonly region: string
}

/** Redaction by a project's choice. Placeholders are numbered anew in each request. */
export const policyBy = ({ types, input, toolArguments, restore, region }: PolicyChoice): RedactionPolicy => {
  const sought = { types: new Set(types), region }
  return {
    input,
    toolArguments,
    redact: (texts, calls = []) => {
      const placeholders = new Placeholders(sought)
      for (const text of texts) placeholders.keepClearOf(text)
      for (const text of calls) placeholders.keepClearOf(text)
      return {
        texts: texts.map((text) => placeholders.redact(text)),
        toolArguments: calls.map((text) => placeholders.redactJson(text)),
        restorer: restore && placeholders.used ? placeholders.restorer() : null,
      }
    },
  }
}
