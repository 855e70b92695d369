import { type Answer, openUpstream } from '#test/gateway/call/scripted-upstream.ts'

/** A model that records every request for a test. */
export interface WatchedModel {
  readonly env: Readonly<Record<string, string>>
  /** Bodies of requests as text, in order. */
  readonly requests: () => readonly string[]
  /** Names of the tools in the newest request. */
  readonly tools: () => readonly string[]
  /** The tool call with which it answers each new input; null: it answers with text. */
  calls: { readonly name: string; readonly arguments: object } | null
  close(): Promise<void>
}

const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`

const end = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } })}\n\ndata: [DONE]\n\n`

const said = (text: string): string => `${chunk({ role: 'assistant', content: text })}${chunk({}, 'stop')}${end}`

const called = (name: string, given: object): string => {
  const call = { index: 0, id: `call_${name}`, type: 'function', function: { name, arguments: JSON.stringify(given) } }
  return `${chunk({ role: 'assistant', tool_calls: [call] })}${chunk({}, 'tool_calls')}${end}`
}

/** Opens an OpenAI-compatible server whose model makes the tool calls that a test sets. */
export const openWatchedModel = async (): Promise<WatchedModel> => {
  const upstream = await openUpstream()
  const model: Pick<WatchedModel, 'calls'> & { calls: WatchedModel['calls'] } = { calls: null }
  const answer: Answer = (response, { body }) => {
    const messages: readonly { readonly role: string }[] = Array.isArray(body.messages) ? body.messages : []
    const { calls } = model
    const text =
      calls === null || messages.at(-1)?.role !== 'user' ? said('Done.') : called(calls.name, calls.arguments)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
  }
  upstream.script(answer)
  return Object.assign(model, {
    env: { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: upstream.url },
    requests: () => upstream.received.map(({ body }) => JSON.stringify(body)),
    tools: () => {
      const listed = upstream.received.at(-1)?.body.tools
      return Array.isArray(listed) ? listed.map((tool) => String(Object(tool).function?.name)) : []
    },
    close: () => upstream.close(),
  })
}
