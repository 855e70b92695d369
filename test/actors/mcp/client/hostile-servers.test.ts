import { afterEach, describe, expect, it } from 'vitest'
import { callWithInput } from '#actors/mcp/agents/input/call-with-input.ts'
import { HeldCalls } from '#actors/mcp/agents/input/held-calls.ts'
import { maxOutput } from '#actors/mcp/agents/tool-output.ts'
import { withServer } from '#actors/mcp/client/mcp-connection.ts'
import { discovered } from '#actors/mcp/client/read-tools.ts'
import { mcpLimits } from '#actors/mcp/client/wire.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { type Answering, answer, type HostileServer, named, startHostileServer } from './hostile-server.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

const started = async (answering: Answering) => {
  const server = await startHostileServer(answering)
  const guard = openSsrfGuard({ allowedPrivateHosts: [server.host] })
  open.push(server, guard)
  return { server, guard }
}

const target = ({ url }: HostileServer) => ({ url, transport: 'streamable_http', headers: {} }) as const
const signal = new AbortController().signal

const toolsOf = async (answering: Answering, timeoutMs = 10_000) => {
  const { server, guard } = await started(answering)
  return withServer(target(server), { guard, timeoutMs, signal }, discovered)
}

const listing =
  (tools: readonly object[]): Answering =>
  (received, response) =>
    answer(response, received.id, { tools })

const called = async (answering: Answering, timeoutMs = 10_000) => {
  const { server, guard } = await started(answering)
  const tool = { name: 'send', input_schema: { type: 'object' } }
  const request = { server: 'hostile', target: target(server), tool, timeoutMs }
  return callWithInput({ guard, held: new HeldCalls() }, { actionId: 'act_1', arguments: {}, signal }, request)
}

const nested = (levels: number): object => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)

describe('the tools of a hostile server', () => {
  it('are refused if there are 100,000', async () => {
    const tools = Array.from({ length: 100_000 }, (_, n) => named(`t${n}`))
    await expect(toolsOf(listing(tools))).rejects.toMatchObject({ code: expect.stringMatching(/too_many|too_large/) })
  })

  it('are refused if there are more than the maximum', async () => {
    const tools = Array.from({ length: 600 }, (_, n) => named(`t${n}`))
    await expect(toolsOf(listing(tools))).rejects.toMatchObject({ code: 'too_many_tools', isFinal: true })
  })

  it('are refused in a response of 100 MB', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, 0x20)
    let sent = 0
    const flood: Answering = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = (): void => {
        while (sent < 100 && !response.destroyed) {
          sent += 1
          if (!response.write(megabyte)) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    }
    await expect(toolsOf(flood)).rejects.toMatchObject({ code: 'answer_too_large' })
    expect(sent).toBeLessThan(100)
  })

  it('are refused if their pages have no end', async () => {
    let page = 0
    const endless: Answering = (received, response) =>
      answer(response, received.id, { tools: [named(`t${page}`)], nextCursor: String(page++) })
    await expect(toolsOf(endless)).rejects.toMatchObject({ name: 'McpFailure' })
    expect(page).toBeLessThan(100)
  })

  it('are refused if a schema is nested too deeply', async () => {
    const deep = named('deep', { inputSchema: { type: 'object', properties: nested(mcpLimits.maxDepth) } })
    await expect(toolsOf(listing([deep]))).rejects.toMatchObject({ code: 'answer_too_large' })
  })

  it.each([
    ['a control character in its name', named('se\u0007nd'), 'invalid_name'],
    ['a Cyrillic letter in its name', named('s\u0435nd'), 'invalid_name'],
    ['a zero-width character in its name', named('se\u200bnd'), 'invalid_name'],
    ['a blank in its name', named('send mail'), 'invalid_name'],
    ['a name without an end', named('x'.repeat(200)), 'invalid_name'],
    ['a name that is there', named('right'), 'duplicate_name'],
    ['no schema', named('a', { inputSchema: undefined }), 'invalid_schema'],
    ['a schema that is text', named('a', { inputSchema: 'object' }), 'invalid_schema'],
    ['a schema of a list', named('a', { inputSchema: { type: 'array' } }), 'invalid_schema'],
    [
      'a schema whose required fields are no list',
      named('a', { inputSchema: { type: 'object', required: 1 } }),
      'invalid_schema',
    ],
    ['a description that is a number', named('a', { description: 1 }), 'description_too_long'],
    ['no name', { inputSchema: { type: 'object' } }, 'invalid_name'],
    ['a description without an end', named('a', { description: 'x'.repeat(5000) }), 'description_too_long'],
    [
      'a schema that is large',
      named('a', { inputSchema: { type: 'object', title: 'x'.repeat(40_000) } }),
      'schema_too_large',
    ],
    [
      'hidden text in its description',
      named('a', { description: 'It \u{e0041}\u{e0042}\u{e0043} sends.' }),
      'hidden_characters',
    ],
    ['text that is turned around', named('a', { description: 'It \u202esends.' }), 'hidden_characters'],
    [
      'hidden text in its schema',
      named('a', { inputSchema: { type: 'object', title: '\u202ex' } }),
      'hidden_characters',
    ],
  ])('do not include one with %s', async (_what, tool, reason) => {
    const { tools, skipped } = await toolsOf(listing([named('right'), tool]))
    expect(tools.map(({ name }) => name)).toEqual(['right'])
    expect(skipped).toMatchObject([{ reason }])
    expect(skipped[0]?.name).toMatch(/^[ -~]*$/)
  })

  it.each([
    ['its hints', { annotations: { readOnlyHint: 'yes' } }],
    ['its output schema', { outputSchema: 1 }],
    ['its title', { title: 7 }],
    ['its icons', { icons: 'x' }],
  ])('include one where only %s are invalid, without them', async (_what, more) => {
    const { tools, skipped } = await toolsOf(listing([named('right'), named('odd', more)]))
    expect(tools).toMatchObject([{ name: 'right' }, { name: 'odd', annotations: null }])
    expect(skipped).toEqual([])
  })

  it('have the same hash for any order of the fields of a schema', async () => {
    const hashes = []
    for (const inputSchema of [
      { type: 'object', title: 'a' },
      { title: 'a', type: 'object' },
    ])
      hashes.push((await toolsOf(listing([named('send', { inputSchema })]))).hash)
    expect(hashes[0]).toBe(hashes[1])
  })
})

