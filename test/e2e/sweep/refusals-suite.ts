import { beforeAll, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { wrongKindCode } from '#specs/access.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { refusalCode } from '#specs/dsl/validate.ts'
import type { ErrorCode } from '#specs/errors/errors.ts'
import { codeIn, statusIn } from '#specs/errors/wire-errors.ts'
import { drawnOf } from '#test/setup/at-night.ts'
import { takesForms } from '#test/specs/sample-form.ts'
import { type Mutation, sampleOf, withoutRequired, withUnknown, withWrongTypes } from '#test/specs/samples.ts'
import { type Answered, Api, type Extra } from '../api.ts'
import type { Rows } from '../mongo-data.ts'
import { type Case, failuresOf } from './cases.ts'
import type { Ids } from './estate/estate-part.ts'
import { declaredEstate } from './estate/parts.ts'
import type { Estate } from './estate.ts'
import { atRest, rowsBeyond, settledRows, unexpired } from './settled-rows.ts'
import type { Swept } from './sweep.ts'

/*
 * Refusals that follow from the declarations, tested with invalid and unauthorised requests against a running server with
 * real credentials and resources of two projects. The suite is generic.
 */

const declared: readonly Operation[] = Object.values(operations)
const guarded = declared.filter(({ access }) => !access.kinds.includes('public'))
const withBody = declared.filter((operation) => operation.body !== null && !takesForms(operation))
const withParams = guarded.filter(({ params }) => params.length > 0)
const ofClients = withParams.filter(
  ({ access, params }) => access.kinds.includes('client_token') && params.includes('session_id'),
)

/** Parameters that have to name existing resources: a PUT creates the resource that its last one names. */
const naming = ({ method, params }: Operation): readonly string[] => (method === 'PUT' ? params.slice(0, -1) : params)

/** The path with these ids. */
const target = (operation: Operation, idFor: (name: string) => string): string =>
  operation.paths[0].replace(/\{(\w+)\}/g, (_, name: string) => idFor(name))

/** Fields of an error in any error format. */
const refusalIn = ({ status, headers, body }: Answered) => {
  expect(headers.get('x-request-id'), 'every answer has its id').toMatch(/^req_/)
  expect(JSON.stringify(body)).not.toMatch(/\.ts:\d|\bat \w+ \(|sqlite|mongo/i)
  // A2A has the code in a detail of the error
  const [info] = body.error?.details ?? body.error?.data ?? []
  if (info?.metadata !== undefined) return { ...info.metadata, status }
  return typeof body.error === 'object'
    ? { status, ...body.error }
    : { ...body, ...body.details, status, code: body.error }
}

/** The expected error in the operation's format: that of custom providers has only a sentence. */
const saying = ({ envelope }: Operation, code: ErrorCode, param?: string) => {
  const status = statusIn(envelope, code)
  if (envelope === 'custom_providers') return { status, code: expect.any(String) }
  return { status, code: codeIn(envelope, code), ...(param === undefined ? {} : { param }) }
}

/** The code for an unknown id; a model is not a resource and has its own code. */
const missing = (name: string): ErrorCode => (name === 'model' ? 'model_not_found' : 'not_found')

/** Whether the parameter is the project, which is looked up before the request is validated. */
const isProject = (name: string): boolean => /^project_?id$/i.test(name)

/** A body without the fields that a client token may never set. */
const tokenBody = ({ body, fields }: Operation): { readonly body?: object } => {
  const closed = fields.filter(({ by, itemTypes, unlessLeave }) => {
    const isWhole = itemTypes === undefined && unlessLeave === undefined
    return isWhole && !by.includes('client_token')
  })
  if (body === null || closed.length === 0) return {}
  const names = new Set(closed.map(({ field }) => field))
  return { body: Object.fromEntries(Object.entries(Object(sampleOf(body.json))).filter(([name]) => !names.has(name))) }
}

type Mutate = (schema: NonNullable<Operation['body']>['json']) => readonly Mutation[]

const mutated = ({ body }: Operation, mutate: Mutate): readonly Mutation[] => (body === null ? [] : mutate(body.json))

/** A request of an operation; the defaults are a valid body, an authorised credential and own ids. */
interface RefusedRequest {
  readonly operation: Operation
  /** Other ids, by the names of their places. */
  readonly ids?: Ids
  readonly api?: Api
  readonly body?: unknown
  readonly extra?: Extra
}

const unknownCredentials = [
  ['none', {}],
  ['an unknown key', { authorization: `Bearer csk_${'x'.repeat(43)}` }],
  ['an unknown token', { authorization: 'Bearer ect_a.b.c' }],
  ['no bearer', { authorization: 'Basic YTpi' }],
  ['an unknown cookie', { cookie: 'troupe_session=unknown; session=unknown' }],
] as const

/** The id of another project's resource: version numbers of agents are alike, so their ids are used. */
const foreignId = (foreign: Estate, name: string): string => foreign.id(name === 'version' ? 'agent_version_id' : name)

/** Sends invalid requests of every operation with every credential. */
export const refusals = (swept: () => Swept): void => {
  let mine: Estate
  let foreign: Estate
  let apis: Readonly<Record<string, Api>>
  let neighbours: Readonly<Record<string, string>>
  let before: Rows

  beforeAll(async () => {
    const { world, dashboard, mine: own, theirs } = swept()
    mine = own.acme
    foreign = theirs.acme
    for (const estate of [own.acme, own.globex, theirs.acme, theirs.globex]) await atRest(estate)
    // with the permissions of every operation that takes a client token: a lack of one is refused before the session is read
    const user = { tenant_id: mine.populated.tenant, external_user_id: 'ada' }
    const permissions = ['sessions:turn', 'sessions:approve']
    const { body } = await own.api.post('/v1/client-tokens', { ...user, permissions })
    apis = { secret_key: own.api, dashboard, client_token: world.as(body.token) }
    neighbours = {
      "the project's own": await own.api.createSession(),
      "another user's": mine.populated.sessions[2] ?? '',
      "another tenant's": own.globex.id('session_id'),
    }
    before = await settledRows(world)
  }, 240_000)

  const apiFor = ({ access }: Operation): Api => apis[access.kinds[0] ?? ''] ?? new Api(swept().world.url)

  const send = ({
    operation,
    ids = {},
    api = apiFor(operation),
    body,
    extra = {},
  }: RefusedRequest): Promise<Answered> => {
    const { method } = operation
    const sent = body ?? (operation.body === null ? undefined : sampleOf(operation.body.json))
    const path = target(operation, (name) => ids[name] ?? mine.id(name))
    return sent === undefined ? api.get(path, { method, ...extra }) : api.post(path, sent, { method, ...extra })
  }

  const refused = async (request: RefusedRequest) => refusalIn(await send(request))

  const checked = (title: string, check: () => Promise<void>): Case => ({ title, check })

  /** A case for a request that is refused with the expected error. */
  const refuses = (title: string, request: RefusedRequest, expected: object): Case =>
    checked(title, async () => expect(await refused(request)).toMatchObject(expected))

  const withoutCredential = (operation: Operation): readonly Case[] =>
    unknownCredentials.map(([title, headers]) =>
      refuses(
        `asks for a credential: ${title}`,
        { operation, api: new Api(swept().world.url, headers) },
        saying(operation, 'authentication_required'),
      ),
    )

  const ofOtherKinds = (operation: Operation): readonly Case[] => {
    const { kinds } = operation.access
    const others = ['secret_key', 'client_token', 'dashboard'].filter((kind) => !kinds.some((each) => each === kind))
    const code = wrongKindCode(operation.access)
    return others.map((kind) => {
      const api = apis[kind] ?? new Api(swept().world.url)
      const headers = kind === 'dashboard' ? { 'x-project-id': mine.project } : {}
      const requested = { operation, api, extra: { headers } }
      return refuses(`refuses a ${kind}`, requested, saying(operation, code))
    })
  }

  const underUnknownIds = (operation: Operation): readonly Case[] =>
    naming(operation).flatMap((name) => [
      ...[`${mine.id(name).split('_')[0]}_${'0'.repeat(26)}`, 'nonsense', "'--"].map((id) =>
        refuses(
          `finds nothing under an unknown ${name}: ${id}`,
          { operation, ids: { [name]: id } },
          saying(operation, missing(name)),
        ),
      ),
      ...['%00', 'a%1Fb', '%C2%85'].map((id) =>
        refuses(
          `refuses a ${name} that no id can be: ${id}`,
          { operation, ids: { [name]: id } },
          isProject(name) ? saying(operation, 'not_found') : saying(operation, 'invalid_field', name),
        ),
      ),
    ])

  /** Without common names: members may access all projects of their organisation. */
  const underForeignIds = (operation: Operation): readonly Case[] =>
    naming(operation)
      .filter((name) => !declaredEstate.common.has(name))
      .map((name) =>
        refuses(
          `finds nothing under another project's ${name}`,
          { operation, ids: { [name]: foreignId(foreign, name) } },
          saying(operation, missing(name)),
        ),
      )

  const ofNeighbours = (operation: Operation): readonly Case[] =>
    Object.entries(neighbours).map(([whose, session_id]) => {
      const api = apis.client_token ?? swept().world.api
      const requested = { operation, ids: { session_id }, api, ...tokenBody(operation) }
      const title = `shows a client token nothing of ${whose} session`
      return refuses(title, requested, { status: 404, code: 'not_found' })
    })

  const ofBodies = (operation: Operation): readonly Case[] => {
    const requested = { operation }
    const wrong = (mutations: readonly Mutation[], codeOf: (param: string) => ErrorCode): readonly Case[] =>
      mutations.map(({ param, body }) => {
        const code = codeOf(param)
        return refuses(`${code} ${param}`, { ...requested, body }, saying(operation, code, param))
      })
    return [
      refuses('refuses a body that is no JSON', { ...requested, body: '{"a":' }, saying(operation, 'malformed_json')),
      checked('refuses a body that is too large as soon as its length is said', async () => {
        const sent = { method: operation.method, contentLength: operation.maxBodyBytes + 1 }
        const answered = await apiFor(operation).announce(target(operation, mine.id), sent)
        expect(refusalIn(answered)).toMatchObject(saying(operation, 'body_too_large'))
      }),
      // test/transport/api/contract.test.ts sends all of them to the same validation, without a server
      ...drawnOf(
        [
          ...wrong(mutated(operation, withoutRequired), () => 'missing_field'),
          ...wrong(mutated(operation, withWrongTypes), (param) => refusalCode(operation, param)),
          ...(operation.unknownFields === 'refuse'
            ? wrong(mutated(operation, withUnknown), () => 'unknown_field')
            : []),
        ],
        3,
      ),
    ]
  }

  const casesOf = (operation: Operation): readonly Case[] => [
    ...(guarded.includes(operation) ? [...withoutCredential(operation), ...ofOtherKinds(operation)] : []),
    ...(withParams.includes(operation) ? [...underUnknownIds(operation), ...underForeignIds(operation)] : []),
    ...(ofClients.includes(operation) ? ofNeighbours(operation) : []),
    ...(withBody.includes(operation) ? ofBodies(operation) : []),
  ]

  it.each([...new Set([...guarded, ...withBody])])(
    '$id refuses unauthorised callers, unknown ids and malformed bodies',
    async (operation) => {
      const cases = casesOf(operation)
      expect(cases).not.toEqual([])
      expect(await failuresOf(cases)).toEqual([])
    },
  )

  it('sessions.create refuses a body above its size limit', async () => {
    const operation = operations['sessions.create']
    const body = JSON.stringify({ text: 'x'.repeat(operation.maxBodyBytes) })
    expect(await refused({ operation, body })).toMatchObject(saying(operation, 'body_too_large'))
  })

  it('none of these requests has written a row, or removed one', async () => {
    const after = await settledRows(swept().world)
    expect(rowsBeyond(before, after)).toEqual({})
    expect(rowsBeyond(after, unexpired(before))).toEqual({})
  })
}
