import type { HttpAgent as Agent } from '@ag-ui/client'
import {
  type AbstractChat,
  type ChatInit,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { agUi } from '#client/bridges/ag-ui.ts'
import { chatTransport } from '#client/bridges/ai.ts'
import { Troupe } from '#client/index.ts'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { answerTo } from '#test/e2e/gateway/simulated-answer.ts'
import { PageWorld, shows } from '#test/e2e/protocols/page.ts'
import { CuttingProxy } from './cutting-proxy.ts'

/** The chat of `useChat`, without its types: with those of React, tests of pages would lack the browser's. */
const name: string = '@ai-sdk/react'
const { Chat }: { Chat: new (init: ChatInit<UIMessage>) => AbstractChat<UIMessage> } = await import(name)
const { HttpAgent }: typeof import('@ag-ui/client') = (await npmPackages('ag-ui'))('@ag-ui/client')

let [page, proxy]: [PageWorld, CuttingProxy] = Object(Array(2))
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  page = await PageWorld.start()
  proxy = await CuttingProxy.open(() => Number(new URL(page.world.url).port))
})
afterEach(() => {
  proxy.next = () => null
})
afterAll(async () => {
  proxy.close()
  await page.stop()
})

/** The client of a page, behind the proxy, with a connection for each request. Its first token lives for these seconds. */
const client = (firstS = 60) => {
  const lives = [firstS]
  const once: typeof fetch = (url, init) => fetch(url, { ...init, headers: { ...init?.headers, connection: 'close' } })
  const token = async () => {
    const lifeS = lives.pop() ?? 60
    const expires_at = new Date(Date.now() + lifeS * 1000).toISOString()
    return { token: await page.token(undefined, 'ada', lifeS), expires_at }
  }
  return new Troupe({ baseUrl: proxy.url, token, fetch: once })
}

/** Cuts the first responses to requests of a path, each further on; counts them. */
const cuts = (path: string, ...bytes: readonly number[]) => {
  const seen = { requests: 0 }
  proxy.next = (request) => {
    if (!request.includes(path)) return null
    const afterBytes = bytes[seen.requests++]
    return afterBytes === undefined ? null : { afterBytes }
  }
  return seen
}

const chatOn = (id?: string, by = client()) => {
  const made: string[] = []
  const transport = chatTransport(by, {
    create: { agent_id: page.agents.end_user },
    onSession: (session) => made.push(session),
  })
  const errors: Error[] = []
  const chat = new Chat({
    ...(id !== undefined && { id }),
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onError: (error) => errors.push(error),
  })
  return { chat, made, errors }
}
const textOf = ({ parts = [] }: Partial<UIMessage> = {}): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
const statesOf = ({ parts = [] }: Partial<UIMessage> = {}) =>
  parts.flatMap((part) => ('toolCallId' in part ? [part.state] : []))
/** The text of the newest answer in the log. */
const loggedOf = async (session = ''): Promise<string> =>
  textOf((await page.world.api.get(`/v1/sessions/${session}/messages`)).body.data.at(-1))
const turnsOf = async (session = ''): Promise<number> =>
  (await page.world.api.get(`/v1/sessions/${session}`)).body.turn_count

/** An answer that is long enough to be cut, without a model that is slow. */
const answer = Array.from({ length: 60 }, (_, at) => `word ${at}`).join(' ')
const long = `reply exactly: ${answer}`
const bytesOfHead = 700
const pieces = [bytesOfHead, bytesOfHead + 333, bytesOfHead + 1234]

it('creates the session of a chat, and gives useChat each piece of a turn once over cut connections', async () => {
  const { chat, made, errors } = chatOn()
  const seen = cuts('/ui-messages', 1, ...pieces)
  await chat.sendMessage({ text: long })
  expect([errors, seen.requests]).toEqual([[], 5])
  expect(chat.messages.map(textOf)).toEqual([long, answer])
  await chat.sendMessage({ text: 'reply exactly: Again.' })
  expect([made.length, await turnsOf(made[0]), textOf(chat.lastMessage)]).toEqual([1, 2, 'Again.'])
})

it('decides for useChat about a call once, though the request is cut, and shows its output once', async () => {
  const before = page.tool.calls.length
  const { chat, made, errors } = chatOn()
  await chat.sendMessage({ text: 'Please use issue_refund for order 1042' })
  const [approval] = chat.lastMessage?.parts.flatMap((part) => ('approval' in part ? [part.approval] : [])) ?? []
  cuts('/ui-messages', ...pieces)
  await chat.addToolApprovalResponse({ id: approval?.id ?? '', approved: true })
  await shows(() => expect([chat.status, statesOf(chat.lastMessage)]).toEqual(['ready', ['output-available']]))
  expect([errors, page.tool.calls.length - before]).toEqual([[], 1])
  expect(textOf(chat.lastMessage)).toBe(await loggedOf(made[0]))
})

