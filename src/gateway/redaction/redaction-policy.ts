import type { PiiType } from '#specs/resources/gateway/redaction.ts'
import type { RedactionPolicy } from '../call/redaction.ts'
import { findHits } from './find-personal-data.ts'
import { Placeholders } from './placeholders.ts'
import { redactInWorker } from './worker/redact-in-worker.ts'

/** A project's redaction settings. */
export interface PolicyChoice {
  readonly types: readonly PiiType[]
  readonly input: boolean
  readonly toolArguments: boolean
  readonly embeddings?: boolean
  readonly speech?: boolean
  readonly restore: boolean
  /** ISO 3166 country whose phone numbers are recognised in national format, without a country code. */
  readonly region: string
}

/** Creates the redaction policy for a project's settings. Placeholders are numbered afresh in each request. */
export const policyBy = (choice: PolicyChoice): RedactionPolicy => {
  const { types, input, toolArguments, embeddings = input, speech = input, restore, region } = choice
  const sought = { types: new Set(types), region }
  return {
    ...{ key: JSON.stringify(choice), input, toolArguments, embeddings, speech },
    redact: (texts, calls = []) => {
      const placeholders = new Placeholders(findHits(sought))
      const made = placeholders.replaced(texts, calls)
      const { found, replacements } = placeholders
      const restorer = restore && placeholders.used ? placeholders.restorer() : null
      return { texts: made.texts, toolArguments: made.toolArguments, restorer, found, replacements }
    },
    redactInBackground: async (texts, calls = []) => {
      const made = await redactInWorker({ texts, toolArguments: calls }, sought)
      return restore ? made : { ...made, restorer: null }
    },
  }
}
