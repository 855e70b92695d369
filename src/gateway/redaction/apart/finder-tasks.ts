import type { PiiType } from '#specs/resources/gateway/redaction.ts'
import type { ParserTask } from '#src/parsing/parser-tasks.ts'
import { findHits } from '../find-personal-data.ts'

/** Texts of one request, and what is looked for in them. */
export interface Texts {
  readonly texts: readonly string[]
  readonly types: readonly PiiType[]
  readonly region: string
}

/** Tasks of the worker that looks for personal data. */
export interface FinderTasks {
  readonly find_personal_data: ParserTask<Texts>
}

/** The hits of each text. */
export const finderTasks: FinderTasks = {
  find_personal_data: async ({ texts, types, region }) => {
    const find = findHits({ types: new Set(types), region })
    return texts.map((text) => find(text).map((hit) => ({ ...hit })))
  },
}
