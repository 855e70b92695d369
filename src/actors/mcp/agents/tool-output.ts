import type { ToolOutcome } from '#actors/capability/agent-resources.ts'
import { isObject } from '#runtime/index.ts'

/** Maximum length of a call's output, in characters. */
export const maxOutput = 60_000

/** Converts a server's result to output for the model: texts unchanged, and a description of other content. */
export const outcomeOfResult = (result: unknown): ToolOutcome => {
  const { content, structuredContent, isError } = isObject(result) ? result : {}
  const parts = (Array.isArray(content) ? content : []).map(textOfContent).filter((text) => text !== '')
  const text =
    parts.length === 0 && structuredContent !== undefined ? JSON.stringify(structuredContent) : parts.join('\n')
  const output = shortened(text)
  return isError === true ? { ok: false, code: 'tool_error', message: output } : { ok: true, output }
}

const shortened = (text: string): string =>
  text.length > maxOutput ? `${text.slice(0, maxOutput)}\n[The output is longer: ${text.length} characters.]` : text

/** Returns the text of one part of a content, or a line that describes it. */
export const textOfContent = (part: unknown): string => {
  if (!isObject(part)) return ''
  if (part.type === 'text') return String(part.text ?? '')
  if (part.type === 'resource_link') return `[resource ${String(part.uri ?? '')} ${String(part.name ?? '')}]`
  if (part.type === 'resource' && isObject(part.resource)) {
    const { text, uri, blob } = part.resource
    return typeof text === 'string' ? text : `[resource ${String(uri ?? '')}, ${bytesOf(blob)} bytes]`
  }
  return `[${String(part.type ?? 'content')} ${String(part.mimeType ?? '')}, ${bytesOf(part.data)} bytes]`
}

const bytesOf = (base64: unknown): number => (typeof base64 === 'string' ? Math.floor((base64.length * 3) / 4) : 0)
