import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { StoreUnavailable } from '#storage/ports.ts'
import { BodyMemory } from '#transport/api/body/body-memory.ts'
import { ConnectionClosed, type HttpRequest } from '#transport/http/http-port.ts'
import { McpEndpoint, mcpPath } from '#transport/mcp/mcp-endpoint.ts'
import { principals } from '../api/serving.ts'
import { FakeResponse } from '../http/fakes.ts'

const answerOf = async (method: string, failure?: Error) => {
  const lines: string[] = []
  const endpoint = new McpEndpoint({
    authenticator: {
      authenticate: () => {
        if (failure !== undefined) throw failure
        return principals.secret_key
      },
    },
    bodies: new BodyMemory(),
    clientAddress: () => '192.0.2.1',
    publicOrigin: null,
    serve: () => {},
    log: pino({ level: 'error' }, { write: (line: string) => void lines.push(line) }),
  })
  const request: HttpRequest = {
    ...{ method, path: mcpPath, query: '', remoteAddress: '127.0.0.1' },
    header: (name) => (name === 'authorization' ? 'Bearer csk_x' : undefined),
    body: () => Promise.resolve(Buffer.from('{}')),
  }
  const response = new FakeResponse()
  await endpoint.answer(request, response, 'req_1')
  return { response, lines }
}

describe('the MCP endpoint', () => {
  it.each(['TRACE', 'CONNECT', 'TRACK', 'OPTIONS', 'PUT', 'BREW'])('refuses the method %s', async (method) => {
    const { response, lines } = await answerOf(method)
    expect([response.status, JSON.parse(response.text).error.code]).toEqual([405, 'method_not_allowed'])
    expect(response.headers).toContainEqual(['allow', 'POST'])
    expect(lines).toEqual([])
  })

  it('responds with 503 while the store is unavailable', async () => {
    const { response } = await answerOf('POST', new StoreUnavailable('away'))
    expect([response.status, JSON.parse(response.text).error.code]).toEqual([503, 'store_unavailable'])
  })

  it('logs an unexpected error without revealing it', async () => {
    const { response, lines } = await answerOf('POST', new Error('a detail'))
    expect([response.status, JSON.parse(response.text).error.code]).toEqual([500, 'internal_error'])
    expect(response.text).not.toContain('a detail')
    expect(lines.join()).toContain('a detail')
  })

  it('neither responds nor logs if the client has disconnected', async () => {
    const { response, lines } = await answerOf('POST', new ConnectionClosed())
    expect([response.begun, lines]).toEqual([false, []])
  })
})
