import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hangUp, openUpstream, stalled, type Upstream, whole } from '#test/gateway/call/scripted-upstream.ts'
import { expectWithin } from '#test/support/expect-within.ts'
import { answerTo } from '../gateway/simulated-answer.ts'
import { endsTurn, type Frame, isDelta, isEvent, textOf } from '../stream-reader.ts'
import { drawnStores, World } from '../world.ts'

/** Far above the usual 0.1 s after the server listens, since machines are shared. Recovery does not wait for old turns. */
const nextTurnMaxMs = 10_000

const outputOf = ({ event, data }: Frame): unknown =>
  event === 'turn.completed' ? data.output : Object(data.output).text

/** The full answer of the simulated model when it is not interrupted. */
const wholeAnswer = answerTo('slow please')

const answering = (text: string): string =>
  [
    `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":${JSON.stringify(text)}},"finish_reason":null}]}`,
    'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
    'data: [DONE]',
    '',
  ].join('\n\n')

describe.each(drawnStores)('a turn interrupted by kill -9 on $store', ({ store }) => {
  let world: World
  beforeAll(async () => {
    world = await World.start({ store })
  })
  afterAll(() => world.stop())

  it('is generated again, which a reader that follows restarts sees, and one that knows nothing of them does not', async () => {
    const session = await world.api.createSession()
    const turn = await world.api.turn(session, { input: 'slow please' })
    await turn.until((frame) => isDelta(frame) && turn.frames.filter(isDelta).length >= 3)
    await world.crash()
    expect(await turn.ended).toBe('broken')
    await world.restart()

    const last = turn.frames.at(-1)?.id ?? '0'
    const [plain, aware] = await Promise.all([
      world.api.follow(session, last),
      world.api.follow(session, last, { restarts: 'true' }),
    ])
    const ends = await Promise.all([plain.until(endsTurn), aware.until(endsTurn)])
    plain.stop()
    aware.stop()
    for (const end of ends) expect(end).toMatchObject({ event: 'turn.completed', data: { output: wholeAnswer } })
    expect(wholeAnswer.startsWith(textOf(turn.frames)), textOf(turn.frames)).toBe(true)
    expect(plain.frames.filter(isDelta)).toEqual([])
    const restart = aware.frames.findIndex(isEvent('turn.restarted'))
    expect(aware.frames[restart]).toMatchObject({ data: { from_sequence: 2, attempt: 2 } })
    expect(aware.frames.slice(0, restart).filter(isDelta)).toEqual([])
    expect(textOf(aware.frames)).toBe(wholeAnswer)
    const ids = [...turn.frames, ...aware.frames].map(({ id }) => Number(id))
    expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other))

    const log = await world.api.log(session)
    expect(log.filter(({ event_type }) => endsTurn({ event: event_type }))).toHaveLength(1)
    const kept = log.slice(log.findIndex(({ event_type }) => event_type === 'turn.restarted'))
    expect(kept.map(({ sequence, payload }) => [sequence, payload])).toEqual(
      aware.frames.slice(restart).map(({ id, data }) => [Number(id), data]),
    )

    const next = await world.api.turn(session, { input: 'and now?' })
    expect((await next.all()).at(-1)).toMatchObject({ event: 'turn.completed', data: { turn_number: 2 } })
  })

  it('fails if its agent says so, with the text that is durable', async () => {
    const config = { model: 'simulated-1', on_interrupted: 'fail' }
    const agent = await world.api.post('/v1/agents', { name: 'Once', config })
    const session = await world.api.createSession({ agent_id: agent.body.id })
    const turn = await world.api.turn(session, { input: 'slow please' })
    await turn.until(isDelta)
    await world.crash()
    await turn.ended
    await world.restart()
    const rest = await world.api.follow(session, turn.frames.at(-1)?.id ?? '0', { restarts: 'true' })
    const end = await rest.until(endsTurn)
    rest.stop()
    expect(end).toMatchObject({ event: 'turn.failed', data: { error: { code: 'interrupted' } } })
    expect(rest.frames).toEqual([end])
    expect(textOf(turn.frames).startsWith(String(Object(end.data.output).text))).toBe(true)
  })

  it('does not delay the next turn after the restart', async () => {
    const sessions = await Promise.all(Array.from({ length: 20 }, () => world.api.createSession()))
    const turns = await Promise.all(sessions.map((session) => world.api.turn(session, { input: 'slow please' })))
    await Promise.all(turns.map((turn) => turn.until(isDelta)))
    await world.crash()
    const startedMs = performance.now()
    await world.restart()
    const listeningMs = performance.now()
    const next = await world.api.turn(await world.api.createSession(), { input: 'hello' })
    await next.until(isEvent('turn.started'))
    const begunMs = performance.now()
    console.info(
      `${store}: listening ${Math.round(listeningMs - startedMs)} ms after the start,` +
        ` first turn acknowledged ${Math.round(begunMs - listeningMs)} ms later`,
    )
    expect(await next.ended).toBe('done')
    await expectWithin(nextTurnMaxMs, begunMs - listeningMs, async () =>
      (await world.api.turn(await world.api.createSession(), { input: 'hello' })).all(),
    )
    for (const session of sessions) {
      const follower = await world.api.follow(session, '0')
      const end = await follower.until(endsTurn)
      follower.stop()
      expect(textOf(follower.frames)).toBe(outputOf(end))
    }
  })
})

describe('a model call', () => {
  let upstream: Upstream
  let world: World
  beforeAll(async () => {
    upstream = await openUpstream()
    world = await World.start({ env: { OPENAI_BASE_URL: `${upstream.url}/v1`, OPENAI_API_KEY: 'sk-of-a-test' } })
  })
  afterAll(async () => {
    await world.stop()
    await upstream.close()
  })

  it('is repeated with the same Idempotency-Key after kill -9 if none of its answer was sent', async () => {
    upstream.script(stalled(''), whole(answering('Here I am.')))
    const session = await world.api.createSession()
    const turn = await world.api.turn(session, { input: 'hello', model: 'gpt-4o-mini' })
    await expect.poll(() => upstream.received.length).toBe(1)
    await world.crash()
    await turn.ended
    await world.restart()
    const rest = await world.api.follow(session, turn.frames.at(-1)?.id ?? '0')
    expect(await rest.until(endsTurn)).toMatchObject({ event: 'turn.completed', data: { output: 'Here I am.' } })
    rest.stop()
    expect([...turn.frames, ...rest.frames].map(({ event }) => event)).toEqual([
      'turn.started',
      'response.output_text.delta',
      'turn.completed',
    ])
    const keys = upstream.received.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
  })

  it('fails its turn when the provider hangs up', async () => {
    upstream.script(hangUp)
    const turn = await world.api.turn(await world.api.createSession(), { input: 'hello', model: 'gpt-4o-mini' })
    expect((await turn.all()).at(-1)).toMatchObject({ event: 'turn.failed' })
  })
})
