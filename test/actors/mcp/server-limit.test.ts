import { describe, expect, it } from 'vitest'
import { serverRows } from '#actors/mcp/kinds.ts'
import { ServerHeaders } from '#actors/mcp/server-headers.ts'
import { serverUseCases } from '#actors/mcp/server-use-cases.ts'
import { ToolFindings } from '#actors/mcp/tool-findings.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { maxServers } from '#specs/resources/mcp/mcp-limits.ts'
import { projectScope } from '#storage/scope.ts'
import { openWorld } from '#test/actors/sessions/harness.ts'
import { callOf, secretOf } from '#test/support/call-of.ts'
import { readableBox } from '#test/support/open-services.ts'
import { noConnections } from './scripted-servers.ts'

const opened = async () => {
  const { host, storage, clock } = await openWorld()
  const { records } = storage
  const servers = serverUseCases({
    ...{ host, records, clock, connections: noConnections, checkTenant: async () => {} },
    findings: new ToolFindings(async (texts) => texts.map(() => [])),
    guard: openSsrfGuard({ allowedPrivateHosts: [] }),
    headers: new ServerHeaders({ records, box: readableBox, now: clock.now }),
  })
  const body = { name: 'tickets', url: 'https://tools.example.com/mcp', transport: 'auto', trust: false } as const
  const register = (project = 'prj_a') =>
    servers['mcp_servers.create'](callOf({}, {}, { ...body, timeout_ms: 5_000 }, secretOf(project)))
  return { records, host, register }
}

describe('remote tool servers', () => {
  it('do not exceed the limit of their project when they are registered at the same time', async () => {
    const { records, host, register } = await opened()
    const made = await Promise.allSettled(Array.from({ length: maxServers + 20 }, () => register()))
    const refused = made.filter((each) => each.status === 'rejected').map(({ reason }) => reason)
    expect(refused.map(({ code }) => code)).toEqual(Array(20).fill('mcp_limit_reached'))
    await host.rows.shown()
    expect(await records.count(serverRows, projectScope('prj_a'), {})).toBe(maxServers)
    await expect(register('prj_b'), 'another project').resolves.toMatchObject({ name: 'tickets' })
  })
})
