import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type HttpToolContext, maxToolAnswerBytes, runHttpTool } from '#actors/sessions/tools/http-tool.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'

const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`
const call = { actionId: 'act_1', arguments: { city: 'Köln' }, owner: { sessionId: 'ses_1' } } as const

describe('a tool that the server runs', () => {
  let server: Server
  let guard: SsrfGuard
  let url = ''
  let answer: (response: ServerResponse, request: IncomingMessage) => void = () => {}
  const requests: { headers: Record<string, string>; body: string; method: string }[] = []

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = ''
      request.on('data', (part) => {
        body += part
      })
      request.on('end', () => {
        const headers = Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        )
        requests.push({ headers, body, method: request.method ?? '' })
        answer(response, request)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    url = `http://127.0.0.1:${port}/tool`
    guard = openSsrfGuard({ allowedPrivateHosts: [`127.0.0.1:${port}`] })
  })
  afterAll(async () => {
    await guard.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  afterEach(() => {
    requests.length = 0
  })

  const json =
    (value: string, status = 200, type = 'application/json') =>
    (response: ServerResponse): void => {
      response.writeHead(status, { 'content-type': type }).end(value)
    }
  const context = (signal = new AbortController().signal): HttpToolContext => ({
    idempotencyKey: 'ses_1:4:0',
    secret,
    guard,
    signal,
  })
  const run = (tool: object = {}, signal?: AbortSignal) =>
    runHttpTool({ name: 'get_weather', url, ...tool }, call, context(signal))

  it('receives the signed call as a POST under the key of the effect', async () => {
    answer = json('{"sky":"grey"}')
    expect(await run()).toEqual({ ok: true, output: '{"sky":"grey"}' })
    const [request] = requests
    expect(request?.method).toBe('POST')
    expect(JSON.parse(request?.body ?? '')).toEqual({
      tool: 'get_weather',
      arguments: { city: 'Köln' },
      action_id: 'act_1',
      session_id: 'ses_1',
    })
    expect(request?.headers).toMatchObject({ 'idempotency-key': 'ses_1:4:0', 'webhook-id': 'ses_1:4:0' })
    expect(new Webhook(secret).verify(request?.body ?? '', request?.headers ?? {})).toMatchObject({
      action_id: 'act_1',
    })
    expect(() => new Webhook(secret).verify(`${request?.body} `, request?.headers ?? {})).toThrow()
  })

  it('receives the id of the run if a run called it', async () => {
    answer = json('"ok"')
    await runHttpTool({ name: 't', url }, { ...call, owner: { runId: 'run_1' } }, context())
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ run_id: 'run_1' })
  })

  it('receives its configured headers, except those that belong to the call', async () => {
    answer = json('"ok"')
    await run({ headers: { 'X-Team': 'a', 'Idempotency-Key': 'mine', 'Webhook-Signature': 'mine', host: 'evil' } })
    expect(requests[0]?.headers).toMatchObject({ 'x-team': 'a', 'idempotency-key': 'ses_1:4:0' })
    expect(requests[0]?.headers['webhook-signature']).toMatch(/^v1,/)
    expect(requests[0]?.headers.host).toMatch(/^127/)
  })

  it('may answer in plain text', async () => {
    answer = json('grün', 200, 'text/plain; charset=utf-8')
    expect(await run()).toEqual({ ok: true, output: 'grün' })
  })

  it('may answer without a body', async () => {
    answer = (response) => response.writeHead(204).end()
    expect(await run()).toEqual({ ok: true, output: '' })
  })

  it('may answer with 64 KB, and not one byte more', async () => {
    answer = json('x'.repeat(maxToolAnswerBytes), 200, 'text/plain')
    expect((await run()).ok).toBe(true)
    answer = json('x'.repeat(maxToolAnswerBytes + 1), 200, 'text/plain')
    expect(await run()).toMatchObject({ ok: false, code: 'tool_answer_too_large' })
  })

  it.each([
    ['an error status', json('{"secret":"inside"}', 500), 'tool_http_error'],
    ['a redirect that changes the method', json('', 302), 'tool_http_error'],
    ['malformed JSON', json('{"a":'), 'tool_answer_unreadable'],
    ['an image', json('x', 200, 'image/png'), 'tool_answer_unreadable'],
    ['bytes that are no text', (r: ServerResponse) => r.end(Buffer.from([0xff, 0xfe])), 'tool_answer_unreadable'],
  ])('returns a typed error after %s, without quoting the answer', async (_, reply, code) => {
    answer = reply
    const result = await run()
    expect(result).toMatchObject({ ok: false, code, reached: true })
    expect(JSON.stringify(result)).not.toContain('inside')
  })

  it('returns a typed error if the answer breaks off in the middle', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' })
      response.write('half', () => response.destroy())
    }
    expect(await run()).toMatchObject({ ok: false, code: 'tool_answer_unreadable', reached: true })
  })

  it.each([
    ['before its head', () => {}],
    ['inside its answer', (response: ServerResponse) => response.write('half')],
  ])('returns a typed error if it is silent for too long %s', async (_, reply) => {
    answer = reply
    expect(await run({ timeoutMs: 1_000 })).toMatchObject({ ok: false, code: 'tool_timeout', reached: true })
  })

  it('is cancelled with its caller', async () => {
    const aborter = new AbortController()
    answer = () => aborter.abort()
    expect(await run({}, aborter.signal)).toMatchObject({ ok: false, code: 'cancelled', reached: true })
    expect(await run({}, AbortSignal.abort())).toMatchObject({ ok: false, code: 'cancelled', reached: false })
    expect(requests).toHaveLength(1)
  })

  it('is refused at a private address, and reports that nothing was sent', async () => {
    const result = await run({ url: 'http://169.254.169.254/latest' })
    expect(result).toMatchObject({ ok: false, code: 'tool_url_refused', reached: false })
  })

  it('is refused on a redirect to a private address, and reports that it was reached', async () => {
    answer = (response) => response.writeHead(307, { location: 'http://10.0.0.1/' }).end()
    expect(await run()).toMatchObject({ ok: false, code: 'tool_url_refused', reached: true })
  })

  it('reports that nothing was sent if the port is closed', async () => {
    const port = new URL(url).port
    const silent = openSsrfGuard({ allowedPrivateHosts: ['127.0.0.1'] })
    const result = await runHttpTool({ name: 't', url: url.replace(port, '9') }, call, { ...context(), guard: silent })
    expect(result).toMatchObject({ ok: false, code: 'tool_unreachable', reached: false })
    await silent.close()
  })
})
