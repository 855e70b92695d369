import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OpenConsole } from '../open-console.ts'

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('lists of the console as CSV', () => {
  let console: OpenConsole
  const chat = { model: 'simulated-1', messages: [{ role: 'user', content: 'Hello' }] }

  beforeAll(async () => {
    console = await OpenConsole.start()
    const { api } = console.world
    for (let count = 0; count < 101; count++) await api.createSession()
    await api.post('/v1/chat/completions', chat)
    await api.post('/v1/actions', { tool: '=HYPERLINK("x")', arguments: {}, risk_level: 'high' })
    await api.post('/v1/agents', { name: 'Support', config: { model: 'simulated-1' } })
  })
  afterAll(() => console?.stop())

  const savedAt = async (place: string, heading: string): Promise<readonly string[]> => {
    const { page } = console
    await console.show(place, heading)
    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV' }).click()
    return readFileSync(await (await saving).path(), 'utf8')
      .trim()
      .split('\r\n')
  }

  it('have every page, not only the one that is shown, and say how many rows', async () => {
    const lines = await savedAt('list/session', 'Sessions')
    expect(lines[0]).toMatch(/^id,machine,state,/)
    expect(lines.length).toBe(1 + 101)
    expect(new Set(lines.slice(1).map((line) => line.split(',')[0])).size).toBe(101)
    await console.page.getByText('101 rows.').waitFor()
    expect(await console.faults('csv')).toEqual([])
    await console.page.setViewportSize({ width: 1280, height: 800 })
  })

  it('have only what the filters leave', async () => {
    expect((await savedAt('list/session?state=paused', 'Sessions')).length).toBe(1)
  })

  it('have no formula that a spreadsheet runs', async () => {
    const [, line = ''] = await savedAt('list/action', 'Actions')
    expect(line).toContain(`"'=HYPERLINK(""x"")"`)
  })

  it('have requests with their cost, and the audit log with who changed what', async () => {
    const [head = '', request = ''] = await savedAt('gateway', 'Gateway')
    expect(head.split(',')).toContain('cost_usd')
    expect(request).toContain('chat_completions.create')
    const audit = await savedAt('audit', 'Audit log')
    expect(audit[0]?.split(',')).toEqual(expect.arrayContaining(['actor.id', 'resource.id', 'resource.name']))
    expect(audit.join('\n')).toMatch(/agent\.created,secret_key,key_\w+,.*,agt_\w+,/)
  })
})
