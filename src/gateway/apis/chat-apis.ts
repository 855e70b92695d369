import { type AiChatParts, aiChatUseCases } from './ai-chat/ai-chat-use-cases.ts'
import { conversationUseCases } from './conversations/conversation-use-cases.ts'
import { Conversations } from './conversations/conversations.ts'
import { type GeminiParts, geminiUseCases } from './gemini/gemini-use-cases.ts'
import { type MessageParts, messageUseCases } from './messages/message-use-cases.ts'
import { type ResponseParts, responseForm } from './responses/response-use-cases.ts'

/**
 * Opens every chat API other than OpenAI's chat completions: their use-cases, and the function that makes background
 * responses.
 */
export const openChatApis = (
  parts: Omit<ResponseParts, 'conversations'> & MessageParts & AiChatParts & GeminiParts,
) => {
  const conversations = new Conversations(parts.records, parts.now)
  const responses = responseForm({ ...parts, conversations })
  return {
    useCases: {
      ...aiChatUseCases(parts),
      ...responses.useCases,
      ...conversationUseCases(conversations),
      ...messageUseCases(parts),
      ...geminiUseCases(parts),
    },
    makeResponse: responses.make,
  }
}
