import { createServer, type IncomingMessage } from 'node:http'
import type { ToolCall } from './evidence.ts'

/** The product's own tool, outside of all that is disturbed: it counts what really reaches it. */
export interface ChaosTool {
  readonly url: string
  /** `host:port`, for ALLOWED_PRIVATE_HOSTS. */
  readonly host: string
  readonly calls: readonly ToolCall[]
  close(): Promise<void>
}

/** Takes 20 ms to 1.5 s to answer, so that some calls are under way whenever a process dies. */
const answerMs = (call: number): number => 20 + ((call * 389) % 1480)

/** Starts it on a free loopback port. Its answer repeats the order that it was called for. */
export const startChaosTool = async (): Promise<ChaosTool> => {
  const calls: ToolCall[] = []
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const call: { action_id?: unknown; arguments?: { order?: unknown } } = Object(JSON.parse(body))
      calls.push({ key: String(request.headers['idempotency-key']), actionId: String(call.action_id) })
      const answer = JSON.stringify({ refunded: String(call.arguments?.order) })
      const reply = () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
      setTimeout(reply, answerMs(calls.length))
    }, ignored)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: { port: number } = Object(server.address())
  const host = `127.0.0.1:${port}`
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://${host}/refunds`, host, calls, close }
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString()
}

/** A caller that died in the middle of its request has not called. */
const ignored = (): void => {}
