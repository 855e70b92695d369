import { usageOf } from '#gateway/call/accounting/openai-usage.ts'
import type { FormatAnswer } from '#gateway/call/chat-format.ts'
import { refused, streamedFailure } from '#gateway/call/failure.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { isObject, textOf } from '#outgoing/wire.ts'
import { finishOf } from './openai-chunks.ts'

/** Reads an answer in OpenAI's format. @throws {AttemptFailed} when it is none, and for an error object. */
export const completionIn = (json: unknown): FormatAnswer => {
  if (!isObject(json)) throw noAnswer()
  if (isObject(json.error)) throw streamedFailure(json.error)
  if (!Array.isArray(json.choices)) throw noAnswer()
  return {
    completion: json,
    model: textOf(json.model),
    usage: isObject(json.usage) ? usageOf(json.usage) : null,
    finishReason: finishOf(json),
  }
}

const noAnswer = () => refused(new ModelError('provider_error', 'The provider returned an invalid response.'))
