import type { UseCase, UseCases } from '#actors/call/use-cases.ts'
import type { PromptService } from '#actors/capability/prompt-service.ts'
import { callerOf } from '#gateway/call/caller.ts'
import { errorFrame } from '#gateway/call/refusal.ts'
import type { KeepAlive } from '#gateway/call/streaming/pushed-body.ts'
import type { ChatRunRequest, RunListener, WholeAnswer } from '#gateway/chat/chat-run-request.ts'
import { type Chats, wholeListener } from '#gateway/chat/chats.ts'
import { CompletionStream } from '#gateway/chat/completion-stream.ts'
import { asCompletion } from '#gateway/chat/schema.ts'
import type { ChatMemory, RememberedChat } from '#gateway/remembering/chat-memory.ts'
import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { PromptReference } from '#specs/resources/gateway/shapes/prompt-shapes.ts'
import { given, needOf } from '../chat-parts.ts'
import { inputItems, messagesOf } from '../responses/input-items.ts'

type Completions = UseCase<'chat_completions.create'>
type CompletionCall = Parameters<Completions>[0]
type CompletionAnswer = Awaited<ReturnType<Completions>>

export interface ChatCompletionsDeps {
  readonly chats: Pick<Chats, 'run'>
  readonly keepAlive: KeepAlive
  readonly memory: Pick<ChatMemory, 'begin'>
  /** Stored prompts that requests name; called once per request. */
  readonly prompts: () => PromptService
}

/** A call with the body that is sent: its own, or that of its stored prompt and it together. */
interface Sent {
  readonly call: CompletionCall
  readonly body: Omit<CompletionCall['body'], 'messages'> & { readonly messages: readonly WireObject[] }
  /** The caller's own bytes, if they are the body. */
  readonly bytes: Uint8Array | null
}

/** OpenAI's chat completions. Answers of providers with the same format are passed on without being re-encoded. */
export const chatCompletionsUseCases = (deps: ChatCompletionsDeps): Pick<UseCases, 'chat_completions.create'> => ({
  'chat_completions.create': (call) => {
    const { body, bytes = null } = call
    return body.prompt ? prompted(deps, call, body.prompt) : created(deps, { call, body, bytes })
  },
})

const created = (deps: ChatCompletionsDeps, sent: Sent): Promise<CompletionAnswer> => {
  const { memory } = sent.body
  if (memory === undefined || memory === null || memory === false) return answered(deps, sent, null)
  return remembered(deps, sent)
}

const prompted = async (
  deps: ChatCompletionsDeps,
  call: CompletionCall,
  reference: PromptReference,
): Promise<CompletionAnswer> => {
  const { messages, settings } = await deps.prompts().filled(call.scope.project, reference)
  const { model: _model, max_output_tokens: limit, ...sampling } = settings
  const { prompt: _prompt, ...own } = call.body
  const isLimited = (own.max_tokens ?? own.max_completion_tokens ?? null) !== null || limit === undefined
  const body = {
    ...{ ...sampling, ...(!isLimited && { max_completion_tokens: limit }), ...given(own) },
    model: own.model,
    messages: [...messagesOf(inputItems(messages, 'prompt.messages')).map(objectOf), ...own.messages],
  }
  return created(deps, { call, body, bytes: null })
}

const answered = (deps: ChatCompletionsDeps, sent: Sent, chat: RememberedChat | null) =>
  sent.body.stream === true ? streamed(deps, sent, chat) : whole(deps, sent, chat)

const remembered = async (deps: ChatCompletionsDeps, sent: Sent): Promise<CompletionAnswer> => {
  const { memory, messages } = sent.body
  return answered(deps, sent, await deps.memory.begin({ call: sent.call, memory, messages, source: 'chat' }))
}

const whole = ({ chats }: ChatCompletionsDeps, sent: Sent, chat: RememberedChat | null): Promise<CompletionAnswer> =>
  new Promise((resolve, reject) => {
    const { call } = sent
    const listener = wholeListener(
      (answer) => resolve(chat === null ? answerTo(call, answer) : rememberedAnswer(chat, answer)),
      reject,
    )
    const run = chats.run(chatRunRequest(sent, chat), listener)
    call.onGone?.(() => {
      run.cancel()
      reject(new ServiceError('cancelled'))
    })
  })

const streamed = (
  { chats, keepAlive }: ChatCompletionsDeps,
  sent: Sent,
  chat: RememberedChat | null,
): Promise<CompletionAnswer> =>
  new Promise((resolve, reject) => {
    const { call } = sent
    const opening = {
      open: (bytes: Extract<CompletionAnswer, { bytes: unknown }>['bytes']) => resolve({ bytes }),
      refuse: reject,
      shown: (error: Error) => errorFrame(error, call.requestId),
    }
    const stream = new CompletionStream(opening, keepAlive, chat?.headers ?? [])
    stream.control(chats.run(chatRunRequest(sent, chat), chat === null ? stream : rememberingListener(stream, chat)))
    call.onGone?.(() => {
      stream.gone()
      reject(new ServiceError('cancelled'))
    })
  })

const chatRunRequest = ({ call, body, bytes }: Sent, chat: RememberedChat | null): ChatRunRequest => ({
  caller: callerOf(call),
  operation: 'chat_completions.create',
  need: needOf(body.messages),
  body: chat === null ? body : bodyOf(body, chat),
  bytes: chat === null ? bytes : null,
  stream: body.stream === true,
  ...(chat !== null && { reuse: chat }),
})

const bodyOf = (body: Sent['body'], chat: RememberedChat) => {
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
