import type { ChatCalls } from '../calls/chat-calls.ts'
import { aiChatUseCases } from './ai-chat/ai-chat-use-cases.ts'

/** What the forms stand on. */
export interface FormParts {
  readonly chat: ChatCalls
}

/** The use-cases of every chat form beside OpenAI's own. */
export const formUseCases = ({ chat }: FormParts) => aiChatUseCases(chat)
