import type { WireObject } from '#outgoing/wire.ts'
import type { ResponseOutput } from '../response-output.ts'

/** A tool that this server runs for the model of a response: a search, or a tool of a remote server. */
export interface ServerSearch {
  /** Name of the function by which the model calls it. */
  readonly name: string
  /** The function in the form of chat completions. */
  readonly definition: WireObject
  /** Whether the tool is currently offered to the model; absent: always. */
  readonly isShown?: () => boolean
  /**
   * Runs one search and adds it to the output.
   *
   * @returns the result for the model; a failed search returns a text that says so.
   * @throws when the request was aborted.
   */
  run?(query: string, within: ToolPlace): Promise<string>
  /**
   * Same as `run` but with the arguments as JSON text, for a tool that takes more than a query.
   * @returns null when an approval is required first.
   */
  call?(written: string, within: ToolPlace): Promise<string | null>
}

/** The output that a tool adds its items to, and the signal that cancels it. */
export interface ToolPlace {
  readonly output: ResponseOutput
  readonly signal: AbortSignal
}
