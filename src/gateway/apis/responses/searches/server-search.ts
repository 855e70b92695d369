import type { WireObject } from '#outgoing/wire.ts'
import type { ResponseOutput } from '../response-output.ts'

/** A search that this server runs for the model of a response. */
export interface ServerSearch {
  /** The function by which the model calls it. */
  readonly name: string
  /** The function in the words of chat completions. */
  readonly definition: WireObject
  /**
   * Runs one search and shows it in the output.
   *
   * @returns what the model reads; a search that failed says so. @throws when the request was aborted.
   */
  run(query: string, within: { readonly output: ResponseOutput; readonly signal: AbortSignal }): Promise<string>
}
