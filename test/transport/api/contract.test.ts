import { describe, expect, it } from 'vitest'
import type { AnyUseCases } from '#actors/call/use-cases.ts'
import { operations } from '#actors/capabilities.ts'
import { wrongKindCode } from '#specs/access.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { answerChecker, refusalCode } from '#specs/dsl/validate.ts'
import type { ErrorCode } from '#specs/errors/errors.ts'
import { codeIn, statusIn } from '#specs/errors/wire-errors.ts'
import { consolePaths } from '#specs/reach/console-paths.ts'
import { sampleForm, takesForms } from '#test/specs/sample-form.ts'
import {
  type Mutation,
  queryWith,
  sampleOf,
  withoutRequired,
  withUnknown,
  withWrongTypes,
} from '#test/specs/samples.ts'
import { principals, type Received, type Sent, serve } from './serving.ts'

/** Contract that follows from each declaration, for every operation: no test here is written for one of them. */

const declared: readonly Operation[] = [...Object.values(operations), ...consolePaths(Object.values(operations))]
const calls: string[] = []
const { send } = serve(declared, fakes(declared))

/** Use cases that return a sample of the response that their operation declares. */
function fakes(all: readonly Operation[]): AnyUseCases {
  return Object.fromEntries(
    all.map(({ id, answer }) => [
      id,
      async () => {
        calls.push(id)
        return resultOf(answer)
      },
    ]),
  )
}

function resultOf(answer: Operation['answer']): unknown {
  if (answer.kind === 'json') {
    const body = sampleOf(answer.schema.json)
    return answer.withHeaders ? { body, headers: [] } : body
  }
  if (answer.kind === 'bytes') return { contentType: answer.contentTypes[0], bytes: 'bytes' }
  if (answer.kind === 'choice') return { json: sampleOf(answer.json.schema.json) }
  return { replayed: false, stream: { start: (sink: { end(reason: 'done'): void }) => endAtOnce(sink) } }
}

function endAtOnce(sink: { end(reason: 'done'): void }) {
  sink.end('done')
  return { resume: () => {}, stop: () => {} }
}

const target = (
  operation: Operation,
  { path = operation.paths[0], given = [] }: { readonly path?: string; readonly given?: readonly string[] } = {},
) => path.replace(/\{\w+\}/g, 'some_id') + queryWith(operation, given)

const principalFor = ({ access }: Operation) => principals[access.kinds[0] ?? 'public']

/** A valid request of the operation, with its first kind of credential. */
const good = (operation: Operation, more: Partial<Sent> = {}): Sent => ({
  method: operation.method,
  target: target(operation),
  as: principalFor(operation),
  ...(operation.body === null ? {} : bodyOf(operation)),
  ...more,
})

const bodyOf = (operation: Operation): Partial<Sent> => {
  const body = sampleOf(operation.body?.json ?? {})
  if (!takesForms(operation)) return { body }
  const form = sampleForm(operation, body)
  return { body: form.body, headers: { 'content-type': form.contentType } }
}

/** Content of an error, in any envelope that the operation has. */
const refusal = ({ json, status }: Received) => {
  const body = json !== null && typeof json === 'object' ? json : {}
  const error = 'error' in body ? body.error : undefined
  // A2A has the code in a detail of the error
  const { details: infos, data = infos }: { details?: unknown; data?: unknown } = Object(error)
  if (Array.isArray(data)) return { ...Object(data[0]).metadata, status }
  if (typeof error === 'object' && error !== null) return { status, ...error }
  // the envelope of web operations has all fields but the code in `details`
  const details = 'details' in body ? body.details : undefined
  return { ...body, ...(typeof details === 'object' ? details : {}), status, code: error }
}

/** Expected error in the envelope of the operation; that of custom providers has only a sentence. */
const saying = ({ envelope }: Operation, code: ErrorCode, param?: string) => {
  const status = statusIn(envelope, code)
  if (envelope === 'custom_providers') return { status, code: expect.any(String) }
  return { status, code: codeIn(envelope, code), ...(param === undefined ? {} : { param }) }
}