describe('a hostile server', () => {
  it.each([
    ['malformed JSON', 'application/json', '{"jsonrpc": "2.0", "id": 1, "result": {'],
    ['another protocol', 'application/json', '{"hello": "world"}'],
    ['a page', 'text/html', '<h1>Welcome</h1>'],
    ['an answer to what was not requested', 'application/json', '{"jsonrpc":"2.0","id":"x","result":{"tools":[]}}'],
  ])('that responds with %s fails within its time limit', async (_what, type, text) => {
    const wrong: Answering = (_request, response) => response.writeHead(200, { 'content-type': type }).end(text)
    await expect(toolsOf(wrong, 2_000)).rejects.toMatchObject({ name: 'McpFailure' })
  })

  it('that sends a byte now and then is given up at its time limit', async () => {
    const slow: Answering = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const timer = setInterval(() => response.write(' '), 50)
      response.on('close', () => clearInterval(timer))
    }
    await expect(toolsOf(slow, 1_000)).rejects.toMatchObject({ code: 'timeout' })
  })

  it('that streams endless events is given up at the size limit', async () => {
    const comment = `: ${'x'.repeat(64 * 1024)}\n\n`
    const endless: Answering = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const more = (): void => {
        while (!response.destroyed && response.write(comment));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    }
    await expect(called(endless)).rejects.toMatchObject({ code: 'answer_too_large' })
  })

  it('that sends endless progress does not extend a call beyond its time limit', async () => {
    const lively: Answering = (received, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const params = { progressToken: received.id, progress: 1 }
      const event = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`
      const timer = setInterval(() => response.write(event), 20)
      response.on('close', () => clearInterval(timer))
    }
    await expect(called(lively, 1_000)).rejects.toMatchObject({ code: 'timeout' })
  })

  it('that redirects elsewhere is not followed', async () => {
    const away: Answering = (_request, response) =>
      response.writeHead(307, { location: 'http://169.254.169.254/' }).end()
    await expect(called(away)).rejects.toMatchObject({ code: 'redirect_refused' })
    const found: Answering = (_request, response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end()
    await expect(called(found)).rejects.toMatchObject({ name: 'McpFailure' })
  })

  it('that refuses the credentials is reported as unauthorized, without a retry', async () => {
    const strict: Answering = (_request, response) => response.writeHead(401).end()
    await expect(called(strict)).rejects.toMatchObject({ code: 'unauthorized', isFinal: true })
  })

  it('gives a model a limited length of text, and no bytes', async () => {
    const content = [
      { type: 'text', text: 'x'.repeat(maxOutput + 5) },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ]
    const outcome = await called((received, response) => answer(response, received.id, { content }))
    expect(outcome.ok && outcome.output.length).toBeLessThan(maxOutput + 100)
    const image = await called((received, response) => answer(response, received.id, { content: content.slice(1) }))
    expect(image).toEqual({ ok: true, output: '[image image/png, 3 bytes]' })
  })

  it('cannot have its own pattern run against its results', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
    const { server, guard } = await started((received, response) =>
      received.method === 'tools/list'
        ? answer(response, received.id, { tools: [named('send', { outputSchema: schema })] })
        : answer(response, received.id, { content: [], structuredContent: { a: `${'a'.repeat(60)}!` } }),
    )
    const result = await withServer(target(server), { guard, timeoutMs: 5_000, signal }, async ({ client }) => {
      await client.listTools()
      return client.callTool({ name: 'send', arguments: {} })
    })
    expect(result.structuredContent).toMatchObject({ a: expect.any(String) })
  })
})
