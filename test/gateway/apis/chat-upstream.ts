import type { GatewayCall } from '#gateway/call/accounting/call-ledger.ts'
import { openAdmission } from '#gateway/call/admission.ts'
import type { Route } from '#gateway/call/routes.ts'
import { openChats } from '#gateway/chat/open-chats.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { noGuard } from '#test/gateway/no-guard.ts'
import { type Answer, openUpstream, whole } from '../call/scripted-upstream.ts'

/** Chat calls to a real local server that implements OpenAI's API. */
export const openChatUpstream = async (other: Partial<Route> = {}) => {
  const upstream = await openUpstream()
  const recorded: GatewayCall[] = []
  const route: Route = {
    model: 'model-1',
    provider: 'groq',
    format: 'openai',
    baseUrl: `${upstream.url}/v1`,
    apiKey: 'key-1',
    source: 'managed',
    connectionId: null,
    ...other,
  }
  const { chats } = openChats({
    routes: { resolve: () => [route] },
    admission: openAdmission,
    redaction: { policyOf: () => null, forLog: (body) => body },
    ledger: { record: (call) => void recorded.push(call), flush: () => Promise.resolve() },
    guard: noGuard,
    now: Date.now,
    policy: { retries: 0 },
  })
  const close = async () => {
    await chats.close()
    await upstream.close()
  }
  return { upstream, chats, route, recorded, close }
}

/** A stream of chat completion chunks with these deltas. */
export const chatStream = (deltas: readonly WireObject[], finish_reason: string): Answer => {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'model-1' }
  const chunks = [
    ...deltas.map((delta) => ({ ...head, choices: [{ index: 0, delta, finish_reason: null }] })),
    { ...head, choices: [{ index: 0, delta: {}, finish_reason }] },
    { ...head, choices: [], usage: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 } },
  ]
  return whole(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`)
}
