import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Api } from '#test/e2e/api.ts'
import { KnowledgeBase } from '#test/e2e/knowledge/knowledge-world.ts'
import { patience } from '#test/e2e/patience.ts'
import { textOf } from '#test/e2e/stream-reader.ts'
import { World } from '#test/e2e/world.ts'

/* The simulated model repeats its input, so that one text serves both directions. */

let world: World
let api: Api

const model = 'simulated-1'
const begin = 'The eagle sat on the tree for a while. '
const text = `${begin}A fal\u200bcon landed near the house.`
const messages = [{ role: 'user', content: text }]
const words = (on: string, action = 'block') => [{ type: 'words', words: ['falcon'], on, action }]

/** A call of one API. */
interface Called {
  readonly path: string
  readonly body: object
  /** What its answer contains when a guardrail ended it; absent for one that is no text of a model. */
  readonly ended?: string
  readonly streams?: true
}

const apis: Readonly<Record<string, Called>> = {
  'chat completions': {
    ...{ path: '/v1/chat/completions', body: { model, messages }, streams: true },
    ended: '"finish_reason":"content_filter"',
  },
  'AI chat': {
    path: '/api/ai/chat',
    body: { model, messages },
    streams: true,
    ended: '"finishReason":"content_filter"',
  },
  responses: {
    ...{ path: '/v1/responses', body: { model, input: text }, streams: true },
    ended: '"incomplete_details":{"reason":"content_filter"}',
  },
  messages: {
    ...{ path: '/v1/messages', body: { model, messages, max_tokens: 100 }, streams: true },
    ended: '"stop_reason":"refusal"',
  },
  Gemini: {
    path: `/v1beta/models/${model}:generateContent`,
    body: { contents: [{ role: 'user', parts: [{ text }] }] },
    ended: '"finishReason":"SAFETY"',
  },
  completions: {
    path: '/v1/completions',
    body: { model, prompt: text, max_tokens: 100 },
    ended: '"finish_reason":"content_filter"',
  },
  embeddings: { path: '/v1/embeddings', body: { model, input: text } },
  rerank: { path: '/v1/rerank', body: { model, query: text, documents: ['a', 'b'] } },
  moderations: { path: '/v1/moderations', body: { model, input: text } },
  speech: { path: '/v1/audio/speech', body: { model, input: text, voice: 'alloy' } },
}
const all = Object.entries(apis)
const answering = all.filter(([, { ended }]) => ended !== undefined)

beforeAll(async () => {
  world = await World.start()
  ;({ api } = world)
  for (const [name, more] of [
    ['in', { checks: words('input') }],
    ['out', { checks: words('output'), is_default: true }],
    ['masks', { checks: words('both', 'redact') }],
  ] as const)
    expect((await api.post('/v1/guardrails', { name, ...more })).status).toBe(201)
})
afterAll(() => world.stop())

const named = (name: string) => ({ headers: { 'X-Guardrails': name } })

