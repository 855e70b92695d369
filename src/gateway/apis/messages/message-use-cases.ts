import type { MessageTokensCount } from '@anthropic-ai/sdk/resources/messages'
import type { UseCases, UseCasesOf } from '#actors/call/use-cases.ts'
import type { Services } from '#actors/capability/services.ts'
import { callerOf } from '#gateway/call/caller.ts'
import type { ChatBody, ChatCall, ChatCalls, ChatOutcome } from '#gateway/call/chat-calls.ts'
import type { Route, Routes } from '#gateway/call/routes.ts'
import type { JsonCalls } from '#gateway/documents/json-calls.ts'
import { capabilitiesOf } from '#gateway/prices/model-capabilities.ts'
import { withBetas } from '#gateway/providers/anthropic/anthropic-betas.ts'
import { messagesOf } from '#gateway/providers/provider-formats.ts'
import type { ChatMemory, RememberedChat } from '#gateway/remembering/chat-memory.ts'
import { arrayOf, objectOf, textOf } from '#outgoing/wire.ts'
import { ignoredTools, needOf } from '../chat-parts.ts'
import { ruledRequest } from '../ruled-request.ts'
import { streamedChat } from '../streamed-chat.ts'
import { messageOf } from './message-answer.ts'
import { countMessage } from './message-count.ts'
import { MessageFrames } from './message-frames.ts'
import { messageRequestOf, type RouteTraits } from './message-request.ts'
import { RememberingFrames } from './remembering-frames.ts'
import { type ThreadSession, threadSessionOf } from './threads/thread-session.ts'
import { ThreadStore } from './threads/thread-store.ts'
import { ThreadedFrames } from './threads/threaded-frames.ts'

export interface MessageParts extends Pick<Services, 'log' | 'now' | 'records'> {
  readonly chat: ChatCalls
  readonly routes: Routes
  readonly documents: Pick<JsonCalls, 'create'>
  readonly memory: Pick<ChatMemory, 'begin'>
}

const traitsOf = (first: Route | undefined): RouteTraits => {
  if (first === undefined) return { service: null, reasons: true }
  const reasons = capabilitiesOf(first.provider, first.model)?.includes('reasoning') !== false
  const found = messagesOf(first)
  if (found === null) return { service: null, reasons }
  const { tools, fields, betas } = found
  return { service: { tools, fields, betas }, reasons }
}

/** Use-cases of Anthropic's Messages API. */
export const messageUseCases = (opened: MessageParts): UseCasesOf<'messages'> => {
  const { chat, routes, documents } = opened
  const parts = { ...opened, threads: new ThreadStore(opened.records, opened.now) }
  return {
    'messages.create': async (call) => {
      const caller = callerOf(call)
      const { model, metadata } = call.body
      const threading = await threadSessionOf(parts, caller, call.body)
      const { request, traits, rules } = await released(
        threading,
        ruledRequest(routes, {
          ...{ caller, operation: 'messages.create', model, metadata, traitsOf },
          convert: (to) => messageRequestOf({ ...call.body, messages: threading.messages }, to),
        }),
      )
      const { ignored } = request
      const remembered = await released(threading, rememberedFor(parts, call, request.body))
      const plain = remembered === null ? request.body : rememberedBody(request.body, remembered)
      const body = traits.service?.betas === true ? withBetas(plain, call.anthropicBeta) : plain
      const own = [['request-id', call.requestId] as const, ...ignoredTools(ignored), ...(remembered?.headers ?? [])]
      const need = needOf(arrayOf(body.messages))
      const reuse = remembered === null ? {} : { reuse: remembered }
      const chatCall: ChatCall = {
        ...{ caller, operation: 'messages.create', need, body, signal: call.signal, rules },
        ...reuse,
      }
      if (call.body.stream === true) {
        const frames = new ThreadedFrames(new MessageFrames(call.requestId, own), threading)
        const form = remembered === null ? frames : new RememberingFrames(frames, remembered)
        return { bytes: await released(threading, streamedChat(chat, chatCall, { form })) }
      }
      const outcome = await released(threading, chat.complete(chatCall))
      const json = messageOf(outcome)
      await threading.keep(json.id, json.content)
      const headers = [...outcome.headers, ...own]
      if (remembered === null) return { json, headers }
      remembered.add(wordsOf(outcome))
      await remembered.finish()
      return { json: { ...json, memory: remembered.block }, headers }
    },
    'messages.count_tokens': async (call) => {
      const caller = callerOf(call)
      const [first] = await routes.resolve(caller.project, call.body.model, 'chat')
      const { inputTokens, by } = await countMessage({ documents, caller, signal: call.signal }, call.body, first)
      const headers = [['request-id', call.requestId] as const, ['x-token-count', by] as const]
      return { json: { input_tokens: inputTokens } satisfies MessageTokensCount, headers }
    },
  }
}

type MessageCall = Parameters<UseCases['messages.create']>[0]

const rememberedFor = ({ memory }: MessageParts, call: MessageCall, body: ChatBody): Promise<RememberedChat | null> => {
  const user = call.body.metadata?.user_id ?? undefined
  const messages = arrayOf(body.messages)
  return memory.begin({ call, memory: call.body.memory, messages, user, source: 'chat' })
}

const rememberedBody = (body: ChatBody, remembered: RememberedChat): ChatBody => {
  const tools = remembered.tools(arrayOf(body.tools)) ?? []
  return { ...body, messages: remembered.messages, ...(tools.length > 0 && { tools }) }
}

const wordsOf = ({ completion }: ChatOutcome): string =>
  textOf(objectOf(objectOf(arrayOf(completion.choices)[0]).message).content)

/** Releases the thread when a request fails before its answer, so that the thread can be continued again. */
const released = async <T>(threading: ThreadSession, answer: Promise<T>): Promise<T> => {
  try {
    return await answer
  } catch (error) {
    await threading.release()
    throw error
  }
}
