import { expect, it } from 'vitest'
import { pageFunctions, Troupe } from '#client/index.ts'
import { type Script, scriptedServer } from '#client/test/index.ts'
import { assistantUiStore } from '#react/assistant-ui-store.ts'
import { png } from '#test/gateway/simulated/image-bytes.ts'

const open = (...scripts: readonly Script[]) => openWith({}, ...scripts)

const openWith = (functions: Parameters<typeof pageFunctions>[0], ...scripts: readonly Script[]) => {
  const { fetch, requests } = scriptedServer(scripts)
  const troupe = new Troupe({ baseUrl: 'http://test', key: 'test', fetch })
  const tools = pageFunctions(functions)
  const session = troupe.sessions.open(null, { functions: tools })
  const store = () => assistantUiStore(session, session.getSnapshot(), { functions: tools })
  const say = (text: string) => store().onNew({ content: [{ type: 'text', ...{ text } }] })
  return { requests, session, store, say, last: () => store().messages.at(-1) }
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
})

it('sends images of a message and of its attachments, shows them, and refuses other files by name', async () => {
  const { session, store, requests } = open({ text: 'A dot.' })
  const { attachments } = store().adapters
  const file = new File([png(2, 2)], 'dot.png', { type: 'image/png' })
  const sent = await attachments.send(await attachments.add({ file }))
  const data = png(3, 3).toString('base64')
  const content = [
    { type: 'text', text: 'What is this?' },
    { type: 'file', data, mimeType: 'image/png' },
  ]
  await store().onNew({ content, attachments: [sent] })
  const urls = [`data:image/png;base64,${data}`, sent.content[0]?.image]
  const input = [
    { type: 'input_text', text: 'What is this?' },
    ...urls.map((image_url) => ({ type: 'input_image', image_url })),
  ]
  expect(requests.findLast(({ request }) => request.endsWith('/turns'))?.body).toMatchObject({ input })
  const images = urls.map((image) => ({ type: 'image', image }))
  expect(store().messages[0]?.content).toEqual([{ type: 'text', text: 'What is this?' }, ...images])
  const stored = { ...session.getSnapshot().messages[0], parts: [{ type: 'image', image_id: 'img_1' }] }
  const shown = (read: ReadonlyMap<string, string>) =>
    assistantUiStore(session, Object({ ...session.getSnapshot(), messages: [stored] }), { images: read }).messages[0]
  expect(shown(new Map())?.content).toEqual([{ type: 'image', image: 'data:,' }])
  expect(shown(new Map([['img_1', 'blob:1']]))?.content).toEqual([{ type: 'image', image: 'blob:1' }])
  const terms = { type: 'file', filename: 'terms.pdf', data, mimeType: 'application/pdf' }
  await expect(store().onNew({ content: [terms] })).rejects.toThrow('not terms.pdf')
  const pdf = new File(['%PDF-1.7'], 'terms.pdf')
  await expect(attachments.send(await attachments.add({ file: pdf }))).rejects.toThrow('terms.pdf is no image')
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
  expect(call).not.toHaveProperty('approval')
  await store().onAddToolResult({ toolCallId: call?.type === 'tool-call' ? call.toolCallId : '', result: { sum: 4 } })
  await sent
  expect(last()?.content).toMatchObject([{ result: '{"sum":4}' }, { text: 'Four.' }])
})

it('shows an approval for those functions of the page alone that need one, and runs them once approved', async () => {
  const add: Script = { tool: 'add', run_by: 'caller', next: { text: 'Four.' } }
  for (const needsApproval of [true, false]) {
    const { session, store, say, last } = openWith({ add: { needsApproval, run: () => 4 } }, add)
    const seen = new Set<unknown>()
    session.subscribe(() => {
      for (const part of last()?.content ?? [])
        if (part.type === 'tool-call' && !part.result) seen.add(part.approval !== undefined)
    })
    const sent = say('add')
    await expect.poll(() => store().isSendDisabled).toBe(true)
    const [call] = last()?.content ?? []
    const approvalId = call?.type === 'tool-call' ? call.toolCallId : ''
    if (needsApproval) await store().onRespondToToolApproval({ approvalId, approved: true })
    await sent
    expect([seen.size > 0, seen.has(true)]).toEqual([true, needsApproval])
    expect(last()?.content).toMatchObject([{ result: '4' }, { text: 'Four.' }])
  }
})

it('repeats a failed turn, and stops one', async () => {
  const { store, say, last, requests } = open(
    { error: { code: 'provider_error', message: 'Down.' } },
    { text: 'Up.' },
    { tool: 'x', next: { text: '' } },
  )
  expect(store().onReload).toBeUndefined()
  await say('hi')
  expect(last()?.status).toEqual({ type: 'incomplete', reason: 'error', error: 'Down.' })
  await store().onReload?.()
  expect(last()).toMatchObject({ content: [{ text: 'Up.' }], status: { type: 'complete' } })
  expect(requests.at(-1)).toMatchObject({ body: { retry_of: 1 } })
  const sent = say('more')
  await expect.poll(() => store().isSendDisabled).toBe(true)
  await store().onCancel()
  await sent
  expect(last()?.status).toEqual({ type: 'incomplete', reason: 'cancelled' })
})
