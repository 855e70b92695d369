import type { UseCase, UseCases } from '#actors/call/use-cases.ts'
import { callerOf } from '#gateway/call/caller.ts'
import { errorFrame } from '#gateway/call/refusal.ts'
import type { ChatRunRequest, WholeAnswer } from '#gateway/chat/chat-run.ts'
import { type Chats, wholeListener } from '#gateway/chat/chats.ts'
import { CompletionStream, type KeepAlive } from '#gateway/chat/completion-stream.ts'
import { asCompletion } from '#gateway/chat/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { usesMemory } from '#specs/memory-field.ts'
import { needOf } from '../chat-parts.ts'
import { memoryHeaders, noMemory } from '../no-memory.ts'

type Completions = UseCase<'chat_completions.create'>
type CompletionCall = Parameters<Completions>[0]
type CompletionAnswer = Awaited<ReturnType<Completions>>

export interface ChatCompletionsDeps {
  readonly chats: Pick<Chats, 'run'>
  readonly keepAlive: KeepAlive
}

/** Chat in OpenAI's form: what providers of that form answer is handed on as it comes. */
export const chatCompletionsUseCases = (deps: ChatCompletionsDeps): Pick<UseCases, 'chat_completions.create'> => ({
  'chat_completions.create': (call) => (call.body.stream === true ? streamed(deps, call) : whole(deps, call)),
})

const whole = ({ chats }: ChatCompletionsDeps, call: CompletionCall): Promise<CompletionAnswer> =>
  new Promise((resolve, reject) => {
    const listener = wholeListener((answer) => resolve(answerTo(call, answer)), reject)
    const run = chats.run(chatRunRequest(call), listener)
    call.onGone?.(() => {
      run.cancel()
      reject(new ServiceError('cancelled'))
    })
  })

const streamed = ({ chats, keepAlive }: ChatCompletionsDeps, call: CompletionCall): Promise<CompletionAnswer> =>
  new Promise((resolve, reject) => {
    const opening = {
      open: (bytes: Extract<CompletionAnswer, { bytes: unknown }>['bytes']) => resolve({ bytes }),
      refuse: reject,
      shown: (error: Error) => errorFrame(error, call.requestId),
    }
    const stream = new CompletionStream(opening, keepAlive, memoryHeaders(call.body.memory))
    stream.control(chats.run(chatRunRequest(call), stream))
    call.onGone?.(() => {
      stream.gone()
      reject(new ServiceError('cancelled'))
    })
  })

const chatRunRequest = (call: CompletionCall): ChatRunRequest => ({
  caller: callerOf(call),
  operation: 'chat_completions.create',
  need: needOf(call.body.messages),
  body: call.body,
  bytes: call.bytes ?? null,
  stream: call.body.stream === true,
})

/** As the provider wrote it, where nothing is to be added and no part keeps it. */
const answerTo = (
  { body, idempotency }: CompletionCall,
  { bytes, completion, headers }: WholeAnswer,
): CompletionAnswer => {
  const remembers = usesMemory(body.memory)
  if (bytes !== null && idempotency === null && !remembers) return { bytes: { contentType: jsonType, bytes, headers } }
  const json = asCompletion(remembers ? { ...completion, memory: noMemory } : completion)
  return { json, headers: [...headers, ...memoryHeaders(body.memory)] }
}

const jsonType = 'application/json; charset=utf-8'
