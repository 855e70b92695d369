import type { UseCase, UseCases } from '#actors/call/use-cases.ts'
import { callerOf } from '#gateway/call/caller.ts'
import { errorFrame } from '#gateway/call/refusal.ts'
import type { KeepAlive } from '#gateway/call/streaming/pushed-body.ts'
import type { ChatRunRequest, RunListener, WholeAnswer } from '#gateway/chat/chat-run.ts'
import { type Chats, wholeListener } from '#gateway/chat/chats.ts'
import { CompletionStream } from '#gateway/chat/completion-stream.ts'
import { asCompletion } from '#gateway/chat/schema.ts'
import type { ChatMemory, RememberedChat } from '#gateway/remembering/chat-memory.ts'
import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { needOf } from '../chat-parts.ts'

type Completions = UseCase<'chat_completions.create'>
type CompletionCall = Parameters<Completions>[0]
type CompletionAnswer = Awaited<ReturnType<Completions>>

export interface ChatCompletionsDeps {
  readonly chats: Pick<Chats, 'run'>
  readonly keepAlive: KeepAlive
  readonly memory: Pick<ChatMemory, 'begin'>
}

/** OpenAI's chat completions. Answers of providers with the same format are passed on without being re-encoded. */
export const chatCompletionsUseCases = (deps: ChatCompletionsDeps): Pick<UseCases, 'chat_completions.create'> => ({
  'chat_completions.create': (call) => {
    const { memory } = call.body
    if (memory === undefined || memory === null || memory === false) return answered(deps, call, null)
    return remembered(deps, call)
  },
})

const answered = (deps: ChatCompletionsDeps, call: CompletionCall, chat: RememberedChat | null) =>
  call.body.stream === true ? streamed(deps, call, chat) : whole(deps, call, chat)

const remembered = async (deps: ChatCompletionsDeps, call: CompletionCall): Promise<CompletionAnswer> => {
  const { memory, messages } = call.body
  return answered(deps, call, await deps.memory.begin({ call, memory, messages, source: 'chat' }))
}

const whole = (
  { chats }: ChatCompletionsDeps,
  call: CompletionCall,
  chat: RememberedChat | null,
): Promise<CompletionAnswer> =>
  new Promise((resolve, reject) => {
    const listener = wholeListener(
      (answer) => resolve(chat === null ? answerTo(call, answer) : rememberedAnswer(chat, answer)),
      reject,
    )
    const run = chats.run(chatRunRequest(call, chat), listener)
    call.onGone?.(() => {
      run.cancel()
      reject(new ServiceError('cancelled'))
    })
  })

const streamed = (
  { chats, keepAlive }: ChatCompletionsDeps,
  call: CompletionCall,
  chat: RememberedChat | null,
): Promise<CompletionAnswer> =>
  new Promise((resolve, reject) => {
    const opening = {
      open: (bytes: Extract<CompletionAnswer, { bytes: unknown }>['bytes']) => resolve({ bytes }),
      refuse: reject,
      shown: (error: Error) => errorFrame(error, call.requestId),
    }
    const stream = new CompletionStream(opening, keepAlive, chat?.headers ?? [])
    stream.control(chats.run(chatRunRequest(call, chat), chat === null ? stream : rememberingListener(stream, chat)))
    call.onGone?.(() => {
      stream.gone()
      reject(new ServiceError('cancelled'))
    })
  })

const chatRunRequest = (call: CompletionCall, chat: RememberedChat | null): ChatRunRequest => ({
  caller: callerOf(call),
  operation: 'chat_completions.create',
  need: needOf(call.body.messages),
  body: chat === null ? call.body : bodyOf(call, chat),
  bytes: chat === null ? (call.bytes ?? null) : null,
  stream: call.body.stream === true,
})

const bodyOf = ({ body }: CompletionCall, chat: RememberedChat) => {
  const tools = chat.tools(body.tools)
  return { ...body, messages: chat.messages, ...(tools !== undefined && { tools }) }
}

/** Returns the provider's own bytes, when nothing was added to them and they are not stored for an Idempotency-Key. */
const answerTo = ({ idempotency }: CompletionCall, { bytes, completion, headers }: WholeAnswer): CompletionAnswer => {
  if (bytes !== null && idempotency === null) return { bytes: { contentType: jsonType, bytes, headers } }
  return { json: asCompletion(completion), headers: [...headers] }
}

/** Returns the answer after the memory write is durable, so that whatever the caller sees is remembered. */
const rememberedAnswer = async (
  chat: RememberedChat,
  { completion, headers }: WholeAnswer,
): Promise<CompletionAnswer> => {
  chat.add(wordsIn(completion, 'message'))
  await chat.finish()
  return { json: asCompletion({ ...completion, memory: chat.block }), headers: [...headers, ...chat.headers] }
}

/** Reads the answer for memory while passing it on; the stream ends after the memory write is durable. */
const rememberingListener = (stream: CompletionStream, chat: RememberedChat): RunListener => ({
  takesFrames: false,
  begin: (about) => stream.begin(about),
  frames: (bytes) => stream.frames(bytes),
  chunk: (chunk) => {
    chat.add(wordsIn(chunk, 'delta'))
    return stream.chunk(chunk)
  },
  whole: () => stream.whole(),
  end: () => void chat.finish().then(() => stream.end()),
  fail: (error) => stream.fail(error),
})

const wordsIn = (document: WireObject, part: 'message' | 'delta'): string =>
  textOf(objectOf(objectOf(arrayOf(document.choices)[0])[part]).content)

const jsonType = 'application/json; charset=utf-8'
