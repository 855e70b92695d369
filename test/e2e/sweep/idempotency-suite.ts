import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it, vi } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { sampleForm, takesForms } from '#test/specs/sample-form.ts'
import type { Answered, Api } from '../api.ts'
import type { Rows } from '../mongo-data.ts'
import { patience } from '../patience.ts'
import type { World } from '../world.ts'
import { failuresOf } from './cases.ts'
import { partFileOf } from './estate/parts.ts'
import type { Estate } from './estate.ts'
import { isReplay, keyed } from './keyed-requests.ts'
import { atRest, rowsBeyond, settledRows } from './settled-rows.ts'
import type { PartOf, Swept } from './sweep.ts'

/** Number of concurrent requests with one key. */
const aFew = 8

/** A key that no other test, and no earlier attempt of one, has sent. */
const newKey = (): string => `k-${randomUUID()}`

const declared: readonly Operation[] = Object.values(operations)
const creates = declared.filter(({ id, method, body }) => method === 'POST' && id.endsWith('.create') && body !== null)

const statusOf = (answer: Operation['answer']): number =>
  answer.kind === 'choice' ? answer.json.status : answer.status

/** Whether its answer has a secret, which is shown only once. */
const showsSecret = ({ answer }: Operation): boolean => answer.kind === 'json' && answer.secret

