import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toolsFor } from '#src/tool-server/offered-tools.ts'
import { noBrowser } from '../browser/no-browser.ts'
import { mcpForPython } from '../mcp/python/python-server.ts'
import { startToolServer, type ToolServer } from '../tool-server.ts'
import { World } from '../world.ts'

const execute = promisify(execFile)
const python = mcpForPython()

const about = { name: 'test', version: '1.0.0' }
const eras = [
  { era: 'the revision without sessions', of: 'modern', versionNegotiation: { mode: 'auto' } },
  { era: 'revisions with a handshake', of: 'legacy', versionNegotiation: { mode: 'legacy' } },
] as const

describe('the tool server', () => {
  let world: World
  let tool: ToolServer
  const open: Client[] = []

  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ env: noBrowser, tools: [tool] })
  })
  afterAll(async () => {
    for (const client of open) await client.close()
    await world.stop()
    await tool.close()
  })

  const connected = async (query = '', options: ClientOptions = {}) => {
    const client = new Client(about, options)
    const requestInit = { headers: { authorization: `Bearer ${world.secretKey}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${world.url}/mcp${query}`), { requestInit }))
    open.push(client)
    return client
  }
  const overStdio = async (args: readonly string[] = [], key = world.secretKey, options: ClientOptions = {}) => {
    const client = new Client(about, options)
    const command = resolve(import.meta.dirname, '../../../bin/troupe.js')
    const env = { PATH: process.env.PATH ?? '', SERVICE_API_KEY: key, SERVICE_BASE_URL: world.url }
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [command, 'mcp', ...args], env }))
    open.push(client)
    return client
  }
  const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)

  describe.each(eras)('with $era', ({ of, versionNegotiation }) => {
    it('negotiates it', async () => {
      expect((await connected('', { versionNegotiation })).getProtocolEra()).toBe(of)
    })

    it('offers read-only tools, and with `mode=write` also those that change something', async () => {
      const read = await namesOf(await connected('', { versionNegotiation }))
      expect(read).toEqual(toolsFor('read').map(({ name }) => name))
      expect(read).toEqual(expect.arrayContaining(['web_search', 'web_fetch', 'web_extract', 'get_web_browser_job']))
      const write = await namesOf(await connected('?mode=write', { versionNegotiation }))
      expect(write).toEqual(
        expect.arrayContaining([...read, 'web_browse', 'web_crawl', 'request_web_takedown', 'send_turn', 'approve']),
      )
    })

    it('calls operations with the credential of the request', async () => {
      const client = await connected('?mode=write', { versionNegotiation })
      const made = await client.callTool({ name: 'create_session', arguments: { metadata: { by: 'tool' } } })
      const session = JSON.parse(JSON.stringify(made.structuredContent))
      expect(session).toMatchObject({ status: 'active', metadata: { by: 'tool' } })
      const turn = await client.callTool({
        name: 'send_turn',
        arguments: { session_id: session.id, input: 'hello', model: 'simulated-1' },
      })
      expect(JSON.stringify(turn.content)).toContain('turn.completed')
      expect(JSON.stringify(turn.content)).not.toContain('.delta')
      const listed = await client.callTool({ name: 'list_sessions', arguments: { limit: 5 } })
      expect(JSON.stringify(listed.structuredContent)).toContain(session.id)
      const job = await client.callTool({ name: 'web_browse', arguments: { url: 'https://example.invalid/' } })
      expect(job.structuredContent).toMatchObject({ url: 'https://example.invalid/' })
    })

    it.each([
      ['an operation refuses', 'get_session', { session_id: 'ses_00000000000000000000000000' }, 'not_found'],
      ['a field is wrong', 'list_sessions', { limit: 'many' }, 'invalid_query'],
      ['an argument is missing', 'get_session', {}, 'session_id'],
      ['an argument is unknown', 'list_runs', { colour: 'red' }, 'colour'],
      ['the tool does not exist', 'send_turn', {}, 'send_turn'],
    ])('returns a tool error when %s', async (_when, name, given, said) => {
      const result = await (await connected('', { versionNegotiation })).callTool({ name, arguments: given })
      expect(result.isError).toBe(true)
      expect(JSON.stringify(result.content)).toContain(said)
    })
  })

  describe.each([
    [
      'over HTTP',
      (options: ClientOptions) => connected('?mode=write', { ...options, versionNegotiation: { mode: 'auto' } }),
    ],
    ['over stdio', (options: ClientOptions) => overStdio(['--mode', 'write'], undefined, options)],
  ] as const)('%s', (_how, open) => {
    const forms = { capabilities: { elicitation: { form: {} } } }
    const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const turnIn = async (client: Client) => {
      const made = await client.callTool({ name: 'create_session', arguments: {} })
      const { id } = JSON.parse(JSON.stringify(made.structuredContent))
      const weather = { type: 'http', name: 'weather', description: 'Weather.', parameters, url: tool.url }
      const input = 'Please use the weather tool with city: Lagos'
      const given = { session_id: id, input, model: 'simulated-1', tools: [{ ...weather, needsApproval: true }] }
      return { id, send: () => client.callTool({ name: 'send_turn', arguments: given }) }
    }
    const eventsIn = (result: { structuredContent?: unknown }): readonly string[] =>
      JSON.parse(JSON.stringify(result.structuredContent)).events.map(({ event }: { event: string }) => event)

    it('shows a form for a tool that needs an approval, and goes on with the answer', async () => {
      const client = await open(forms)
      const shown: string[] = []
      client.setRequestHandler('elicitation/create', ({ params }) => {
        shown.push(params.message)
        return { action: 'accept', content: { approve: true } }
      })
      const calls = tool.calls.length
      expect(eventsIn(await (await turnIn(client)).send())).toContain('turn.completed')
      expect(shown).toEqual([expect.stringMatching(/weather .*"city":"Lagos"/)])
      expect(tool.calls.length).toBe(calls + 1)
    })

    it.each([
      ['rejects the call if the form is declined', 'decline', 'rejected'],
      ['leaves the call pending if the form is dismissed', 'cancel', 'pending_approval'],
    ] as const)('%s', async (_what, action, state) => {
      const client = await open(forms)
      client.setRequestHandler('elicitation/create', () => ({ action }))
      const calls = tool.calls.length
      const { id, send } = await turnIn(client)
      await send()
      const { data } = (await world.api.get(`/v1/actions?session_id=${id}`)).body
      expect(data).toMatchObject([{ status: state }])
      expect(tool.calls.length).toBe(calls)
    })

    it('returns the paused turn to a client without forms', async () => {
      const { send } = await turnIn(await open({}))
      expect(eventsIn(await send()).at(-1)).toBe('turn.paused')
    })

    it('reports the text of a turn as its progress', async () => {
      const client = await open({})
      const { id } = await turnIn(client)
      // read where they arrive: the SDK drops those that arrive in one read with the result
      const reported: { readonly progress: number; readonly message?: string }[] = []
      const transport = client.transport ?? expect.fail('it is connected')
      const { onmessage } = transport
      transport.onmessage = (message, extra) => {
        const { method, params } = JSON.parse(JSON.stringify(message))
        if (method === 'notifications/progress') reported.push(params)
        onmessage?.(message, extra)
      }
      const given = { session_id: id, input: 'hello', model: 'simulated-1' }
      const result = await client.callTool({ name: 'send_turn', arguments: given }, { onprogress: () => {} })
      const values = reported.map(({ progress }) => progress)
      expect(values).toEqual([...new Set(values)].sort((a, b) => a - b))
      const { events } = JSON.parse(JSON.stringify(result.structuredContent))
      const { output } = events.at(-1).data
      expect(output.length).toBeGreaterThan(0)
      expect(reported.map(({ message }) => message).join('')).toContain(output)
    })
  })

  it('describes a tool as its operation is declared', async () => {
    const { tools } = await (await connected('?mode=write')).listTools()
    const browse = tools.find(({ name }) => name === 'web_browse')
    expect(browse?.description).toContain('Opens the page in an isolated browser')
    expect(browse?.inputSchema.properties).toHaveProperty('actions.items.properties.selector')
    expect(browse?.inputSchema.required).toEqual(['url'])
    expect(browse?.annotations).toMatchObject({ readOnlyHint: false, openWorldHint: true })
  })

  it('is available over stdio by the bin of the package', async () => {
    const read = await overStdio()
    expect(await namesOf(read)).toEqual(toolsFor('read').map(({ name }) => name))
    const write = await overStdio(['--mode', 'write'])
    const made = await write.callTool({ name: 'create_session', arguments: {} })
    expect(made.structuredContent).toMatchObject({ status: 'active' })
    const refused = await (await overStdio([], 'csk_wrong')).callTool({ name: 'list_sessions', arguments: {} })
    expect(refused.isError).toBe(true)
    expect(JSON.stringify(refused.content)).toContain('authentication_required')
  })

  it.skipIf(python === null)('works with the Python SDK in each of its modes', async () => {
    const script = resolve(import.meta.dirname, 'python/every_tool.py')
    const env = { PATH: process.env.PATH ?? '', PYTHONPATH: python ?? '', SERVICE_API_KEY: world.secretKey }
    const modes = ['auto', 'legacy']
    const { stdout } = await execute('python3', [script, `${world.url}/mcp?mode=write`, ...modes], { env })
    expect(JSON.parse(stdout)).toMatchObject(
      Object.fromEntries(
        modes.map((mode) => [
          mode,
          {
            tools: toolsFor('write').map(({ name }) => name),
            made: { status: 'active', metadata: { by: 'python' } },
            refused: [true, expect.stringContaining('not_found')],
          },
        ]),
      ),
    )
  })

  it('publishes its resource metadata, and refuses missing, wrong and cookie credentials and foreign origins', async () => {
    const post = (headers: Readonly<Record<string, string>>, query = '') =>
      fetch(`${world.url}/mcp${query}`, { method: 'POST', headers, body: '{}' })
    const none = await post({})
    expect(none.status).toBe(401)
    const [, metadata = ''] = /resource_metadata="([^"]+)"/.exec(none.headers.get('www-authenticate') ?? '') ?? []
    expect(await (await fetch(metadata)).json()).toMatchObject({
      resource: `${world.url}/mcp`,
      bearer_methods_supported: ['header'],
    })
    expect((await post({ authorization: 'Bearer csk_wrong' })).status).toBe(401)
    const { authorization } = { authorization: `Bearer ${world.secretKey}` }
    expect((await post({ authorization, origin: 'https://evil.example' })).status).toBe(403)
    const rebound = { authorization, origin: 'http://rebound.example', host: 'rebound.example' }
    expect((await post(rebound)).status).toBe(403)
    expect((await post({ authorization, origin: world.url })).status).toBe(415)
    expect((await post({ authorization }, '?mode=all')).status).toBe(400)
    expect((await post({ authorization, 'content-type': 'text/plain' })).status).toBeGreaterThanOrEqual(400)
    const cookie = await world.dashboard()
    expect((await cookie.fetch('/mcp', {})).status).toBe(401)
  })

  it.each([
    ['lists', '['.repeat(400_000) + ']'.repeat(400_000)],
    ['objects', `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`],
  ])('refuses %s nested too deeply', async (_what, nested) => {
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_agents","arguments":{"x":${nested}}}}`
    const headers = {
      authorization: `Bearer ${world.secretKey}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const answer = await fetch(`${world.url}/mcp`, { method: 'POST', headers, body: call })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { code: 'malformed_json' } })
  })
})
