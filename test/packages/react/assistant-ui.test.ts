import { expect, it } from 'vitest'
import { Troupe } from '#client/index.ts'
import { type Script, scriptedServer } from '#client/test/index.ts'
import { assistantUiStore } from '#react/assistant-ui-store.ts'

const open = (...scripts: readonly Script[]) => {
  const troupe = new Troupe({ baseUrl: 'http://test', key: 'test', fetch: scriptedServer(scripts).fetch })
  const session = troupe.sessions.open()
  const store = () => assistantUiStore(session, session.getSnapshot())
  const say = (text: string) => store().onNew({ content: [{ type: 'text', ...{ text } }] })
  return { session, store, say, last: () => store().messages.at(-1) }
}

it('shows the messages of a session, each as the same object until it changes', async () => {
  const { store, say } = open({ text: 'Hello there.' })
  await say('hi')
  const [user, answer] = store().messages
  expect(user).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'hi' }] })
  expect(answer).toMatchObject({
    role: 'assistant',
    content: [{ type: 'text', text: 'Hello there.' }],
    status: { type: 'complete', reason: 'stop' },
  })
  await say('again')
  expect(store().messages.slice(0, 2)).toEqual([user, answer])
  expect(store().messages.map((each, at) => each === [user, answer][at])).toEqual([true, true, false, false])
  await expect(store().onNew({ content: [{ type: 'image' }] })).rejects.toThrow('text only')
})

it('approves and rejects the calls that wait, and sends nothing meanwhile', async () => {
  const refund: Script = { tool: 'refund', arguments: { order: 7 }, next: { text: 'Done.' } }
  for (const approved of [true, false]) {
    const { store, say, last } = open(refund)
    const sent = say('refund it')
    await expect.poll(() => store().isSendDisabled).toBe(true)
    const [call] = last()?.content ?? []
    expect(call).toMatchObject({ type: 'tool-call', toolName: 'refund', args: { order: 7 } })
    const approvalId = call?.type === 'tool-call' ? (call.approval?.id ?? '') : ''
    expect([last()?.status, store().isRunning]).toEqual([{ type: 'requires-action', reason: 'interrupt' }, false])
    await store().onRespondToToolApproval({ approvalId, approved })
    await sent
    const [decided] = last()?.content ?? []
    expect(decided).toMatchObject({
      approval: { id: approvalId, approved },
      ...(approved ? { result: 'ok' } : { isError: true }),
    })
    expect(store().isSendDisabled).toBe(false)
  }
})

it('gives the output of a function of the page, which is a call that waits', async () => {
  const { store, say, last } = open({ tool: 'add', run_by: 'caller', next: { text: 'Four.' } })
  const sent = say('add')
  await expect.poll(() => store().isSendDisabled).toBe(true)
  const [call] = last()?.content ?? []
  await store().onAddToolResult({ toolCallId: call?.type === 'tool-call' ? call.toolCallId : '', result: { sum: 4 } })
  await sent
  expect(last()?.content).toMatchObject([{ result: '{"sum":4}' }, { text: 'Four.' }])
})

it('repeats a failed turn, and stops one', async () => {
  const { store, say, last } = open(
    { error: { code: 'provider_error', message: 'Down.' } },
    { tool: 'x', next: { text: '' } },
  )
  expect(store().onReload).toBeUndefined()
  await say('hi')
  expect([last()?.status, typeof store().onReload]).toEqual([
    { type: 'incomplete', reason: 'error', error: 'Down.' },
    'function',
  ])
  const sent = say('more')
  await expect.poll(() => store().isSendDisabled).toBe(true)
  await store().onCancel()
  await sent
  expect(last()?.status).toEqual({ type: 'incomplete', reason: 'cancelled' })
})
