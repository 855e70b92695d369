import Anthropic from '@anthropic-ai/sdk'
import { messageUseCases } from '#gateway/apis/messages/message-use-cases.ts'
import type { Route } from '#gateway/call/routes.ts'
import { messages } from '#specs/resources/gateway/messages.ts'
import { ScriptedMemory } from '#test/support/scripted-memory.ts'
import { formServer } from './form-server.ts'
import { keptThreads } from './kept-threads.ts'
import { noDocuments } from './no-documents.ts'
import { type Script, ScriptedChat } from './scripted-chat.ts'
import { sdkFetch } from './sdk-fetch.ts'

/** The Messages API over a scripted model, through the official SDK. */
export const serving = (
  scripts: readonly Script[],
  format: Route['format'] = 'openai',
  seller: Partial<Route> = {},
) => {
  const chat = new ScriptedChat(...scripts)
  const clock = { now: Date.UTC(2026, 10, 21) }
  const memory = new ScriptedMemory()
  const route: Route = {
    ...{ model: 'model-1', provider: 'groq', format, baseUrl: 'http://127.0.0.1:1/v1' },
    ...{ apiKey: null, source: 'managed', connectionId: null },
    ...seller,
  }
  const send = formServer(messages, {
    ...messageUseCases({
      chat,
      routes: { resolve: () => [route] },
      documents: noDocuments,
      ...keptThreads(clock, memory),
    }),
  })
  const anthropic = new Anthropic({
    apiKey: 'csk_x',
    baseURL: 'http://agents.example',
    fetch: sdkFetch(send),
    maxRetries: 0,
  })
  return { chat, memory, send, anthropic, clock }
}

/** A minimal valid request. */
export const request = { model: 'model-1', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hi' }] }
