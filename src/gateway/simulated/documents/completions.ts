import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { tokensOfChars } from '#gateway/call/accounting/usage.ts'
import { arrayOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { runInSlices, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { choicesOf, limitedText } from '../answer-limits.ts'
import { decideReply, type Reply } from '../reply.ts'
import { createdS, sendError, sendJson, sendRefusal } from '../respond.ts'

/** Maximum number of prompts in one request, as at OpenAI. */
const maxPrompts = 2048
/** OpenAI's default for legacy completions. */
const defaultTokens = 16

/** Serves `/v1/completions`: each prompt is answered as the message of a chat would be, with `n`, `stop` and limits. */
export const completions = async (request: WireObject, response: ServerResponse): Promise<void> => {
  const prompts = typeof request.prompt === 'string' ? [request.prompt] : arrayOf(request.prompt).map(textOf)
  if (prompts.length === 0 || prompts.length > maxPrompts) {
    sendError(response, 400, 'invalid_prompt')
    return
  }
  const replies = await runInSlices(repliesTo(prompts))
  const refusal = replies.find((reply) => reply.kind === 'refuse')
  if (refusal !== undefined) sendRefusal(response, refusal)
  else {
    const texts = replies.map((reply) => (reply.kind === 'answer' ? reply.text : ''))
    sendJson(response, 200, completionsDocument(request, prompts, texts))
  }
}

function* repliesTo(prompts: readonly string[]): SlicedWork<readonly Reply[]> {
  const replies: Reply[] = []
  for (const content of prompts) {
    replies.push(yield* decideReply({ messages: [{ role: 'user', content }] }, [], ''))
    yield
  }
  return replies
}

const completionsDocument = (request: WireObject, prompts: readonly string[], texts: readonly string[]): object => {
  const times = choicesOf(request)
  const made = texts.map((text) => limitedText(text, request.stop, request.max_tokens ?? defaultTokens))
  const choices = made.flatMap(({ text, isCut }, at) =>
    Array.from({ length: times }, (_, copy) => ({
      text: request.echo === true ? `${prompts[at]}${text}` : text,
      index: at * times + copy,
      logprobs: null,
      finish_reason: isCut ? 'length' : 'stop',
    })),
  )
  const prompt_tokens = tokensIn(prompts)
  const completion_tokens = tokensIn(made.map(({ text }) => text)) * times
  return {
    id: `cmpl-${createHash('sha256').update(JSON.stringify(request)).digest('hex').slice(0, 24)}`,
    object: 'text_completion',
    created: createdS,
    model: request.model,
    choices,
    usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  }
}

const tokensIn = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Math.max(1, tokensOfChars(text.length)), 0)
