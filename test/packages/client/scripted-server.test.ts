import { describe, expect, it } from 'vitest'
import { pageFunctions, Troupe, textOf } from '#client/index.ts'
import { type Script, scriptedServer } from '#client/test/index.ts'

const open = (scripts: readonly Script[], functions?: Parameters<typeof pageFunctions>[0]) => {
  const server = scriptedServer(scripts)
  const troupe = new Troupe({ baseUrl: 'http://test', key: 'test', fetch: server.fetch })
  return { server, session: troupe.sessions.open(null, { functions: functions && pageFunctions(functions) }) }
}

describe('a scripted server', () => {
  it('answers, calls a tool that waits, and fails, as its script says', async () => {
    const { session } = open([
      { text: 'Hello there.' },
      { tool: 'refund', arguments: { order: 7 }, next: { text: 'Done.' } },
      { error: { code: 'provider_error', message: 'Down.' } },
    ])
    expect(await session.send('hi')).toMatchObject({ text: 'Hello there.' })
    const sent = session.send('refund it')
    await expect
      .poll(() => session.getSnapshot().approvals)
      .toMatchObject([{ tool: 'refund', arguments: { order: 7 } }])
    expect(await session.approve(session.getSnapshot().approvals[0]?.action_id ?? '')).toBe('approved')
    expect(await sent).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(await session.send('again')).toMatchObject({ status: 'failed', error: { code: 'provider_error' } })
    expect(session.getSnapshot().messages.map(textOf)).toEqual([
      'hi',
      'Hello there.',
      'refund it',
      'Done.',
      'again',
      '',
    ])
  })

  it('gets the output of a function of the page', async () => {
    const { server, session } = open(
      [{ tool: 'add', arguments: { a: 2 }, run_by: 'caller', next: { text: 'Four.' } }],
      {
        add: { run: ({ a }: { a: number }) => a + 2 },
      },
    )
    expect(await session.send('add')).toMatchObject({ text: 'Four.' })
    const approved = server.requests.find(({ request }) => request.endsWith('/approve'))
    expect(approved?.body).toMatchObject({ tool_results: [{ output: '4' }] })
  })

  it('repeats a turn that failed, with its input', async () => {
    const { server, session } = open([{ error: { code: 'provider_error', message: 'Down.' } }, { text: 'Up.' }])
    expect(await session.send('hi')).toMatchObject({ status: 'failed' })
    expect(await session.retry()).toMatchObject({ turn: 2, text: 'Up.' })
    expect(server.requests.at(-1)?.body).toEqual({ retry_of: 1 })
    expect(session.getSnapshot().messages.map(textOf)).toEqual(['hi', '', 'Up.'])
  })

  it('refuses a decision about a call that waits no longer', async () => {
    const { session } = open([{ tool: 'refund', next: { text: 'Done.' } }])
    const sent = session.send('refund it')
    await expect.poll(() => session.getSnapshot().approvals).toHaveLength(1)
    const [{ action_id: action = '' } = {}] = session.getSnapshot().approvals
    expect(await session.reject(action)).toBe('rejected')
    expect(await session.approve(action)).toBe('rejected')
    expect(await sent).toMatchObject({ status: 'completed' })
  })
})
