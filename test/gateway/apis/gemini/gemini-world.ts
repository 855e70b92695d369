import { geminiUseCases } from '#gateway/apis/gemini/gemini-use-cases.ts'
import type { Route } from '#gateway/call/routes.ts'
import type { EmbeddingCall } from '#gateway/embeddings/embedding-calls.ts'
import { gemini } from '#specs/resources/gateway/gemini.ts'
import { formServer } from '../form-server.ts'
import { type Script, ScriptedChat } from '../scripted-chat.ts'

/** The Gemini API over a scripted model, and a model of embeddings that gives each text its place. */
export const serving = (scripts: readonly Script[], seller: Partial<Route> = {}) => {
  const chat = new ScriptedChat(...scripts)
  const embedded: EmbeddingCall[] = []
  const route: Route = {
    ...{ model: 'model-1', provider: 'groq', format: 'openai', baseUrl: 'http://127.0.0.1:1/v1' },
    ...{ apiKey: null, source: 'managed', connectionId: null },
    ...seller,
  }
  const { 'gemini.list_models': _list, 'gemini.get_model': _get, ...declared } = gemini
  const send = formServer(
    declared,
    geminiUseCases({
      chat,
      routes: { resolve: () => [route] },
      embeddings: {
        create: async (call) => {
          embedded.push(call)
          const texts = Array.isArray(call.body.input) ? call.body.input : [call.body.input]
          return {
            ...{ model: 'model-1', vectors: texts.map((_, at) => [at, 1]), bytes: null, costUsd: '0', headers: [] },
            usage: { inputTokens: 1, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
          }
        },
      },
    }),
  )
  const generate = (body: object, method = 'generateContent') => send(`/v1beta/models/model-1:${method}`, body)
  return { chat, embedded, send, generate }
}

/** One turn of a caller. */
export const saysHi = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
