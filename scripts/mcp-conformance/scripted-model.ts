import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { isObject } from '#runtime/schema.ts'

/** A tool call that the input of a turn demands, as JSON. */
export interface ScriptedCall {
  readonly name: string
  readonly arguments: unknown
}

/** Name of the model. */
export const scriptedModel = 'scripted-1'

/**
 * A provider with OpenAI's API whose model makes exactly the tool call in its input, and then ends the turn. The
 * simulated model reads arguments from text, and could not send every value that the suite requires.
 */
export const startScriptedModel = async (): Promise<{ readonly url: string; close(): void }> => {
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const json = (value: unknown) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  if (request.method === 'GET') return void json({ object: 'list', data: [{ id: scriptedModel, object: 'model' }] })
  const body: unknown = JSON.parse(Buffer.concat(await request.toArray()).toString())
  const message = messageOf(isObject(body) ? body : {})
  const finish = 'tool_calls' in message ? 'tool_calls' : 'stop'
  const head = { id: 'chatcmpl-1', created: 1, model: scriptedModel }
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  if (!isObject(body) || body.stream !== true)
    return void json({
      ...{ ...head, object: 'chat.completion', usage },
      choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish }],
    })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (choice: object, more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }], ...more })}\n\n`,
    )
  send({ delta: { role: 'assistant', ...message }, finish_reason: null })
  send({ delta: {}, finish_reason: finish }, { usage })
  response.end('data: [DONE]\n\n')
}

const messageOf = ({ messages, tools }: Readonly<Record<string, unknown>>): object => {
  const last = Array.isArray(messages) ? Object(messages.at(-1)) : {}
  if (last.role !== 'user') return { content: 'Done.' }
  const wanted: ScriptedCall = JSON.parse(textOf(last.content))
  const offered = Array.isArray(tools) ? tools.map((tool) => String(Object(Object(tool).function).name)) : []
  const name = offered.find((each) => each.endsWith(`__${wanted.name.replaceAll(/[^\w-]/g, '_')}`))
  if (name === undefined) return { content: `No tool ${wanted.name} is offered.` }
  const call = { name, arguments: JSON.stringify(wanted.arguments) }
  return { tool_calls: [{ index: 0, id: `call_${Date.now()}`, type: 'function', function: call }] }
}

const textOf = (content: unknown): string =>
  Array.isArray(content) ? content.map((part) => String(Object(part).text ?? '')).join('') : String(content)