/** Sends every creating operation twice, and several times concurrently, with one key. */
export const idempotency = (swept: () => Swept, partOf: PartOf): void => {
  let world: World
  let estate: Estate

  beforeAll(() => {
    world = swept().world
    estate = swept().mine.acme
  })

  /** Sends a creating request with a credential that may use it. */
  const create = async (operation: Operation, body: object, key?: string): Promise<Answered> => {
    const { id, access, answer } = operation
    const api = access.kinds.includes('secret_key') ? world.api : estate.dashboard
    const extra = key === undefined ? {} : keyed(key)
    const answered = await untilDone(() =>
      takesForms(operation)
        ? form(api.with(extra.headers ?? {}), operation, body)
        : api.post(estate.pathOf(operation), body, extra),
    )
    if (answered.status === statusOf(answer)) estate.keep(answered.body.id)
    if (id === 'runs.create' && answered.status === statusOf(answer)) await over(answered.body.id)
    return answered
  }

  /** The answer of a request that is sent again, as clients do, while the first one with its key is still in progress. */
  const untilDone = (send: () => Promise<Answered>): Promise<Answered> =>
    vi.waitFor(async () => {
      const answered = await send()
      expect(answered.status === 409 && answered.headers.has('retry-after'), JSON.stringify(answered.body)).toBe(false)
      return answered
    }, patience)

  const form = async (api: Api, operation: Operation, fields: object): Promise<Answered> => {
    const { body, contentType } = sampleForm(operation, fields)
    const answer = await api.upload(estate.pathOf(operation), Buffer.from(body), contentType)
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }

  /** Expects that the operation accepted the estate's body for it. */
  const taken = (operation: Operation, { status, body }: Answered): void => {
    const hint = `${operation.id}: say in ${partFileOf(operation)} what it takes`
    expect(status, `${hint}: ${JSON.stringify(body)}`).toBe(statusOf(operation.answer))
  }

  /** Waits for a run to end: its rows must not be counted for later requests. */
  const over = (run: string): Promise<void> =>
    vi.waitFor(async () => expect((await world.api.get(`/v1/runs/${run}`)).body.status).toBe('completed'), patience)

  it.each(partOf(creates))('replays the first answer of $id, or shows its secret only once', async (operation) => {
    const body = await estate.bodyOf(operation)
    const key = newKey()
    const [first, again] = [await create(operation, body, key), await create(operation, body, key)]
    taken(operation, first)
    expect(isReplay(first)).toBe(false)
    if (showsSecret(operation)) return expect(again.status).toBe(409)
    expect(isReplay(again)).toBe(true)
    expect({ status: again.status, body: again.body }).toEqual({ status: first.status, body: first.body })
  })

  it.each(partOf(creates))('is refused for $id with another body', async (operation) => {
    const key = newKey()
    await create(operation, await estate.bodyOf(operation), key)
    expect(await create(operation, await estate.bodyOf(operation), key)).toMatchObject({
      status: 409,
      body: {
        error: ['platform', 'openai', 'anthropic'].includes(operation.envelope)
          ? { code: 'idempotency_key_reused' }
          : expect.any(String),
      },
    })
  })

  /** Sends eight concurrent requests with one key, of which one is carried out. */
  const together = async (operation: Operation): Promise<void> => {
    const body = await estate.bodyOf(operation)
    const key = newKey()
    const answers = await Promise.all(Array.from({ length: aFew }, () => create(operation, body, key)))
    const good = answers.filter(({ status }) => status === statusOf(operation.answer))
    expect(good).toHaveLength(showsSecret(operation) ? 1 : aFew)
    expect(new Set(good.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
    expect(good.filter((answer) => !isReplay(answer))).toHaveLength(1)
  }

  /** Rows of all tables except the keys', once all background work has ended. */
  const settled = async (): Promise<Rows> => {
    await atRest(estate)
    const { idempotency_keys: _, records_idempotency_keys: __, ...others } = await settledRows(world)
    return others
  }

  /** Growth of each table when each operation is called once, and when it is called eight times with one key. */
  const growthOf = async (operations: readonly Operation[]) => {
    const createEach = async () => {
      for (const operation of operations) taken(operation, await create(operation, await estate.bodyOf(operation)))
    }
    // the first of a kind may write more rows, for resources that it initialises
    await createEach()
    const before = await settled()
    await createEach()
    const between = await settled()
    const cases = operations.map((operation) => ({ title: operation.id, check: () => together(operation) }))
    expect(await failuresOf(cases)).toEqual([])
    return { once: growth(before, between), eightTimes: growth(between, await settled()) }
  }

  it('lets one of eight concurrent requests create a resource', async () => {
    const counted = partOf(creates.filter(({ id }) => id !== 'runs.create'))
    const { once, eightTimes } = await growthOf(counted)
    expect(eightTimes).toEqual(once)
    // a client token is signed, not stored
    const rows = Object.values(once).reduce((sum, each) => sum + each, 0)
    expect(rows).toBeGreaterThanOrEqual(counted.length - 1)
  })

  it('lets one of eight concurrent requests create a run', async () => {
    const { once, eightTimes } = await growthOf(creates.filter(({ id }) => id === 'runs.create'))
    // a run continues in the background with any number of steps, so only its own row is counted
    const ofRuns = Object.keys(once).filter((name) => /(^|_)runs$/.test(name))
    expect(ofRuns.map((name) => [once[name], eightTimes[name]])).toEqual(ofRuns.map(() => [1, 1]))
    expect(ofRuns).not.toEqual([])
  })

  it('is scoped to its operation and its user', async () => {
    const shared = keyed(newKey())
    const session = await world.api.post('/v1/sessions', {}, shared)
    const agent = await world.api.post('/v1/agents', await estate.bodyOf(operations['agents.create']), shared)
    const minted = await world.api.post(
      '/v1/client-tokens',
      { tenant_id: estate.tenant, external_user_id: 'ada' },
      shared,
    )
    const theirs = await world.as(minted.body.token).post('/v1/sessions', {}, shared)
    expect([session, agent, minted, theirs].map(isReplay)).toEqual([false, false, false, false])
    expect(theirs.body.id).not.toBe(session.body.id)
  })

  it('may have at most 255 characters', async () => {
    expect(await world.api.post('/v1/sessions', {}, keyed('k'.repeat(255)))).toMatchObject({ status: 201 })
    expect(await world.api.post('/v1/sessions', {}, keyed('k'.repeat(256)))).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_header', param: 'Idempotency-Key' } },
    })
  })
}

/** Number of new rows of each table that has any. */
const growth = (before: Rows, after: Rows): Record<string, number> =>
  Object.fromEntries(Object.entries(rowsBeyond(before, after)).map(([table, keys]) => [table, keys.length]))