it('resumes for useChat the message in progress, also over cut connections, and nothing without one', async () => {
  const session = await page.session()
  await page.world.api.post(`/v1/sessions/${session}/turns`, { input: 'reply exactly: Before.' })
  const { chat, errors } = chatOn(session)
  await chat.resumeStream()
  expect(chat.messages).toEqual([])
  const begun = page.world.as(await page.token()).post(`/v1/sessions/${session}/turns`, { input: 'slow please' })
  await expect.poll(() => turnsOf(session)).toBe(2)
  cuts('/stream', ...pieces)
  await chat.resumeStream()
  await begun
  expect([errors, textOf(chat.lastMessage)]).toEqual([[], answerTo('slow please')])
})

it('ends the stream of useChat where the page stops it, and where the server refuses', async () => {
  const { chat, errors } = chatOn()
  const sent = chat.sendMessage({ text: 'slow please' })
  await shows(() => expect(textOf(chat.lastMessage)).not.toBe(''))
  await chat.stop()
  await sent
  expect([chat.status, errors]).toEqual(['ready', []])
  const { chat: foreign, errors: refusals } = chatOn('ses_01kb0000000000000000000000')
  await foreign.sendMessage({ text: 'hi' })
  expect(refusals).toMatchObject([{ code: 'not_found', status: 404 }])
})

const agentOn = (by = client()) => {
  const agent: Agent = new HttpAgent(agUi(by, page.agents.end_user))
  const say = (content: string, input = {}) => {
    agent.addMessage({ id: crypto.randomUUID(), role: 'user', content })
    return agent.runAgent(input)
  }
  const texts = () => agent.messages.map((message) => ('content' in message ? message.content : undefined))
  return { agent, say, texts }
}

it('gives HttpAgent each piece of a run once over cut connections, and approves a call once', async () => {
  const { agent, say, texts } = agentOn()
  const seen = cuts('/ag-ui', 1, ...pieces)
  await say(long)
  expect([seen.requests, texts()]).toEqual([5, [long, answer]])
  const before = page.tool.calls.length
  cuts('/ag-ui', ...pieces)
  await say('Please use issue_refund for order 1042')
  const [{ id: interruptId = '' } = {}] = agent.pendingInterrupts
  cuts('/ag-ui', ...pieces)
  await agent.runAgent({ resume: [{ interruptId, status: 'resolved', payload: { approved: true } }] })
  expect(agent.messages.map(({ role }) => role).slice(2)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  expect([page.tool.calls.length - before, await turnsOf(agent.state.session_id)]).toEqual([1, 2])
})

it('goes on for useChat and HttpAgent with another token where theirs ends before the turn', async () => {
  const seen = { chat: 0, agent: 0 }
  proxy.next = (request) => {
    seen.chat += Number(request.includes('/ui-messages'))
    seen.agent += Number(request.includes('/ag-ui'))
    return null
  }
  const [{ chat, errors }, { agent, say, texts }] = [chatOn(undefined, client(2)), agentOn(client(2))]
  const sent = chat.sendMessage({ text: 'slow please' })
  const run = say('slow please')
  const user = agent.messages[0]?.id
  await Promise.all([sent, run])
  expect([errors, textOf(chat.lastMessage)]).toEqual([[], answerTo('slow please')])
  expect(Math.min(seen.chat, seen.agent)).toBeGreaterThan(1)
  expect([texts(), agent.messages[0]?.id]).toEqual([['slow please', answerTo('slow please')], user])
})

it('shows useChat and HttpAgent text and reasoning of a turn once over kill -9, also after a large request', async () => {
  const [{ chat, errors }, { say, texts }, large] = [chatOn(), agentOn(), agentOn()]
  const sent = chat.sendMessage({ text: 'slow please' })
  const thinks = 'think please, slow please'
  const run = say(thinks)
  const second = large.say(thinks, { forwardedProps: { text: 'x'.repeat(300_000) } })
  const shown = () => [textOf(chat.lastMessage), `${texts()[2] ?? ''}`, `${large.texts()[2] ?? ''}`]
  await shows(() => expect(Math.min(...shown().map(({ length }) => length))).toBeGreaterThan(20))
  await page.world.crash()
  await page.world.restart()
  await sent
  expect([errors, textOf(chat.lastMessage)]).toEqual([[], answerTo('slow please')])
  await Promise.all([run, second])
  const whole = [thinks, `The user writes: ${thinks}`, answerTo(thinks)]
  expect([texts(), large.texts()]).toEqual([whole, whole])
})
