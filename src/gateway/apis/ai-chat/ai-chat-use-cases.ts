import type { UseCases } from '#actors/call/use-cases.ts'
import { callerOf } from '#gateway/call/caller.ts'
import type { ChatCall, ChatCalls } from '#gateway/call/chat-calls.ts'
import { arrayOf } from '#outgoing/wire.ts'
import { needOf } from '../chat-parts.ts'
import { memoryHeaders } from '../no-memory.ts'
import { streamedChat } from '../streamed-chat.ts'
import { chatRequestOf } from './chat-request.ts'
import { chatFrames, chatResultOf } from './chat-result.ts'

/** The use-case of `/api/ai/chat`. `userId` says whom a key calls for, unless its headers do. */
export const aiChatUseCases = (chat: ChatCalls): Pick<UseCases, 'ai_chat.create'> => ({
  'ai_chat.create': async (call) => {
    const { memory, stream, userId, user_id } = call.body
    const body = chatRequestOf(call.body)
    const caller = callerOf(call)
    const chatCall: ChatCall = {
      caller: { ...caller, externalUserId: caller.externalUserId ?? userId ?? user_id ?? null },
      operation: 'ai_chat.create',
      need: needOf(arrayOf(body.messages)),
      body,
      signal: call.signal,
    }
    const headers = memoryHeaders(memory)
    if (stream === true) {
      return { bytes: await streamedChat(chat, chatCall, { form: { ...chatFrames(memory, call.requestId), headers } }) }
    }
    const outcome = await chat.complete(chatCall)
    return { json: chatResultOf(outcome, memory), headers: [...outcome.headers, ...headers] }
  },
})
