import { beforeAll, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { permissions } from '#specs/access.ts'
import { eventsOf } from '#specs/dsl/answer.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { consolePaths } from '#specs/reach/console-paths.ts'
import { sessionFrames } from '#specs/resources/sessions.ts'
import { offeredTools } from '#src/tool-server/offered-tools.ts'
import { sampleOf } from '#test/specs/samples.ts'
import type { Api } from '../api.ts'
import { callTool } from '../tool-calls.ts'
import { failuresOf, oncePerId } from './cases.ts'
import { bodyFor, fieldOf, type Place, placesOf, withId } from './declared-places.ts'
import { declaredEstate } from './estate/parts.ts'
import { type Estate, idsIn, prefixes, prefixOfAnswer } from './estate.ts'
import { framesOver, pathOf, seen } from './requests.ts'
import type { PartOf, Swept } from './sweep.ts'

/*
 * For every operation, every place of its requests that names a resource, and every credential: an id of another owner is
 * answered exactly as an unknown id, shows no data of its owner, and changes nothing. The cases are derived from the
 * declarations, so they cover every new operation too.
 */

const toolNames = new Map(offeredTools.map(({ name, operation }) => [operation.id, name]))
const called: readonly Operation[] = Object.values(operations)
/** With the paths of the console, by which a member reaches what otherwise a secret key does. */
const declared: readonly Operation[] = [...called, ...consolePaths(called)]
const guarded = declared.filter(({ access }) => !access.kinds.includes('public'))
/** Whether the place is the last parameter of a PUT, which creates the resource that it names. */
const makes = ({ operation: { method, params }, name }: Place): boolean => method === 'PUT' && params.at(-1) === name
const places = guarded.flatMap(placesOf).filter((place) => !makes(place))

/** Prefixes of resources that belong to one tenant or one of its users, from the operations that read them. */
const ofTenants = new Set([
  'ten',
  ...guarded
    .filter(({ ofTenants, paths }) => ofTenants !== null && paths[0].endsWith('}'))
    .flatMap(({ params }) => prefixes.get(params.at(-1) ?? '') ?? []),
])
const ofAgents = new Set(['ses', 'run', 'agt', 'agv', 'ins', 'act'])

/** Names of ids of the organisation, of ids common to all projects, or of ids that exist only after failures. */
const withoutForeign = [
  ...['assignee_id', 'auth_session_id', 'member_id', 'oidc_connection_id', 'organization_id', 'project_id'],
  ...['stuck_id', 'version'],
]

/** Names of values that belong to no tenant. */
const ofProjects = new Set(['version', 'model', 'provider_id'])

/** A credential, and the estate whose ids it sends. */
interface Attacker {
  readonly api: Api
  /** Resources that it may use: its own ids are at all places except the one under test. */
  readonly own: Estate
  readonly victim: Estate
  /** Prefixes of the victim's resources that the attacker may not access; null: all. */
  readonly prefixes: ReadonlySet<string> | null
  readonly takes: (operation: Operation) => boolean
}

const takesKind = (kind: Operation['access']['kinds'][number]) => (operation: Operation) =>
  operation.access.kinds.includes(kind)

const attackerNames = [
  "another project's secret key",
  "a dashboard session under another project's header",
  "the project's secret key with another tenant's header",
  'a secret key that is limited to another tenant',
  "another user's client token",
  'a client token that is bound to another session of the same user',
  "another project's client token",
  "another agent's public key",
  "another agent's secret key",
  "another project's public key of an agent",
] as const

/** Sends ids of another owner at every place that accepts an id, with every credential, and as arguments of MCP tools. */
export const foreignIds = (swept: () => Swept, withTools: boolean, partOf: PartOf): void => {
  let attackers: Readonly<Record<(typeof attackerNames)[number], Attacker>>
  let victim: Estate
  let neighbour: Estate
  let stranger: Estate
  let before: string

  beforeAll(async () => {
    const { dashboard, mine, theirs } = swept()
    victim = mine.acme
    neighbour = mine.globex
    stranger = theirs.acme
    attackers = await makeAttackers(dashboard)
    before = await victimState()
  }, 240_000)

  const makeAttackers = async (dashboard: Api) => {
    const { world } = swept()
    const agentKey = async (api: Api, agent: string, key_type: string): Promise<Api> =>
      world.as((await api.post(`/v1/agents/${agent}/keys`, { name: 'k', key_type })).body.key)
    const ofBob = { tenant_id: victim.tenant, external_user_id: 'eve', permissions }
    const bob = await world.api.post('/v1/client-tokens', ofBob)
    const bound = await world.as(victim.populated.token).createSession()
    const ofSession = { tenant_id: victim.tenant, external_user_id: 'ada', session_id: bound, permissions }
    const token = (await world.api.post('/v1/client-tokens', ofSession)).body.token
    const withSession = (own: Estate, session_id: string) => own.with({ session_id })
    const eve = world.as(bob.body.token)
    const scoped = { name: 'limited', scopes: { tenants: [neighbour.tenant] } }
    const limited = await dashboard.post(`/api/projects/${neighbour.project}/keys`, scoped)
    const agents = { own: neighbour, victim, prefixes: ofAgents, takes: takesKind('agent_key') }
    return {
      "another project's secret key": {
        ...{ api: stranger.api, own: stranger, victim },
        ...{ prefixes: null, takes: takesKind('secret_key') },
      },
      "a dashboard session under another project's header": {
        api: dashboard.with({ 'x-project-id': stranger.project }),
        own: stranger,
        victim,
        prefixes: null,
        takes: takesKind('dashboard'),
      },
      "the project's secret key with another tenant's header": {
        api: world.api.with({ 'x-tenant-id': neighbour.tenant }),
        own: neighbour,
        victim,
        prefixes: ofTenants,
        takes: (operation: Operation) => takesKind('secret_key')(operation) && operation.ofTenants !== null,
      },
      'a secret key that is limited to another tenant': {
        api: world.as(limited.body.key),
        own: neighbour,
        victim,
        prefixes: ofTenants,
        takes: takesKind('secret_key'),
      },
      "another user's client token": {
        api: eve,
        own: withSession(victim, await eve.createSession()),
        victim,
        prefixes: new Set(['ses', 'run', 'act']),
        takes: takesKind('client_token'),
      },
      'a client token that is bound to another session of the same user': {
        api: world.as(token),
        own: withSession(victim, bound),
        victim,
        prefixes: new Set(['ses', 'run', 'act']),
        takes: takesKind('client_token'),
      },
      "another project's client token": {
        api: world.as(stranger.populated.token),
        own: stranger,
        victim,
        prefixes: null,
        takes: takesKind('client_token'),
      },
      "another agent's public key": { ...agents, api: await agentKey(world.api, neighbour.populated.agent, 'public') },
      "another agent's secret key": { ...agents, api: await agentKey(world.api, neighbour.populated.agent, 'secret') },
      "another project's public key of an agent": {
        ...agents,
        own: stranger,
        prefixes: null,
        api: await agentKey(stranger.api, stranger.populated.agent, 'public'),
      },
    }
  }

  /** The answers of all declared operations that read single resources of the victim. */
  const victimState = async (): Promise<string> => {
    const reading = guarded.filter(
      ({ id, method, answer, params }) =>
        method === 'GET' && answer.kind === 'json' && params.length > 0 && !declaredEstate.changing.has(id),
    )
    const texts: string[] = []
    for (const operation of reading) {
      const api = operation.access.kinds.includes('secret_key') ? victim.api : victim.dashboard
      const { status, body } = await api.get(pathOf(operation, (name) => victim.idOr(name)))
      texts.push(
        `${operation.id} ${status} ${JSON.stringify(body).replaceAll(/"(last_used_at|request_id)":[^,}]*/g, '')}`,
      )
    }
    return texts.join('\n')
  }

  /** Ids of the victim that fit a place. */
  const foreignIds = ({ name }: Place, attacker: Attacker): readonly string[] => {
    const field = fieldOf(name).replace(/_ids$/, '_id')
    if (field === 'project_id') return []
    const isOurs = attacker.own.project === attacker.victim.project
    const named = attacker.victim.named[field]
    if (named !== undefined) return ofProjects.has(field) && (isOurs || field === 'version') ? [] : [named]
    const prefix = field in declaredEstate.absent ? prefixes.get(field) : attacker.victim.prefixOf(field)
    if (prefix === undefined)
      return [...attacker.victim.everything].flatMap(([each, ids]) =>
        isForeign(each, attacker) ? ids.slice(0, 1) : [],
      )
    return isForeign(prefix, attacker) ? (attacker.victim.everything.get(prefix) ?? []).slice(0, 2) : []
  }

  const isForeign = (prefix: string, attacker: Attacker): boolean =>
    attacker.prefixes === null || attacker.prefixes.has(prefix)

  /** An id of the same shape that does not exist. */
  const unknownId = (id: string): string =>
    /^[a-z]+_[0-9a-z]{26}$/.test(id) ? `${id.split('_')[0]}_${'0'.repeat(26)}` : `no-${id}`

  const attempt = async ({ operation, where, name }: Place, { api, own }: Attacker, id: string) => {
    const idFor = (each: string) => own.idOr(each)
    const path = pathOf(operation, (each) => (where === 'path' && each === name ? id : idFor(each)))
    const query = where === 'query' ? `?${name}=${encodeURIComponent(id)}` : ''
    const plain = operation.body === null ? undefined : bodyFor(operation, where === 'body' ? name : null, idFor)
    const body = where === 'body' ? withId(plain, name, id) : plain
    return await seen(api, operation, { path: `${path}${query}`, body, headers: {} })
  }

  /** The signs in a text, except the requested id. */
  const signsIn = (text: string, signs: readonly string[], requested: string): readonly string[] =>
    signs.filter((sign) => sign !== requested && text.includes(sign))

  /** Texts that reveal the victim in an answer. Texts of a project's resources may be shown to the whole project. */
  const signsOf = (attacker: Attacker): readonly string[] => [
    ...(attacker.own.project === attacker.victim.project ? [] : [attacker.victim.mark]),
    ...[...attacker.victim.everything].flatMap(([prefix, ids]) => (isForeign(prefix, attacker) ? ids : [])),
  ]

  it('exist for every place that accepts an id, as ids of another project', () => {
    const [byKey, byDashboard] = [attackers[attackerNames[0]], attackers[attackerNames[1]]]
    const without = places.filter((place) => {
      const attacker = byKey.takes(place.operation) ? byKey : byDashboard
      return attacker.takes(place.operation) && foreignIds(place, attacker).length === 0
    })
    expect([...new Set(without.map(({ name }) => fieldOf(name)))].sort()).toEqual(withoutForeign)
  })

  it.each(attackerNames)('give %s no access in a path, a query or a body', async (who) => {
    const attacker = attackers[who]
    const signs = signsOf(attacker)
    const toUnknown = oncePerId((place: Place, id) => attempt(place, attacker, id))
    const reaches = async (place: Place, id: string): Promise<void> => {
      const answer = await attempt(place, attacker, id)
      const unknown = await toUnknown(place, unknownId(id))
      expect(signsIn(answer.text, signs, id)).toEqual([])
      const isContradiction = answer.code === 'invalid_header' && unknown.code === 'not_found'
      if (!isContradiction) expect([answer.status, answer.code]).toEqual([unknown.status, unknown.code])
      if (place.where === 'path') expect(answer.status >= 400 && answer.status < 500).toBe(true)
    }
    const cases = places
      .filter(({ operation }) => attacker.takes(operation))
      .flatMap((place) =>
        foreignIds(place, attacker).map((id) => ({
          title: `${place.operation.paths[0]} ${place.operation.id} ${place.where} ${place.name} ${id}`,
          check: () => reaches(place, id),
        })),
      )
    expect(await failuresOf(partOf(cases))).toEqual([])
    expect(cases.length).toBeGreaterThan(4)
  })

  /** The same attempt as a call of the operation's MCP tool. */
  const toolAttempt = ({ operation, where, name }: Place, { api, own }: Attacker, id: string) => {
    const idFor = (each: string) => own.idOr(each)
    const body = operation.body === null ? {} : bodyFor(operation, where === 'body' ? name : null, idFor)
    const ofPath = Object.fromEntries(operation.params.map((each) => [each, idFor(each)]))
    const given = { ...ofPath, ...body }
    return callTool(
      api,
      toolNames.get(operation.id) ?? '',
      where === 'body' ? Object(withId(given, name, id)) : { ...given, [name]: id },
    )
  }

  // a tool calls its operation, which the other tests send to every store
  it.skipIf(!withTools).each(attackerNames)('give %s no access as an argument of an MCP tool', async (who) => {
    const attacker = attackers[who]
    const signs = signsOf(attacker)
    if (who === attackerNames[1]) {
      const { status } = await attacker.api.fetch('/mcp', {})
      return expect(status).toBe(401)
    }
    // the sessions of a neighbour do not belong to its agents
    if (attacker.prefixes !== ofAgents && !who.includes('of an agent')) {
      const own = await callTool(attacker.api, 'get_session', { session_id: attacker.own.idOr('session_id') })
      expect([own.isError, own.code]).toEqual([false, null])
    }
    const toUnknown = oncePerId((place: Place, id) => toolAttempt(place, attacker, id))
    const reaches = async (place: Place, id: string): Promise<void> => {
      const answer = await toolAttempt(place, attacker, id)
      const unknown = await toUnknown(place, unknownId(id))
      expect(signsIn(answer.text, signs, id)).toEqual([])
      const isContradiction = answer.code === 'invalid_header' && unknown.code === 'not_found'
      if (!isContradiction) expect([answer.isError, answer.code]).toEqual([unknown.isError, unknown.code])
      if (place.where === 'path') expect(answer.isError).toBe(true)
    }
    // includes operations that a credential may not use at all: the tool server has no separate list
    const cases = places
      .filter(({ operation }) => called.includes(operation) && toolNames.has(operation.id))
      .flatMap((place) =>
        foreignIds(place, attacker).map((id) => ({
          title: `${toolNames.get(place.operation.id)} ${place.where} ${place.name} ${id}`,
          check: () => reaches(place, id),
        })),
      )
    expect(await failuresOf(cases)).toEqual([])
    expect(cases.length).toBeGreaterThan(4)
  })

  it.each(attackerNames)('give %s no access in a header that names a tenant or a user', async (who) => {
    const attacker = attackers[who]
    if (attacker.own.project === attacker.victim.project) return expect(attacker.victim.tenant).not.toBe('')
    const signs = signsOf(attacker)
    const reaches = async (operation: Operation): Promise<void> => {
      const path = pathOf(operation, (name) => attacker.own.idOr(name))
      const named = (tenant: string) => ({ 'x-tenant-id': tenant, 'x-external-user-id': 'ada' })
      const answer = await seen(attacker.api, operation, { path, headers: named(attacker.victim.tenant) })
      const unknown = await seen(attacker.api, operation, { path, headers: named(unknownId(attacker.victim.tenant)) })
      expect(signsIn(answer.text, signs, attacker.victim.tenant)).toEqual([])
      expect(answer.status).toBe(unknown.status)
    }
    const reading = guarded.filter((each) => attacker.takes(each) && each.method === 'GET')
    const cases = reading.map((operation) => ({ title: operation.id, check: () => reaches(operation) }))
    expect(await failuresOf(cases)).toEqual([])
  })

  it.each(attackerNames)("are not revealed to %s by the victim's Idempotency-Key", async (who) => {
    const attacker = attackers[who]
    for (const { operation, path, body, key } of victim.keyed.filter((each) => attacker.takes(each.operation))) {
      const headers = { 'idempotency-key': key }
      // without the mark, since the attacker creates its own resource
      const plain = JSON.parse(JSON.stringify(body).replaceAll(victim.mark, 'plain'))
      const { text } = await seen(attacker.api, operation, { path, body: plain, headers })
      const foreign = (victim.everything.get(prefixOfAnswer(operation)) ?? []).filter((id) => !path.includes(id))
      for (const id of foreign) expect(text, operation.id).not.toContain(id)
    }
    expect(victim.keyed.map(({ operation }) => operation.id)).toContain('agents.create')
  })

  const listed = guarded.filter(({ query, method }) => method === 'GET' && 'cursor' in query)

  it.each(attackerNames)("are not revealed to %s by the victim's cursor", async (who) => {
    const attacker = attackers[who]
    const leaking: string[] = []
    for (const operation of listed.filter(attacker.takes)) {
      const reader = operation.access.kinds.includes('secret_key') ? victim.api : victim.dashboard
      const theirs = pathOf(operation, (name) => victim.idOr(name))
      const cursor = (await reader.get(`${theirs}?limit=1`)).body.next_cursor
      if (typeof cursor !== 'string') continue
      const path = pathOf(operation, (name) => attacker.own.idOr(name))
      const shared = attacker.own.project === attacker.victim.project && operation.ofTenants === null
      const { text, status } = await seen(attacker.api, operation, {
        path: `${path}?limit=100&cursor=${cursor}`,
        headers: {},
      })
      if (status >= 500 || (!shared && signsOf(attacker).some((sign) => text.includes(sign))))
        leaking.push(operation.id)
    }
    expect(leaking).toEqual([])
  })

  const resumable = guarded.filter(({ answer }) => eventsOf(answer)?.resumable)

  it.each(attackerNames)("are not revealed to %s by the victim's Last-Event-ID", async (who) => {
    const attacker = attackers[who]
    const streamed = resumable.filter(attacker.takes)
    const places = ['0', '999999', ...(victim.everything.get('ses') ?? []).slice(0, 1)]
    for (const operation of streamed) {
      for (const last of places) {
        const path = pathOf(operation, (name) => attacker.own.idOr(name))
        const headers = { 'last-event-id': last, accept: 'text/event-stream' }
        const { text, status } = await seen(attacker.api, operation, { path, headers })
        expect(status, operation.id).toBeLessThan(500)
        for (const sign of signsOf(attacker)) expect(text, operation.id).not.toContain(sign)
      }
    }
    expect(streamed.map(({ id }) => id)).not.toEqual([])
  })

  it.each(attackerNames)(
    "give %s no socket to the victim's session, and no access in frames of its own socket",
    async (who) => {
      const attacker = attackers[who]
      const [session = ''] = victim.everything.get('ses') ?? []
      expect(await framesOver(attacker.api, `/v1/sessions/${session}/ws`, [])).toBeNull()
      const frames = Object.values(sessionFrames).flatMap(({ json }) => {
        const sample: Record<string, unknown> = Object(sampleOf(json))
        const names = Object.keys(sample).filter((name) => name.endsWith('_id'))
        const ids = [...victim.everything.values()].flat()
        return names.flatMap((name) => ids.map((id) => ({ ...sample, [name]: id })))
      })
      const answers = await framesOver(attacker.api, `/v1/sessions/${attacker.own.idOr('session_id')}/ws`, frames)
      const text = JSON.stringify(answers)
      const sent = new Set(frames.flatMap((frame) => idsIn(frame).map(([, id]) => id)))
      for (const sign of signsOf(attacker).filter((each) => !sent.has(each))) expect(text).not.toContain(sign)
    },
  )

  it('have not changed any resource of the victim', async () => {
    expect(await victimState()).toBe(before)
  })
}