describe('in every API that calls a model', () => {
  it.each(all)('a guardrail that a call of %s names refuses its input', async (_, { path, body }) => {
    const refused = await api.post(path, body, named('in'))
    expect(refused.status).toBe(400)
    expect(JSON.stringify(refused.body)).toContain('content_policy_violation')
    expect((await api.post(path, body, named('in, of-nobody'))).status).toBe(400)
  })

  it.each(answering)('a guardrail of the project ends an answer of %s', async (_, { path, body, ended = '' }) => {
    const answer = await api.fetch(path, body)
    const shown = await answer.text()
    expect([answer.status, answer.headers.get('x-guardrails')]).toEqual([200, 'out;blocked'])
    expect(shown).toContain(ended)
    expect(shown).not.toContain('eagle')
  })

  it.each(answering.filter(([, { streams }]) => streams))(
    'a stream of %s ends before the word, and has what precedes it',
    async (_, { path, body, ended = '' }) => {
      const answer = await api.fetch(path, { ...body, stream: true })
      const shown = await answer.text()
      expect([answer.status, answer.headers.get('x-guardrails')]).toEqual([200, 'out;pending'])
      expect(shown).toContain(ended)
      expect(shown).toContain('eagle')
      expect(shown).not.toMatch(/fal(?!se)/)
      expect(shown).not.toContain('landed')
    },
  )

  it.each(answering)(
    'a guardrail that %s names replaces the word for the model and in the answer',
    async (_, called) => {
      const { path, body } = called
      const answer = await api.fetch(path, body, named('masks'))
      expect(answer.headers.get('x-guardrails')).toBe('out;passed, masks;redacted')
      expect(await answer.text()).toContain('A [REDACTED] landed')
    },
  )

  it('the guardrails of an agent hold for what its keys call directly', async () => {
    const config = { model, guardrails: ['in'] }
    const agent = (await api.post('/v1/agents', { name: 'guarded keys', config })).body.id
    for (const key_type of ['secret', 'public']) {
      const { body } = await api.post(`/v1/agents/${agent}/keys`, { name: key_type, key_type })
      const refused = await world.as(body.key).post('/v1/chat/completions', { model, messages })
      expect([refused.status, refused.body.error.code]).toEqual([400, 'content_policy_violation'])
    }
  })

  it('the guardrails of a key hold for all that it and what it creates calls, and refuse once they are gone', async () => {
    const { body: short } = await api.post('/v1/guardrails', { name: 'of-key', checks: words('input') })
    const dashboard = await world.dashboard()
    const keys = `/api/projects/${(await dashboard.get('/api/projects')).body.data[0].id}/keys`
    const made = (await dashboard.post(keys, { name: 'guarded', scopes: { guardrails: ['of-key'] } })).body
    expect(made.scopes).toEqual({ guardrails: ['of-key'] })
    const key = world.as((await dashboard.post(`${keys}/${made.id}/rotate`, { grace_s: 60 })).body.key)
    const agent = (await key.post('/v1/agents', { name: 'plain', config: { model } })).body.id
    const ofAgent = (await key.post(`/v1/agents/${agent}/keys`, { name: 'b', scopes: { guardrails: ['masks'] } })).body
    expect(ofAgent.scopes.guardrails.toSorted()).toEqual(['masks', 'of-key'])
    for (const caller of [key, world.as(ofAgent.key)]) {
      const { status, body } = await caller.post('/v1/chat/completions', { model, messages })
      expect([status, body.error.code]).toEqual([400, 'content_policy_violation'])
      const session = await caller.createSession({ agent_id: agent })
      const frames = await (await caller.turn(session, { input: text })).all()
      expect(frames.at(-1)).toMatchObject({ data: { error: { code: 'content_policy_violation' } } })
    }
    await api.post(`/v1/guardrails/${short.id}`, undefined, { method: 'DELETE' })
    await vi.waitFor(async () => {
      const { status, body } = await key.post('/v1/chat/completions', { model, messages })
      expect([status, body.error.param]).toEqual([403, 'guardrails'])
    }, patience)
  })

  it('a response in the background has the guardrails of its request', async () => {
    const begun = await api.post('/v1/responses', { model, input: text, background: true }, named('in'))
    await vi.waitFor(async () => {
      const { body } = await api.get(`/v1/responses/${begun.body.id}`)
      expect(body).toMatchObject({ status: 'failed', error: { code: 'content_policy_violation' } })
    }, patience)
  })

  it('the lines of a batch have the guardrails of the request that began it', async () => {
    const line = JSON.stringify({
      custom_id: 'a',
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model, messages },
    })
    const { body: file } = await new KnowledgeBase(api, '').form('/v1/files', 'lines.jsonl', line, { purpose: 'batch' })
    const order = { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' }
    const begun = await api.post('/v1/batches', order, named('in'))
    const errors = await vi.waitFor(async () => {
      const { body } = await api.get(`/v1/batches/${begun.body.id}`)
      expect(body).toMatchObject({ status: 'completed', request_counts: { failed: 1 } })
      return body.error_file_id
    }, patience)
    expect(await (await api.fetch(`/v1/files/${errors}/content`)).text()).toContain('content_policy_violation')
  })

  it('what was found is in the request log', async () => {
    const { body } = await api.get('/v1/request-log?operation=chat_completions.create&limit=100')
    const found = body.data.flatMap(({ guardrails }: { readonly guardrails: readonly object[] }) => guardrails)
    for (const each of [
      { guardrail: 'in', check: 'words', on: 'input', outcome: 'blocked', found: 1 },
      { guardrail: 'out', check: 'words', on: 'output', outcome: 'blocked', found: 1 },
      { guardrail: 'masks', check: 'words', on: 'input', outcome: 'redacted', found: 1 },
    ])
      expect(found).toContainEqual(each)
  })
})

