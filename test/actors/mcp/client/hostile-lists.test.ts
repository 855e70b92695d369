import { afterEach, describe, expect, it } from 'vitest'
import { readWholeServer } from '#actors/mcp/discover-tools.ts'
import { readResource } from '#actors/mcp/read-content.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { maxListed } from '#specs/resources/mcp/mcp-limits.ts'
import { type Answering, answer, named, startHostileServer } from './hostile-server.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

const started = async (answering: Answering) => {
  const server = await startHostileServer(answering, { tools: {}, resources: {}, prompts: {} })
  const guard = openSsrfGuard({ allowedPrivateHosts: [server.host] })
  open.push(server, guard)
  return { guard, target: { url: server.url, transport: 'streamable_http', headers: {} } as const }
}

const lists: Readonly<Record<string, string>> = {
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
}

/** Result of reading a server with one tool and these lists. */
const found = async (more: Readonly<Record<string, readonly object[] | Answering>>) => {
  const { guard, target } = await started((received, response, request) => {
    if (received.method === 'tools/list') return answer(response, received.id, { tools: [named('send')] })
    const name = lists[received.method] ?? ''
    const listed = more[name] ?? []
    if (typeof listed === 'function') return listed(received, response, request)
    answer(response, received.id, { [name]: listed })
  })
  return readWholeServer(guard)(target, new AbortController().signal)
}

describe('what a hostile server lists in addition to its tools', () => {
  it('is kept if a person can see its text', async () => {
    const resources = [
      { uri: 'file:///a', name: 'a' },
      { uri: 'file:///a', name: 'again' },
      { uri: 'file:///\u202eb', name: 'b' },
      { uri: 'file:///c', name: 'c\u200b\u200b', description: 'x'.repeat(5000) },
      { uri: 'x'.repeat(5000), name: 'd' },
    ]
    const prompts = [{ name: '__proto__', arguments: [{ name: 'constructor' }, { name: '' }] }, { name: 'bell\u0007' }]
    const { tools, lists: kept } = await found({ resources, prompts })
    expect(tools).toHaveLength(1)
    expect(kept?.resources).toMatchObject([
      { uri: 'file:///a', name: 'a' },
      { uri: 'file:///c', description: null },
    ])
    expect(kept?.prompts).toEqual([
      {
        name: '__proto__',
        description: null,
        arguments: [{ name: 'constructor', description: null, required: false }],
      },
    ])
  })

  it('is cut to the maximum number of items', async () => {
    const resources = Array.from({ length: 2000 }, (_, n) => ({ uri: `file:///${n}`, name: `${n}` }))
    const { lists: kept } = await found({ resources })
    expect(kept).toMatchObject({ left_out: 2000 - maxListed, unread: [] })
    expect(kept?.resources).toHaveLength(maxListed)
  })

  it.each<readonly [string, Answering]>([
    ['an error', (_request, response) => void response.writeHead(500).end()],
    ['another type', (received, response) => answer(response, received.id, { resources: 'all of them' })],
    [
      'another type in one of them',
      (received, response) => answer(response, received.id, { resources: [{ uri: 7, name: 'e' }] }),
    ],
    [
      '20 MB',
      (received, response) =>
        answer(response, received.id, { resources: [{ uri: 'a', name: 'x'.repeat(20 * 1024 * 1024) }] }),
    ],
    [
      'pages without an end',
      (received, response) =>
        answer(response, received.id, { resources: [{ uri: 'a', name: 'a' }], nextCursor: `${Math.random()}` }),
    ],
  ])('is left out if it responds with %s, and its tools are still read', async (_what, resources) => {
    const { tools, lists: kept } = await found({ resources })
    expect(tools).toHaveLength(1)
    expect(kept?.resources).toEqual([])
    expect(kept?.unread).toContain('resources')
  })

  it('is not passed on if it is too large', async () => {
    const { guard, target } = await started((received, response) =>
      answer(response, received.id, { contents: [{ uri: 'a', text: 'x'.repeat(1_200_000) }] }),
    )
    const read = readResource({ guard, withTarget: (use) => use(target), timeoutMs: 5000 }, 'a')
    await expect(read).rejects.toMatchObject({ code: 'mcp_server_failed' })
    await expect(read).rejects.toThrow('answer_too_large')
  })
})
