import type { JsonObject } from '#specs/dsl/json.ts'
import type { GivenAnswer } from './live-call.ts'
import type { Question } from './requested-input.ts'

/** A request for input that is not answered yet, with the server's key of it. */
export type OpenRequest = { readonly key: string; readonly question: Question }

/**
 * State from which a call resumes after a person answered. `held`: the server waits on the connection of the call, and
 * `given` contains the answers that it already has. `carried`: the server returned its state; `requests` starts with
 * the open question. `again`: the call only has to be repeated.
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

/** Parses a stored state. Only this folder writes it. */
export const resumeOf = (text: string): Resume => JSON.parse(text)
