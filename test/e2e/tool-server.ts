import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One call that reached the tool. */
interface ToolCall {
  readonly key: string
  readonly headers: IncomingHttpHeaders
  readonly body: ReturnType<typeof JSON.parse>
}

/**
 * The HTTP tool of a customer's product: it records its calls and can withhold its answers. It also lists a model, so that
 * a provider connection may lead to it, and refuses every caller below `/closed`.
 */
export interface ToolServer {
  readonly url: string
  readonly host: string
  readonly calls: readonly ToolCall[]
  /** Resolves when the tool has been called at least `times` times. */
  called(times: number): Promise<void>
  /** Withholds answers until `answer` is called. */
  hold(): void
  /** Answers withheld and later calls. */
  answer(): void
  close(): Promise<void>
}

export const startToolServer = async (): Promise<ToolServer> => {
  const calls: ToolCall[] = []
  const held: ServerResponse[] = []
  const waiting = new Set<() => void>()
  let holding = false
  let last = {}
  const reply = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ receipt: calls.length }))
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      if (request.url === '/tool/closed') return response.writeHead(401).end()
      // as docs/receiver.mjs answers
      if (request.url === '/tool/last') return response.end(JSON.stringify(last))
      // a provider connection lists the models: not a tool call
      if (request.method === 'GET') return response.end(JSON.stringify({ data: [{ id: 'tool-model' }] }))
      const text = Buffer.concat(parts).toString()
      const body = JSON.parse(text)
      last = { headers: request.headers, body: text }
      calls.push({ key: String(request.headers['idempotency-key']), headers: request.headers, body })
      if (holding) held.push(response)
      else reply(response)
      for (const read of waiting) read()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: AddressInfo = Object(server.address())
  return {
    url: `http://127.0.0.1:${port}/tool`,
    host: `127.0.0.1:${port}`,
    calls,
    called: (times) =>
      new Promise((resolve) => {
        const read = () => {
          if (calls.length >= times && waiting.delete(read)) resolve()
        }
        waiting.add(read)
        read()
      }),
    hold: () => {
      holding = true
    },
    answer: () => {
      holding = false
      for (const response of held.splice(0)) reply(response)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Declares the tool for a turn; the simulated model calls it when the input names `issue_refund`. */
export const refundTool = (tool: Pick<ToolServer, 'url'>, more: object = {}) => ({
  type: 'http',
  name: 'issue_refund',
  description: 'Pays an order back.',
  parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  url: tool.url,
  ...more,
})

/** A turn that pauses until the refund is approved. */
export const gatedTurn = (tool: Pick<ToolServer, 'url'>, more: object = {}) => ({
  input: 'Please use issue_refund for order 1042',
  pause_on_tool_calls: true,
  tools: [refundTool(tool, { needsApproval: true, ...more })],
})
