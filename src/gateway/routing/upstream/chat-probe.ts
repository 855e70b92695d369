import type { UpstreamReach, UpstreamReply } from '#gateway/call/authorization/small-request.ts'
import { addressNotAllowed } from '#outgoing/ssrf-guard.ts'
import { arrayOf, countOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { Endpoint } from '../managed-providers.ts'
import { sdkRequest } from './upstream-request.ts'

/** Result of a minimal chat completion that tests a server. */
export type ProbeResult =
  | {
      readonly ok: true
      readonly model: string
      readonly content: string
      readonly usage: {
        readonly prompt_tokens: number
        readonly completion_tokens: number
        readonly total_tokens: number
      }
    }
  | { readonly ok: false; readonly error: string; readonly timedOut: boolean }

const instruction = 'Reply with the word OK.'
const maxTokens = 5
const maxQuoted = 300
const maxContent = 2000

/**
 * Tests a server with one request for a few tokens. Never throws. Messages never contain the key, whatever the server
 * returns.
 */
export const probeChat = async (reach: UpstreamReach, endpoint: Endpoint, model: string): Promise<ProbeResult> => {
  const messages = [{ role: 'user' as const, content: instruction }]
  const reply = await sdkRequest(reach, endpoint, (sdk) => sdk.chat({ model, messages, max_tokens: maxTokens }))
  if (reply.kind === 'trouble') return failed(troubles[reply.trouble], reply.trouble === 'timeout')
  if (reply.status < 200 || reply.status > 299) return failed(refusalText(reply, endpoint.apiKey))
  const answer = objectOf(reply.json)
  const read = endpoint.format === 'anthropic' ? anthropicAnswer(answer) : openAiAnswer(answer)
  return read === null ? failed('The server returned something other than a chat completion.') : read(model)
}

const failed = (error: string, timedOut = false): ProbeResult => ({ ok: false, error, timedOut })

const troubles: Readonly<Record<Extract<UpstreamReply, { kind: 'trouble' }>['trouble'], string>> = {
  refused: addressNotAllowed,
  timeout: 'The server did not respond in time.',
  unreachable: 'The server cannot be reached.',
  cut: 'The server closed the connection before its response was complete.',
  too_large: 'The response of the server is too large.',
}

/** Quotes the server's error message, which helps the caller who registers the server; a key in it is replaced. */
const refusalText = ({ status, json }: Extract<UpstreamReply, { kind: 'answer' }>, key: string | null): string => {
  if (status >= 300 && status < 400) return `The server redirects (${status}); redirects are not followed.`
  const { error, message } = objectOf(json)
  const reported = textOf(objectOf(error).message) || textOf(error) || textOf(message)
  const hidden = key === null ? reported : reported.replaceAll(key, '[key]')
  const quoted = hidden.slice(0, maxQuoted).toWellFormed()
  return `The server answered with status ${status}${quoted === '' ? '.' : `: ${quoted}`}`
}

/** Returns the result for a requested model from a successful answer; null when the answer is not a chat completion. */
type Reader = ((requestedModel: string) => ProbeResult) | null

const openAiAnswer = (answer: WireObject): Reader => {
  const [choice] = arrayOf(answer.choices)
  if (choice === undefined) return null
  const { prompt_tokens, completion_tokens } = objectOf(answer.usage)
  const content = textOf(objectOf(objectOf(choice).message).content)
  return (requestedModel) =>
    answered(textOf(answer.model) || requestedModel, content, { input: prompt_tokens, output: completion_tokens })
}

const anthropicAnswer = (answer: WireObject): Reader => {
  if (!Array.isArray(answer.content)) return null
  const { input_tokens, output_tokens } = objectOf(answer.usage)
  const content = answer.content.map((block) => textOf(objectOf(block).text)).join('')
  return (requestedModel) =>
    answered(textOf(answer.model) || requestedModel, content, { input: input_tokens, output: output_tokens })
}

const answered = (
  model: string,
  content: string,
  { input, output }: { readonly input: unknown; readonly output: unknown },
): ProbeResult => {
  const [prompt_tokens, completion_tokens] = [countOf(input), countOf(output)]
  const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
  return { ok: true, model, content: content.slice(0, maxContent).toWellFormed(), usage }
}
