import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** A model with OpenAI's API that answers with a fixed text, word by word, and runs as long as it is not closed. */
export interface ModelServer {
  readonly url: string
  close(): void
}

const pauseMs = 100
const before =
  'Order 1042 was charged twice on 26 November: once by card, and once by bank transfer. ' +
  'The second payment of $84.00 belongs to the customer, so I am paying it back.'
const call = { name: 'issue_refund', arguments: '{"order":"1042","amount_usd":84}' }
const afterwards = 'Done: $84.00 is on its way back, receipt R-1.'

/** Starts the model on a free loopback port: it explains itself and calls a tool, then reports what the tool did. */
export const startModelServer = async (): Promise<ModelServer> => {
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: AddressInfo = Object(server.address())
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}/v1`, close }
}

const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  const { messages }: { messages: readonly { role: string }[] } = JSON.parse(Buffer.concat(parts).toString())
  const acted = messages.at(-1)?.role === 'tool'
  response.setHeader('content-type', 'text/event-stream')
  for (const content of (acted ? afterwards : before).match(/\S+\s*/g) ?? []) {
    send(response, { delta: { content } })
    await pause(pauseMs)
  }
  if (!acted) send(response, { delta: { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: call }] } })
  send(response, { delta: {}, finish_reason: acted ? 'stop' : 'tool_calls' })
  response.write(`data: ${JSON.stringify({ ...head, choices: [], usage })}\n\n`)
  response.end('data: [DONE]\n\n')
}

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'scripted' }
const usage = { prompt_tokens: 96, completion_tokens: 52, total_tokens: 148 }

const send = (response: ServerResponse, choice: object): void => {
  response.write(`data: ${JSON.stringify({ ...head, choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`)
}