describe('sessions and runs', () => {
  const agentWith = async (guardrails: readonly string[]) =>
    api.post('/v1/agents', { name: `guarded by ${guardrails.join()}`, config: { model, guardrails } })
  const runOf = async (agent_id: string) => {
    const { body } = await api.post(`/v1/agents/${agent_id}/runs`, { input: { prompt: text } })
    return vi.waitFor(async () => {
      const run = (await api.get(`/v1/runs/${body.id}`)).body
      expect(run.status).toMatch(/completed|failed/)
      return run
    }, patience)
  }

  it('end a turn before the word by a guardrail of the project', async () => {
    const session = await api.createSession()
    const frames = await (await api.turn(session, { model, input: text })).all()
    expect(begin.startsWith(textOf(frames).replace('You said: ', '').trimEnd())).toBe(true)
    expect(JSON.stringify(frames.slice(1))).not.toContain('landed')
    expect(frames.at(-1)).toMatchObject({ event: 'turn.completed' })
  })

  it('refuse what a guardrail of their agent refuses, and take back an agent that names none that exists', async () => {
    const agent = await agentWith(['in'])
    expect(agent.status).toBe(200)
    const session = await api.createSession({ agent_id: agent.body.id })
    const frames = await (await api.turn(session, { input: text })).all()
    expect(frames.at(-1)).toMatchObject({ event: 'turn.failed', data: { error: { code: 'content_policy_violation' } } })
    expect(await runOf(agent.body.id)).toMatchObject({ status: 'failed', error: { code: 'content_policy_violation' } })
  })

  it('have the words replaced in what is remembered of them', async () => {
    const input = 'My favourite bird is the falcon.'
    const memory = { userId: 'ada' }
    const request = { model, messages: [{ role: 'user', content: input }], memory }
    const remembered = async () => JSON.stringify((await api.get('/v1/memory/list?userId=ada')).body)
    expect((await api.post('/v1/chat/completions', request, { headers: { 'x-guardrails': 'masks' } })).status).toBe(200)
    await vi.waitFor(async () => expect(await remembered()).toContain('[REDACTED]'), patience)
    const refused = { user: input, assistant: 'I see.', userId: 'ada', wait: true }
    const { body } = await api.post('/v1/memory/remember', refused, { headers: { 'x-guardrails': 'in' } })
    expect(body).toMatchObject({ status: 'error', error: { code: 'content_policy_violation' } })
    expect(await remembered()).not.toContain('falcon')
  })

  it('have the words replaced for the model in each turn of a conversation', async () => {
    const { body } = await agentWith(['masks'])
    const session = await api.createSession({ agent_id: body.id })
    for (const input of [text, 'And a falcon again']) {
      const shown = textOf(await (await api.turn(session, { input })).all())
      expect(shown).toContain('[REDACTED]')
      expect(shown).not.toContain('falcon')
    }
    expect((await runOf(body.id)).output.text).toContain('A [REDACTED] landed')
  })
})