const refused = async (sent: Sent) => {
  calls.length = 0
  const received = await send(sent)
  expect(calls, 'the use-case is not reached').toEqual([])
  expect(received.headers['x-request-id'], 'every answer has its id').toMatch(/^[\w-]{8,}$/)
  expect(received.text).not.toContain('    at ')
  return refusal(received)
}

/** The bodies of each operation that a mutation makes: a test for each body would cost the runner more than the body. */
const cases = (mutate: (schema: NonNullable<Operation['body']>['json']) => readonly Mutation[]) =>
  declared.flatMap((operation) => {
    const mutations = operation.body === null || takesForms(operation) ? [] : mutate(operation.body.json)
    return mutations.length === 0 ? [] : [{ id: operation.id, operation, mutations }]
  })

const withBody = declared.filter((operation) => operation.body !== null && !takesForms(operation))
const guarded = declared.filter(({ access }) => !access.kinds.includes('public'))

describe.each(declared)('$id', (operation) => {
  it.each(operation.paths)('responds as declared at %s', async (path) => {
    calls.length = 0
    const received = await send(good(operation, { target: target(operation, { path }) }))
    expect(calls).toEqual([operation.id])
    if (operation.answer.kind !== 'json')
      expect(received.status).toBe('status' in operation.answer ? operation.answer.status : 200)
    else {
      expect(received.status).toBe(operation.answer.status)
      expect(answerChecker(operation.answer.schema.json)(received.json)).toBeNull()
    }
  })

  it('refuses unsupported methods and lists the supported ones', async () => {
    const received = await send({ method: 'TRACE', target: target(operation) })
    expect(refusal(received)).toMatchObject(saying(operation, 'method_not_allowed'))
    expect(received.headers.allow?.split(', ')).toContain(operation.method)
  })

  it('returns the request id that it received', async () => {
    const { headers } = await send(good(operation, { headers: { 'x-request-id': 'my-request-1' } }))
    expect(headers['x-request-id']).toBe('my-request-1')
  })
})

describe.each(guarded)('$id', (operation) => {
  it('requires a credential', async () => {
    const sent = good(operation, { as: 'nobody' })
    expect(await refused(sent)).toMatchObject(saying(operation, 'authentication_required'))
  })

  const others = Object.values(principals).filter(
    ({ kind }) => kind !== 'public' && !operation.access.kinds.includes(kind),
  )
  it.skipIf(others.length === 0)('refuses credentials of all other kinds', async () => {
    for (const as of others) {
      const answer = await refused(good(operation, { as }))
      expect(answer, as.kind).toMatchObject(saying(operation, wrongKindCode(operation.access)))
    }
  })
})

const byPublicKey = new Set([
  ...['sessions.create', 'sessions.list', 'sessions.get', 'sessions.turns', 'sessions.stream', 'sessions.cancel'],
  ...['sessions.messages', 'sessions.image', 'ag_ui.run'],
  ...['runs.create', 'runs.get', 'runs.cancel', 'runs.events'],
  ...['chat_completions.create', 'ai_chat.create', 'models.list', 'models.get'],
])

describe.each(guarded.filter(({ id }) => !byPublicKey.has(id)))('$id', (operation) => {
  it('refuses a public key of an agent, which reaches only its sessions, runs and models', async () => {
    const as = { ...principals.agent_key, keyType: 'public' } as const
    expect(await refused(good(operation, { as }))).toMatchObject(saying(operation, wrongKindCode(operation.access)))
  })
})

describe.each(guarded.filter(({ access }) => access.permissions !== undefined))('$id', (operation) => {
  it('refuses a client token without the scope', async () => {
    const as = { ...principals.client_token, permissions: [] }
    expect(await refused(good(operation, { as }))).toMatchObject(
      saying(operation, operation.access.secretKeyRow ? 'secret_key_required' : 'insufficient_scope'),
    )
  })
})

describe.each(guarded.filter(({ access: { role } }) => role === 'owner' || role === 'admin'))('$id', (operation) => {
  it('refuses a weaker role', async () => {
    const as = { ...principals.dashboard, role: 'member' as const }
    expect(await refused(good(operation, { as }))).toMatchObject(saying(operation, 'forbidden'))
  })
})

const changing = declared.filter(({ method, access }) => method !== 'GET' && access.kinds.includes('dashboard'))

