import type { JsonObject } from '#specs/dsl/json.ts'
import type { GivenAnswer } from './live-call.ts'
import type { Question } from './requested-input.ts'

/** A request for input that has no answer yet, under the server's own key. */
export type OpenRequest = { readonly key: string; readonly question: Question }

/**
 * What a call goes on with once a person answered. `held`: the server waits on the connection of the call; `given` are
 * the answers that it has. `carried`: the server gave its state along; `requests` begins with the question that is open.
 * `again`: the call is only made once more.
 */
export type Resume =
  | { readonly era: 'held'; readonly round: number; readonly hash: string; readonly given: readonly GivenAnswer[] }
  | {
      readonly era: 'carried'
      readonly round: number
      readonly again: boolean
      readonly state: string | null
      readonly requests: readonly OpenRequest[]
      readonly responses: JsonObject
    }

/** What was kept, read back: it is written by this folder alone. */
export const resumeOf = (text: string): Resume => JSON.parse(text)
