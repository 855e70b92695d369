import { type AiChatParts, aiChatUseCases } from './ai-chat/ai-chat-use-cases.ts'
import { conversationUseCases } from './conversations/conversation-use-cases.ts'
import { Conversations } from './conversations/conversations.ts'
import { type MessageParts, messageUseCases } from './messages/message-use-cases.ts'
import { type ResponseParts, responseUseCases } from './responses/response-use-cases.ts'

/** The use-cases of every chat form beside OpenAI's own. */
export const formUseCases = (parts: Omit<ResponseParts, 'conversations'> & MessageParts & AiChatParts) => {
  const conversations = new Conversations(parts.records, parts.now)
  return {
    ...aiChatUseCases(parts),
    ...responseUseCases({ ...parts, conversations }),
    ...conversationUseCases(conversations),
    ...messageUseCases(parts),
  }
}
