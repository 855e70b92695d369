import { join } from 'node:path'
import OpenAI from 'openai'
import { startService } from '../scripts/services/service.ts'
import { openAdmission } from '../src/gateway/call/admission.ts'
import { actorCaller } from '../src/gateway/call/caller.ts'
import type { ModelMessage } from '../src/gateway/call/provider-port.ts'
import type { Route } from '../src/gateway/call/routes.ts'
import { openChats } from '../src/gateway/chat/open-chats.ts'
import { GatewayTurns, type TurnModels } from '../src/gateway/turns/turn-models.ts'
import { openSsrfGuard } from '../src/outgoing/ssrf-guard.ts'
import { sized } from './extent.ts'
import { median, type Row } from './row.ts'

const rounds = sized(5, 1)
const concurrency = 64
const warmUpCalls = sized(1_000, 64)
const chunks = 20
const whose = actorCaller({ project: 'prj_bench', tenant: null, user: null }, null)

type Call = (messages: readonly ModelMessage[]) => Promise<number>

/**
 * Compares the CPU time of this process for one streamed call whose 20 chunks arrive at once: a turn's model call
 * through the gateway, and the same call through the official SDK (fetch and web streams). The two alternate, and
 * medians of the rounds are reported, for a short and a long history.
 */
export async function benchProvider({ seconds }: { readonly seconds: number }): Promise<readonly Row[]> {
  const model = await startService({
    name: 'bench-model',
    command: process.execPath,
    env: () => process.env,
    args: (port) => [join(import.meta.dirname, 'floor/model.ts'), String(port)],
    url: (port) => `http://127.0.0.1:${port}`,
  })
  const { turns, close } = openTurns(`${model.url}/v1`)
  const sdk = new OpenAI({ baseURL: `${model.url}/v1`, apiKey: 'bench', maxRetries: 0 })
  try {
    const calls = { ours: ourCall(turns), sdk: sdkCall(sdk) }
    const roundMs = (seconds * 1000) / (rounds * 2)
    for (const call of [calls.ours, calls.sdk]) await cpuPerCall(call, history(1), { calls: warmUpCalls })
    return [
      await compare('model call, 20 chunks, short history', calls, history(1), roundMs),
      await compare('model call, 20 chunks, 100 messages', calls, history(100), roundMs),
    ]
  } finally {
    await close()
    await model.stop()
  }
}

async function compare(
  measure: string,
  calls: { readonly ours: Call; readonly sdk: Call },
  messages: readonly ModelMessage[],
  roundMs: number,
): Promise<Row> {
  const ours: number[] = []
  const sdk: number[] = []
  for (let round = 0; round < rounds; round++) {
    const order = [() => cpuPerCall(calls.ours, messages, { ms: roundMs }).then((us) => ours.push(us))]
    order.push(() => cpuPerCall(calls.sdk, messages, { ms: roundMs }).then((us) => sdk.push(us)))
    for (const measureOne of round % 2 === 0 ? order : order.toReversed()) await measureOne()
  }
  const against = { name: 'openai SDK', value: median(sdk) }
  return { measure, unit: 'us CPU', ours: median(ours), against, bound: { of: 'ratio', atMost: 0.5 } }
}

/** Returns the CPU time per call in µs, with 64 concurrent callers, for a given time or number of calls. */
async function cpuPerCall(
  call: Call,
  messages: readonly ModelMessage[],
  limit: { readonly ms?: number; readonly calls?: number },
): Promise<number> {
  const before = process.cpuUsage()
  const end = performance.now() + (limit.ms ?? Number.POSITIVE_INFINITY)
  let done = 0
  const caller = async (): Promise<void> => {
    while (performance.now() < end && done < (limit.calls ?? Number.POSITIVE_INFINITY)) {
      done++
      if ((await call(messages)) === 0) throw new Error('an empty answer')
    }
  }
  await Promise.all(Array.from({ length: concurrency }, caller))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / done
}

/** Opens turn models that route every model to this server. */
function openTurns(baseUrl: string): { readonly turns: TurnModels; readonly close: () => Promise<void> } {
  const guard = openSsrfGuard({ allowedPrivateHosts: [] })
  const route: Route = Object.freeze({
    ...{ model: 'bench', provider: 'openai', format: 'openai', baseUrl, apiKey: 'bench' },
    ...{ source: 'managed', connectionId: null },
  } as const)
  const { chats } = openChats({
    routes: { resolve: () => [route] },
    admission: openAdmission,
    redaction: { policyOf: () => null, forLog: (body) => body },
    ledger: { record: () => {}, flush: () => Promise.resolve() },
    guard,
    now: Date.now,
  })
  const close = async (): Promise<void> => {
    await chats.close()
    await guard.close()
  }
  return { turns: new GatewayTurns({ chats }), close }
}

function ourCall(turns: TurnModels): Call {
  const { signal } = new AbortController()
  let calls = 0
  return async (messages) => {
    const request = { model: 'bench', messages, tools: [], idempotencyKey: `ours-${calls++}` }
    return (await turns.call(request, whose, { onDelta: () => {}, signal })).text.length
  }
}

function sdkCall(sdk: OpenAI): Call {
  let calls = 0
  return async (messages) => {
    const stream = await sdk.chat.completions.create(
      { model: 'bench', messages: messages.map(plain), stream: true, stream_options: { include_usage: true } },
      { headers: { 'idempotency-key': `sdk-${calls++}` } },
    )
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    return text.length
  }
}

const plain = (message: ModelMessage) =>
  message.role === 'assistant'
    ? ({ role: 'assistant', content: message.content } as const)
    : ({ role: 'user', content: message.content } as const)

/** Returns a conversation of `length` messages of about 50 words each, of which the last one is the user's. */
const history = (length: number): readonly ModelMessage[] =>
  Array.from({ length }, (_, at): ModelMessage => {
    const content = `message ${at} ${'some words that were said '.repeat(chunks / 2)}`
    return (length - at) % 2 === 1 ? { role: 'user', content } : { role: 'assistant', content, toolCalls: [] }
  })