describe.each(changing)('$id', (operation) => {
  it('refuses a cross-site request with a cookie', async () => {
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const sent = good(operation, { as: principals.dashboard, headers })
    expect(await refused(sent)).toMatchObject(saying(operation, 'csrf_refused'))
  })
})

/** Larger than every limit, once for all operations: to fill one for each takes longer than their refusals. */
const blanks = Buffer.alloc(Math.max(...withBody.map(({ maxBodyBytes }) => maxBodyBytes)) + 1, ' ')

describe.each(withBody)('$id', (operation) => {
  it('refuses a body larger than its limit', async () => {
    const body = blanks.subarray(0, operation.maxBodyBytes + 1)
    expect(await refused(good(operation, { body }))).toMatchObject(saying(operation, 'body_too_large'))
  })

  it('refuses a body of another type', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect(await refused(good(operation, { headers }))).toMatchObject(saying(operation, 'unsupported_media_type'))
  })

  it('refuses malformed JSON', async () => {
    for (const body of ['{', '{"a":1}}', '\u0000', '['.repeat(100)])
      expect(await refused(good(operation, { body })), body).toMatchObject(saying(operation, 'malformed_json'))
  })

  it('refuses a body that is not an object', async () => {
    for (const body of [[], '"text"', '7', 'null'])
      expect(await refused(good(operation, { body })), `${body}`).toMatchObject(saying(operation, 'invalid_field'))
  })
})

describe('bodies', () => {
  it.each(cases(withoutRequired))('of $id require each required field', async ({ operation, mutations }) => {
    for (const { param, body } of mutations)
      expect(await refused(good(operation, { body })), param).toMatchObject(saying(operation, 'missing_field', param))
  })

  it.each(cases(withWrongTypes))('of $id refuse a wrong type of each field', async ({ operation, mutations }) => {
    for (const { param, body } of mutations)
      expect(await refused(good(operation, { body })), param).toMatchObject(
        saying(operation, refusalCode(operation, param), param),
      )
  })

  const closed = cases(withUnknown).filter(({ operation }) => operation.unknownFields === 'refuse')
  it.each(closed)('of $id refuse unknown fields', async ({ operation, mutations }) => {
    for (const { param, body } of mutations)
      expect(await refused(good(operation, { body })), param).toMatchObject(saying(operation, 'unknown_field', param))
  })

  const open = cases(withUnknown).filter(({ operation }) => operation.unknownFields === 'ignore')
  it.each(open)('of $id may contain unknown fields', async ({ operation, mutations }) => {
    for (const { param, body } of mutations) {
      calls.length = 0
      expect((await send(good(operation, { body }))).status, param).toBeLessThan(300)
      expect(calls).toEqual([operation.id])
    }
  })
})

describe('queries', () => {
  const all = declared.flatMap((operation) =>
    Object.entries(operation.query).map(([name, { json }]) => ({ id: operation.id, name, json, operation })),
  )

  const picky = all.filter(({ json }) => json.type !== 'string' || json.enum !== undefined)
  it.each(picky)('of $id refuse an invalid $name', async ({ operation, name }) => {
    const sent = good(operation, { target: target(operation, { given: [`${name}=%20nonsense`] }) })
    expect(await refused(sent)).toMatchObject(saying(operation, 'invalid_query', name))
  })

  const single = all.filter(({ json }) => json.type !== 'array')
  it.each(single)('of $id refuse a repeated $name', async ({ operation, name, json }) => {
    const pair = `${name}=${encodeURIComponent(String(sampleOf(json)))}`
    const sent = good(operation, { target: target(operation, { given: [pair, pair] }) })
    expect(await refused(sent)).toMatchObject(saying(operation, 'invalid_query', name))
  })

  const strict = declared.filter(({ unknownFields }) => unknownFields === 'refuse')
  it.each(strict)('of $id refuse an undeclared parameter and name it', async (operation) => {
    const sent = good(operation, { target: target(operation, { given: ['not_a_filter=1'] }) })
    expect(await refused(sent)).toMatchObject(saying(operation, 'invalid_query', 'not_a_filter'))
  })

  it('ignore parameters that other SDKs add', async () => {
    const { status } = await send(good(operations['models.list'], { target: '/v1/models?limit=1000' }))
    expect(status).toBe(200)
  })
})
