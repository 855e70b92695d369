import { allMessages, type ModelRequest, type ModelToolCall, type ModelUsage } from './provider-port.ts'

/** Characters that make one token in estimates: right within some 20 % for English, too low for other scripts. */
const charsPerToken = 4

/** Tokens of so many characters. */
export const tokensOfChars = (chars: number): number => Math.ceil(chars / charsPerToken)

/**
 * Usage of an answer whose provider counted nothing (a compatible server that ignores `stream_options`).
 * Marked `estimated`, so that nobody takes it for the provider's count.
 */
export function estimateUsage(request: ModelRequest, text: string, calls: readonly ModelToolCall[]): ModelUsage {
  let inputChars = 0
  for (const message of allMessages(request)) {
    inputChars += message.content.length
    if (message.role === 'assistant') inputChars += charsOfCalls(message.toolCalls)
  }
  for (const tool of request.tools) inputChars += JSON.stringify(tool).length
  return {
    inputTokens: tokensOfChars(inputChars),
    outputTokens: tokensOfChars(text.length + charsOfCalls(calls)),
    cachedTokens: 0,
    reasoningTokens: 0,
    estimated: true,
  }
}

const charsOfCalls = (calls: readonly ModelToolCall[]): number =>
  calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0)
