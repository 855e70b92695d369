import { createServer, type IncomingMessage } from 'node:http'
import type { ToolCall } from './evidence.ts'

/** The tool that turns call, outside of everything that is disturbed: it records the calls that actually reach it. */
export interface ChaosTool {
  readonly url: string
  /** `host:port`, for ALLOWED_PRIVATE_HOSTS. */
  readonly host: string
  readonly calls: readonly ToolCall[]
  close(): Promise<void>
}

/** Answer time of 20 ms to 1.5 s, so that some calls are in progress whenever a process dies. */
const answerMs = (call: number): number => 20 + ((call * 389) % 1480)

/** Starts the tool on a free loopback port. Its answer repeats the order that it was called with. */
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

/** A caller that died while sending its request does not count as a call. */
const ignored = (): void => {}
