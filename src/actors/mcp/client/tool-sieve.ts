import type { Transport } from '@modelcontextprotocol/client'
import type { SkippedTool, ToolDefinition } from '#machines/mcp-server/known-tools.ts'
import { mcpSdk } from '#outgoing/mcp-sdk.ts'
import { isObject } from '#runtime/index.ts'
import type { JsonObject } from '#specs/dsl/json.ts'
import { maxServerTools, maxSnapshot } from '#specs/resources/mcp/mcp-limits.ts'
import { runInSlices, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { McpFailure } from './mcp-failure.ts'
import { definitionOf, shownName } from './tool-definition.ts'

const maxSkipped = 100

/**
 * Reads the tools of a server's lists before the protocol library does, which would refuse a whole list because of one
 * invalid tool, and would validate a long one in a single turn of the event loop. The library gets the valid tools.
 */
export class ToolSieve {
  readonly tools = new Map<string, ToolDefinition>()
  readonly skipped: SkippedTool[] = []
  #listed = 0
  #length = 0

  /** Reads every list of tools that arrives over a transport. */
  watch(transport: Transport): void {
    let receive: Transport['onmessage']
    Object.defineProperty(transport, 'onmessage', {
      configurable: true,
      get: () => receive,
      set: (next: Transport['onmessage']) => {
        receive =
          next &&
          ((message, extra) => {
            const result = 'result' in message ? message.result : {}
            if (!isObject(result) || !Array.isArray(result.tools)) return next(message, extra)
            void this.#sieved(result.tools)
              .then((tools) => next({ ...message, result: { ...result, tools } }, extra))
              .catch((error: unknown) => transport.onerror?.(error instanceof Error ? error : new Error(String(error))))
          })
      },
    })
  }

  /**
   * Returns what was read, without the tools that the library left out.
   *
   * @throws {McpFailure} `too_many_tools`, `answer_too_large`
   */
  read(listed: readonly { readonly name: string }[]): {
    tools: readonly ToolDefinition[]
    skipped: readonly SkippedTool[]
  } {
    if (this.#listed > maxServerTools)
      throw new McpFailure('too_many_tools', `The server has more than ${maxServerTools} tools.`, { isFinal: true })
    if (this.#length > maxSnapshot)
      throw new McpFailure('answer_too_large', 'The definitions of the tools are too long to be stored.', {
        isFinal: true,
      })
    const tools = listed.flatMap(({ name }) => this.tools.get(name) ?? [])
    return { tools, skipped: this.skipped }
  }

  /** Reads a list, and returns its valid tools as far as the library needs them. */
  async #sieved(listed: readonly unknown[]): Promise<readonly object[]> {
    const sdk = await mcpSdk()
    const kept: object[] = []
    this.#listed += listed.length
    await runInSlices(this.#each(listed, { sdk, kept }))
    return kept
  }

  *#each(listed: readonly unknown[], { sdk, kept }: { readonly sdk: Sdk; readonly kept: object[] }): SlicedWork<void> {
    for (const each of listed) {
      if (this.#listed > maxServerTools || this.#length > maxSnapshot) return
      yield
      const read = definitionOf(each, validHints(sdk, each))
      const reason = typeof read === 'string' ? read : this.tools.has(read.name) ? 'duplicate_name' : null
      const shown = typeof read === 'string' ? null : { name: read.name, inputSchema: read.input_schema }
      if (typeof read !== 'string' && reason === null && sdk.isSpecType.Tool(shown)) {
        this.tools.set(read.name, read)
        this.#length += JSON.stringify(read).length
        kept.push(shown)
      } else if (this.skipped.length < maxSkipped)
        this.skipped.push({ name: shownName(each), reason: reason ?? 'invalid_schema' })
    }
  }
}

type Sdk = Awaited<ReturnType<typeof mcpSdk>>

/** Returns the hints of a tool as the library reads them; null for none, or invalid ones. */
const validHints = ({ specTypeSchemas }: Sdk, listed: unknown): JsonObject | null => {
  if (!isObject(listed) || !isObject(listed.annotations)) return null
  const read = specTypeSchemas.ToolAnnotations['~standard'].validate(listed.annotations)
  return 'value' in read && isObject(read.value) ? read.value : null
}