describe('what guardrails find in a turn or run', () => {
  const kept = async (path: string) => {
    const { body } = await api.get(`${path}/events?limit=100`)
    const events: readonly { readonly event_type: string; readonly payload: object }[] = body.data
    return events.filter(({ event_type }) => event_type.endsWith('guardrail.triggered')).map(({ payload }) => payload)
  }
  const masked = { guardrail: 'masks', check: 'words', stage: 'input', outcome: 'redacted', found: 1 }

  it('stands in its log and its stream once, without the text, and a later turn reports its own only', async () => {
    const config = { model, guardrails: ['masks'] }
    const { body } = await api.post('/v1/agents', { name: 'reported', config })
    const session = await api.createSession({ agent_id: body.id })
    const frames = await (await api.turn(session, { input: 'The falcon flies.' })).all()
    const found = frames.filter(({ event }) => event === 'guardrail.triggered')
    expect(found.map(({ data }) => data)).toEqual([masked])
    expect(JSON.stringify(found)).not.toContain('falcon')
    await (await api.turn(session, { input: 'Nothing here.' })).all()
    expect(await kept(`/v1/sessions/${session}`)).toEqual([masked])
    const { id } = (await api.post(`/v1/agents/${body.id}/runs`, { input: { prompt: 'The falcon flies.' } })).body
    await vi.waitFor(async () => expect((await api.get(`/v1/runs/${id}`)).body.status).toBe('completed'), patience)
    expect(await kept(`/v1/runs/${id}`)).toEqual([masked])
  })

  it('is there when it ends the turn, before its last event', async () => {
    const blocked = { guardrail: 'in', check: 'words', stage: 'input', outcome: 'blocked', found: 1 }
    const { body } = await api.post('/v1/agents', { name: 'refused', config: { model, guardrails: ['in'] } })
    const session = await api.createSession({ agent_id: body.id })
    const frames = await (await api.turn(session, { input: 'A falcon.' })).all()
    expect(frames.slice(-2)).toMatchObject([{ event: 'guardrail.triggered', data: blocked }, { event: 'turn.failed' }])
    const plain = await api.createSession()
    const cut = await (await api.turn(plain, { model, input: text })).all()
    expect(cut.slice(-2)).toMatchObject([
      { event: 'guardrail.triggered', data: { guardrail: 'out', stage: 'output', outcome: 'blocked' } },
      { event: 'turn.completed' },
    ])
  })
})

describe('a guardrail', () => {
  it.each([
    ['a pattern that RE2 does not know', { type: 'regex', patterns: ['(?<=a)b'] }],
    ['a pattern that is too large', { type: 'regex', patterns: ['((a{100}){100}){100}'] }],
    ['a URL of another scheme', { type: 'http', url: 'file:///etc/passwd' }],
    ['an action that its check does not have', { type: 'injection', action: 'redact' }],
    ['a check that nobody knows', { type: 'magic' }],
  ])('with %s is refused', async (_, check) => {
    const refused = await api.post('/v1/guardrails', { name: 'bad', checks: [check] })
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([422, expect.stringContaining('checks')])
  })

  it('takes effect within a second when it is changed, and not any more when it was deleted', async () => {
    const checks = [{ type: 'regex', patterns: ['heron-\\d+'], action: 'flag' }]
    const { body } = await api.post('/v1/guardrails', { name: 'short-lived', checks })
    expect(body.checks).toEqual([{ ...checks[0], on: 'both' }])
    expect((await api.get(`/v1/guardrails/${body.id}`)).body).toEqual(body)
    expect((await api.get('/v1/guardrails')).body.data).toContainEqual(body)
    const call = { model, messages: [{ role: 'user', content: 'heron-12' }] }
    const headerOf = async () =>
      (await api.fetch('/v1/chat/completions', call, named('short-lived'))).headers.get('x-guardrails')
    expect(await headerOf()).toBe('out;passed, short-lived;flagged')
    expect((await api.post('/v1/guardrails', { name: 'short-lived', checks })).status).toBe(409)
    await api.post(`/v1/guardrails/${body.id}`, { checks: [{ ...checks[0], action: 'redact' }] }, { method: 'PATCH' })
    await vi.waitFor(async () => expect(await headerOf()).toBe('out;passed, short-lived;redacted'), patience)
    await api.post(`/v1/guardrails/${body.id}`, undefined, { method: 'DELETE' })
    await vi.waitFor(async () => expect(await headerOf()).toBeNull(), patience)
  })
})
