import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agents, api } from '#client/api/index.ts'
import {
  AuthenticationError,
  ConnectionError,
  InvalidRequestError,
  PermissionError,
  RateLimitError,
  type SessionEvent,
  Troupe,
  TroupeError,
} from '#client/index.ts'
import { World } from '#test/e2e/world.ts'

let world: World
beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world.stop())

const client = (key = world.secretKey) => new Troupe({ baseUrl: world.url, key, retryForMs: 300 })

const refusalOf = async (work: Promise<unknown>): Promise<TroupeError> => {
  const error = await work.then(
    () => null,
    (cause: unknown) => cause,
  )
  if (!(error instanceof TroupeError)) throw new Error(`not refused, or without saying so: ${error}`)
  return error
}

describe('the calls of resources', () => {
  it('create, read, change and delete with types from the declarations', async () => {
    const calls = agents(client())
    const made = await calls.create({ name: 'Shop', config: { model: 'simulated-1' } })
    expect(made).toMatchObject({ name: 'Shop', id: expect.stringMatching(/^agt_/) })
    expect((await calls.update(made.id, { name: 'Store' })).name).toBe('Store')
    expect((await calls.get(made.id)).name).toBe('Store')
    await calls.delete(made.id)
    // @ts-expect-error an agent has a name
    await expect(calls.create({ config: { model: 'simulated-1' } })).rejects.toMatchObject({ param: 'name' })
  })

  it('pass over all pages of a list, of every kind of list', async () => {
    const { sessions, tenants } = api(client())
    const made = await Promise.all(
      Array.from({ length: 7 }, (_, at) => tenants.create({ external_id: `t${at}`, name: 't' })),
    )
    const found: string[] = []
    for await (const { id } of tenants.list({ limit: 2 })) found.push(id)
    expect(found).toEqual(expect.arrayContaining(made.map(({ id }) => id)))
    expect(new Set(found).size).toBe(found.length)
    const opened = await Promise.all(Array.from({ length: 5 }, () => sessions.create({})))
    const listed: string[] = []
    for await (const { id } of sessions.list({ limit: 2 })) listed.push(id)
    expect(listed.toSorted()).toEqual(opened.map(({ id }) => id).toSorted())
    const session = sessions.open(opened[0]?.id)
    await session.send('reply exactly: one two three')
    const sequences: number[] = []
    for await (const { sequence } of sessions.events(String(session.id), { limit: 1 })) sequences.push(sequence)
    expect(sequences.length).toBeGreaterThan(2)
    expect(sequences).toEqual(sequences.toSorted((one, other) => one - other))
    const first = await sessions.list({ limit: 2 })
    expect(first.pagination.has_more).toBe(true)
  })

  it('act for the tenant that the headers of the client or of the call name', async () => {
    const { tenants, memory } = api(client())
    const [one, other] = await Promise.all(['one', 'other'].map((name) => tenants.create({ external_id: name, name })))
    const { headers } = { headers: { 'x-tenant-id': `${one?.id}` } }
    const ofOne = api(new Troupe({ baseUrl: world.url, key: world.secretKey, headers })).memory
    await ofOne.write({ userId: 'ada', content: 'Ada keeps bees' })
    const of = async (calls: typeof memory, options = {}) => (await calls.list({ userId: 'ada' }, options)).count
    expect(await Promise.all([of(ofOne), of(memory, { headers }), of(memory)])).toEqual([1, 1, 0])
    expect(await of(ofOne, { headers: { 'x-tenant-id': `${other?.id}` } })).toBe(0)
    const named = memory.list({ userId: 'ada' }, { headers: { 'x-tenant-id': 'one' } })
    expect((await refusalOf(named)).message).toContain('GET /v1/tenants?external_id=')
    const token = api(client()).clientTokens.create({ tenant_id: 'one', external_user_id: 'ada' })
    expect((await refusalOf(token)).message).toContain('GET /v1/tenants?external_id=')
  })

  it('give a response where the answer is no document', async () => {
    const { sessions, chatCompletions } = api(client())
    const messages = [{ role: 'user' as const, content: 'reply exactly: Hi.' }]
    const answer = await chatCompletions.create({ model: 'simulated-1', messages })
    expect(answer.choices[0]?.message.content).toBe('Hi.')
    const streamed = await chatCompletions.create({ model: 'simulated-1', messages, stream: true })
    expect(await streamed.text()).toContain('[DONE]')
    const { id } = await sessions.create({})
    expect(await (await sessions.turns(id, { input: 'reply exactly: Hi.' })).text()).toContain('turn.completed')
  })
})

describe('an error', () => {
  it('is of the class of its type, with code, field and request id', async () => {
    const { agents: calls, sessions } = api(client())
    const missing = await refusalOf(sessions.get('ses_none'))
    expect(missing).toBeInstanceOf(InvalidRequestError)
    expect(missing).not.toBeInstanceOf(PermissionError)
    expect(missing).toMatchObject({ code: 'not_found', status: 404, requestId: expect.stringMatching(/^req_/) })
    const invalid = await refusalOf(calls.create({ name: '', config: { model: 'simulated-1' } }))
    expect(invalid).toMatchObject({ type: 'invalid_request_error', status: 422, param: 'name' })
    expect(await refusalOf(api(client('csk_wrong')).agents.list())).toBeInstanceOf(AuthenticationError)
    const away = new Troupe({ baseUrl: 'http://127.0.0.1:9', key: 'csk_x', retryForMs: 50 })
    const refused = await refusalOf(api(away).agents.list())
    expect(refused).toBeInstanceOf(ConnectionError)
    expect(refused).not.toBeInstanceOf(RateLimitError)
  })
})

/** Fails the check of types if an event of a session is in no case, or a case is of no event. */
const named = ({ event }: SessionEvent): string => {
  switch (event) {
    case 'session.forked':
    case 'turn.started':
    case 'turn.restarted':
    case 'output_text.delta':
    case 'context.compacted':
    case 'guardrail.triggered':
    case 'reasoning.delta':
    case 'tool_call.started':
    case 'tool_call.progress':
    case 'tool_call.completed':
    case 'turn.paused':
    case 'turn.resumed':
    case 'turn.completed':
    case 'turn.failed':
    case 'stream.ended':
      return event
  }
}

describe('events', () => {
  it('are exhausted by a switch, whose cases know their data', async () => {
    const session = client().sessions.open()
    await session.send('reply exactly: Hi.')
    const names: string[] = []
    for await (const event of session.events()) {
      names.push(named(event))
      if (event.event === 'turn.completed') expect(event.data.output).toBe('Hi.')
      // @ts-expect-error only the events of turns have an output
      if (event.event === 'output_text.delta') expect(event.data.output).toBeUndefined()
      if (event.event === 'turn.completed') break
    }
    expect(names).toEqual(['turn.started', 'output_text.delta', 'turn.completed'])
  })
})
