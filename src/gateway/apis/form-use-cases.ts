import { aiChatUseCases } from './ai-chat/ai-chat-use-cases.ts'
import { type MessageParts, messageUseCases } from './messages/message-use-cases.ts'
import { type ResponseParts, responseUseCases } from './responses/response-use-cases.ts'

/** The use-cases of every chat form beside OpenAI's own. */
export const formUseCases = (parts: ResponseParts & MessageParts) => ({
  ...aiChatUseCases(parts.chat),
  ...responseUseCases(parts),
  ...messageUseCases(parts),
})
