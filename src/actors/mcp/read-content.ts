import { ServiceError } from '#specs/errors/errors.ts'
import { maxContent } from '#specs/resources/mcp/mcp-limits.ts'
import { isObject } from '../runtime/index.ts'
import { textOfContent } from './agents/tool-output.ts'
import { type McpConnection, type McpTarget, type McpWork, withServer } from './client/mcp-connection.ts'
import { McpFailure } from './client/mcp-failure.ts'

const maxParts = 100

/** A part of a resource: text, or bytes in base64. */
export interface ResourceContent {
  readonly uri: string
  readonly mime_type: string | null
  readonly text: string | null
  readonly blob: string | null
}

/** A server to read from, and how. */
export interface ContentRequest {
  readonly guard: McpWork['guard']
  readonly timeoutMs: number
  /** Runs work with the server as its target. */
  readonly withTarget: <T>(use: (target: McpTarget) => Promise<T>) => Promise<T>
}

/** Returns the contents of a resource. @throws {ServiceError} `mcp_server_failed` */
export const readResource = (request: ContentRequest, uri: string): Promise<readonly ResourceContent[]> =>
  answered(request, async ({ client }, signal) => {
    const { contents } = await client.readResource({ uri }, { signal, timeout: request.timeoutMs, cacheMode: 'bypass' })
    const parts: readonly unknown[] = contents
    return bounded(parts.slice(0, maxParts).flatMap((part) => (isObject(part) ? [contentOf(part, uri)] : [])))
  })

const contentOf = (part: Readonly<Record<string, unknown>>, uri: string): ResourceContent => ({
  uri: typeof part.uri === 'string' ? part.uri : uri,
  mime_type: typeof part.mimeType === 'string' ? part.mimeType : null,
  text: typeof part.text === 'string' ? part.text : null,
  blob: typeof part.blob === 'string' ? part.blob : null,
})

/** Returns a prompt filled with arguments. @throws {ServiceError} `mcp_server_failed` */
export const fillPrompt = (
  request: ContentRequest,
  prompt: { readonly name: string; readonly arguments: Readonly<Record<string, string>> },
) =>
  answered(request, async ({ client }, signal) => {
    const filled = { name: prompt.name, arguments: { ...prompt.arguments } }
    const { description, messages } = await client.getPrompt(filled, { signal, timeout: request.timeoutMs })
    const listed: readonly unknown[] = messages
    return bounded({
      description: typeof description === 'string' ? description : null,
      messages: listed.slice(0, maxParts).flatMap((each) => {
        if (!isObject(each)) return []
        const role = each.role === 'assistant' ? ('assistant' as const) : ('user' as const)
        return [{ role, text: textOfContent(each.content) }]
      }),
    })
  })

const bounded = <T>(value: T): T => {
  if (JSON.stringify(value).length <= maxContent) return value
  throw new McpFailure('answer_too_large', 'The response of the server is too long.')
}

const answered = async <T>(
  { guard, withTarget, timeoutMs }: ContentRequest,
  use: (connection: McpConnection, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  try {
    const work = { guard, timeoutMs, signal: new AbortController().signal }
    return await withTarget((target) => withServer(target, work, use))
  } catch (error) {
    if (!(error instanceof McpFailure)) throw error
    throw new ServiceError('mcp_server_failed', { message: `${error.message} (${error.code})`, cause: error })
  }
}
