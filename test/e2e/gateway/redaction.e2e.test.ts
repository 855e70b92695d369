import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Api } from '../api.ts'
import { textOf } from '../stream-reader.ts'
import { World } from '../world.ts'

/* The simulated model repeats its input: without restoring, its answer shows what the provider received. */

let world: World
let api: Api

beforeAll(async () => {
  world = await World.start()
  ;({ api } = world)
})
afterAll(() => world.stop())

const said = 'Write to ada@example.com or call +1 415 555 2671'
const body = { model: 'simulated-1', messages: [{ role: 'user', content: said }] }

const answer = async (more: object = {}): Promise<string> =>
  (await api.post('/v1/chat/completions', { ...body, ...more })).body.choices[0].message.content

const streamed = async (): Promise<string> => {
  const response = await api.fetch('/v1/chat/completions', { ...body, stream: true })
  const frames = (await response.text()).split('\n\n').filter((frame) => frame.startsWith('data: {'))
  return frames.map((frame) => JSON.parse(frame.slice('data: '.length)).choices[0]?.delta?.content ?? '').join('')
}

const change = (policy: object) => api.post('/v1/redaction-policy', policy, { method: 'PATCH' })

it('redaction is on by default with restoring, so that answers have the original text', async () => {
  expect((await api.get('/v1/redaction-policy')).body).toMatchObject({
    ...{ enabled: true, restore: true, apply_to: ['input', 'tool_arguments', 'logs'], updated_at: null },
  })
  expect(await answer()).toBe(`You said: ${said}`)
  expect(await streamed()).toBe(`You said: ${said}`)
})

it('redaction restores the arguments of tool calls, with and without streaming', async () => {
  const tools = [
    {
      type: 'function',
      function: { name: 'mail', parameters: { type: 'object', properties: { to: { type: 'string' } } } },
    },
  ]
  const requested = {
    ...{ model: 'simulated-1', tools },
    messages: [{ role: 'user', content: 'use mail to: "ada@example.com"' }],
  }
  const { body: whole } = await api.post('/v1/chat/completions', requested)
  const response = await api.fetch('/v1/chat/completions', { ...requested, stream: true })
  const frames = (await response.text()).split('\n\n').filter((frame) => frame.startsWith('data: {'))
  const parts = frames.map(
    (frame) => JSON.parse(frame.slice('data: '.length)).choices[0]?.delta?.tool_calls?.[0]?.function?.arguments ?? '',
  )
  const sent = [whole.choices[0].message.tool_calls[0].function.arguments, parts.join('')]
  expect(sent.map((json) => JSON.parse(json))).toEqual([{ to: 'ada@example.com' }, { to: 'ada@example.com' }])
})

it('redaction can be turned off by a project', async () => {
  expect(await change({ enabled: false })).toMatchObject({ status: 200, body: { enabled: false } })
  await change({ restore: false })
  expect(await answer()).toBe(`You said: ${said}`)
})

it('redaction sends placeholders to providers, and restores them in the answer if configured', async () => {
  expect(await change({ enabled: true, restore: false })).toMatchObject({ status: 200, body: { enabled: true } })
  expect(await answer()).toBe('You said: Write to [EMAIL_1] or call [PHONE_1]')
  expect(await streamed()).toBe('You said: Write to [EMAIL_1] or call [PHONE_1]')
  await change({ restore: true })
  expect(await answer()).toBe(`You said: ${said}`)
  expect(await streamed()).toBe(`You said: ${said}`)
})

it('redaction applies to other chat APIs too, and to the types that the project chose', async () => {
  await change({ restore: false, types: ['email'] })
  const only = 'You said: Write to [EMAIL_1] or call +1 415 555 2671'
  expect((await api.post('/api/ai/chat', body)).body.content).toBe(only)
  const { body: response } = await api.post('/v1/responses', { model: 'simulated-1', input: said })
  expect(response.output[0].content[0].text).toBe(only)
})

it('redaction applies to session turns, where the streamed text equals the recorded output', async () => {
  const session = await api.createSession()
  const turn = async () => (await api.turn(session, { model: 'simulated-1', input: said })).all()
  const only = 'You said: Write to [EMAIL_1] or call +1 415 555 2671'
  const hidden = await turn()
  expect([textOf(hidden), hidden.at(-1)?.data.output]).toEqual([only, only])
  await change({ restore: true })
  const shown = await turn()
  expect([textOf(shown), shown.at(-1)?.data.output]).toEqual([`You said: ${said}`, `You said: ${said}`])
})

it('the redaction policy is readable from the dashboard, audited, and refuses invalid values', async () => {
  const dashboard = await world.dashboard()
  const read = await dashboard.get('/v1/redaction-policy')
  expect(read.body).toMatchObject({ types: ['email'], apply_to: ['input', 'tool_arguments', 'logs'] })
  expect(await change({ apply_to: ['input'] })).toMatchObject({ status: 422, body: { error: { param: 'apply_to' } } })
  expect(await change({ types: ['birthday'] })).toMatchObject({ status: 422, body: { error: { param: 'types[0]' } } })
  const { body: log } = await api.get('/v1/audit-log')
  expect(JSON.stringify(log.data)).toContain('redaction_policy.updated')
})
