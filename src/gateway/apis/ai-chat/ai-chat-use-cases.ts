import type { UseCases } from '#actors/call/use-cases.ts'
import { callerOf } from '#gateway/call/caller.ts'
import type { ChatBody, ChatCall, ChatCalls } from '#gateway/call/chat-calls.ts'
import type { ChatMemory, RememberedChat } from '#gateway/remembering/chat-memory.ts'
import { arrayOf } from '#outgoing/wire.ts'
import { needOf } from '../chat-parts.ts'
import { streamedChat } from '../streamed-chat.ts'
import { chatRequestOf } from './chat-request.ts'
import { chatFrames, chatResultOf } from './chat-result.ts'

/** Dependencies of `/api/ai/chat`. */
export interface AiChatParts {
  readonly chat: ChatCalls
  readonly memory: Pick<ChatMemory, 'begin'>
}

/** The use-case of `/api/ai/chat`. `userId` names the end user of the request, unless headers do. */
export const aiChatUseCases = ({ chat, memory }: AiChatParts): Pick<UseCases, 'ai_chat.create'> => ({
  'ai_chat.create': async (call) => {
    const { stream, userId, user_id } = call.body
    const requested = chatRequestOf(call.body)
    const caller = callerOf(call)
    const user = userId ?? user_id ?? undefined
    const messages = arrayOf(requested.messages)
    const remembered = await memory.begin({ call, memory: call.body.memory, messages, user, source: 'chat' })
    const body = remembered === null ? requested : rememberedBody(requested, remembered)
    const chatCall: ChatCall = {
      caller: { ...caller, externalUserId: caller.externalUserId ?? user ?? null },
      operation: 'ai_chat.create',
      need: needOf(messages),
      body,
      signal: call.signal,
      ...(remembered !== null && { reuse: remembered }),
    }
    const headers = remembered?.headers ?? []
    if (stream === true) {
      const form = { ...chatFrames(remembered, call.requestId), headers }
      return { bytes: await streamedChat(chat, chatCall, { form }) }
    }
    const outcome = await chat.complete(chatCall)
    const json = chatResultOf(outcome)
    if (remembered === null) return { json, headers: outcome.headers }
    remembered.add(json.content)
    await remembered.finish()
    return { json: { ...json, memory: remembered.block }, headers: [...outcome.headers, ...headers] }
  },
})

const rememberedBody = (body: ChatBody, remembered: RememberedChat): ChatBody => {
  const tools = remembered.tools(arrayOf(body.tools)) ?? []
  return { ...body, messages: remembered.messages, ...(tools.length > 0 && { tools }) }
}
