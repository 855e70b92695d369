import type { ChatCall, ChatCalls, ChatControl, ChatListener, ChatSummary } from '#gateway/call/chat-calls.ts'
import type { WireObject } from '#outgoing/wire.ts'

/** One scripted answer of a model: deltas of `chat.completion.chunk`, and its end. */
export interface Script {
  readonly deltas?: readonly WireObject[]
  readonly finishReason?: string
  /** The stop sequence that ended the answer, sent with the last delta. */
  readonly stopText?: string
  /** Further fields of the choice with the last delta, as a provider's format adds them. */
  readonly choice?: WireObject
  readonly usage?: Partial<ChatSummary['usage']>
  readonly costUsd?: string | null
  /** The failure after the deltas, or with `refused` before the answer begins. */
  readonly error?: Error
  readonly refused?: boolean
  /** The provider is silent until this settles. */
  readonly after?: Promise<void>
}

const route = {
  model: 'model-1',
  provider: 'simulated',
  format: 'openai',
  baseUrl: 'http://127.0.0.1:1/v1',
  apiKey: null,
  source: 'simulated',
  connectionId: null,
} as const

/** A chat service with scripted answers: the n-th request gets the n-th script, further requests get the last one. */
export class ScriptedChat implements ChatCalls {
  readonly received: ChatCall[] = []
  readonly #scripts: readonly Script[]

  constructor(...scripts: readonly Script[]) {
    this.#scripts = scripts
  }

  get last(): WireObject {
    return this.received.at(-1)?.body ?? {}
  }

  async complete(call: ChatCall) {
    const script = this.#next(call)
    if (script.error !== undefined) throw script.error
    return { ...summaryOf(script), completion: completionOf(script) }
  }

  stream(call: ChatCall, listener: ChatListener): ChatControl {
    const script = this.#next(call)
    const { error, refused, deltas = [] } = script
    if (error !== undefined && refused === true) {
      void (script.after ?? Promise.resolve()).then(() => listener.fail(error))
      return { resume: () => {} }
    }
    return this.#run(script, deltas, listener, () =>
      error === undefined ? listener.end(summaryOf(script)) : listener.fail(error),
    )
  }

  #next(call: ChatCall): Script {
    this.received.push(call)
    return this.#scripts[Math.min(this.received.length, this.#scripts.length) - 1] ?? {}
  }

  #run(script: Script, deltas: readonly WireObject[], listener: ChatListener, over: () => void): ChatControl {
    let at = -1
    let paused = false
    const step = (): void => {
      if (at < 0) listener.begin({ route, headers: [['x-provider', 'simulated']] })
      else if (at < deltas.length)
        paused = !listener.chunk(chunkOf(deltas[at] ?? {}, at === deltas.length - 1 ? script : {}))
      else over()
      if (++at <= deltas.length && !paused) setImmediate(step)
    }
    void (script.after ?? Promise.resolve()).then(step)
    return {
      resume: () => {
        if (!paused) return
        paused = false
        setImmediate(step)
      },
    }
  }
}

/** The deltas of a text, one for each part. */
export const saying = (...parts: readonly string[]): WireObject[] => [
  { role: 'assistant', content: '' },
  ...parts.map((content) => ({ content })),
]

/** The deltas of a call with arguments in parts. */
export const calling = (index: number, id: string, name: string, ...parts: readonly string[]): WireObject[] => [
  { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
  ...parts.map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
]

const summaryOf = ({ finishReason = 'stop', usage, costUsd = '0.000123' }: Script): ChatSummary => ({
  route,
  model: 'model-1-2026',
  usage: { inputTokens: 7, outputTokens: 5, cachedTokens: 2, reasoningTokens: 1, ...usage },
  costUsd,
  finishReason,
  headers: [['x-provider', 'simulated']],
})

const head = { id: 'chatcmpl-1', created: 1_767_225_600, model: 'model-1-2026' }

const chunkOf = (delta: WireObject, { stopText: stop_reason, choice }: Script): WireObject => ({
  ...head,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: null, ...choice, ...(stop_reason !== undefined && { stop_reason }) }],
})

const completionOf = ({ deltas = [], finishReason = 'stop', stopText, choice }: Script): WireObject => {
  const joined = (field: string): string => deltas.map((delta) => delta[field] ?? '').join('')
  const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = []
  for (const { tool_calls } of deltas) {
    if (!Array.isArray(tool_calls)) continue
    for (const {
      index,
      id,
      function: { name = '', arguments: text },
    } of tool_calls) {
      calls[index] ??= { id, type: 'function', function: { name, arguments: '' } }
      calls[index].function.arguments += text
    }
  }
  const lists = ['thinking_blocks', 'citations', 'annotations'].flatMap((field) => {
    const list = deltas.flatMap((delta) => delta[field] ?? [])
    return list.length > 0 ? [[field, list]] : []
  })
  const message = {
    role: 'assistant',
    content: joined('content') || null,
    ...(joined('refusal') !== '' && { refusal: joined('refusal') }),
    ...(joined('reasoning_content') !== '' && { reasoning_content: joined('reasoning_content') }),
    ...Object.fromEntries(lists),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  const stop = { ...choice, ...(stopText !== undefined && { stop_reason: stopText }) }
  return { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finishReason, ...stop }] }
}
