import type { WireObject } from '#outgoing/wire.ts'
import type { ResponseOutput } from '../response-output.ts'

/** A tool that this server runs for the model of a response: a search, or a tool of a remote server. */
export interface ServerSearch {
  /** The function by which the model calls it. */
  readonly name: string
  /** The function in the words of chat completions. */
  readonly definition: WireObject
  /** Whether the model sees it now; absent: always. */
  readonly isShown?: () => boolean
  /**
   * Runs one search and shows it in the output.
   *
   * @returns what the model reads; a search that failed says so. @throws when the request was aborted.
   */
  run?(query: string, within: ToolPlace): Promise<string>
  /** The same for a tool that takes more than a query. @returns null when an approval is required first. */
  call?(written: string, within: ToolPlace): Promise<string | null>
}

/** Where a tool shows what it does, and what ends it. */
export interface ToolPlace {
  readonly output: ResponseOutput
  readonly signal: AbortSignal
}
