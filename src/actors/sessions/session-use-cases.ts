import { givenFields } from '#machines/session/session-data.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ReservedField } from '#specs/field-access.ts'
import type { ResultOf } from '#specs/index.ts'
import { exactly, type JsonObject, type LogEvent } from '#storage/index.ts'
import type { Call, Idempotency, Principal, StreamAnswer } from '../call/call.ts'
import { nullWhenNotFound } from '../call/not-found.ts'
import { listedScope, workLimitsOf } from '../call/reach.ts'
import { isServerSide, readerOf } from '../call/speaker.ts'
import type { UseCases } from '../call/use-cases.ts'
import type { RemoteTools } from '../capability/remote-tools.ts'
import type { Services } from '../capability/services.ts'
import { actorOf, reasonOf } from '../records/audit-note.ts'
import { numberedPage } from '../records/numbered-page.ts'
import { picked } from '../records/schema.ts'
import { contextOf, type Delivered, newId } from '../runtime/index.ts'
import { type Host, newIdFor, type Resident } from '../runtime/internal.ts'
import type { SessionAgent } from './agent-configs.ts'
import { behind, pageOfRange, rangeOfTurn, wholeLog } from './event-pages.ts'
import { forkSession } from './fork-session.ts'
import { checkLength, lengthOf } from './input/given-parts.ts'
import type { TurnInput, TurnMedia } from './input/turn-media.ts'
import { beginOf, listSessions } from './list-sessions.ts'
import { messagePage, snapshotStream } from './messages/session-messages.ts'
import { type Installed, mayAccessSession, newSessionOwner, sessionListFilters, streamPlace } from './session-agent.ts'
import { newSessionView, sessionEventView, sessionView } from './session-views.ts'
import type { ToolHeaders } from './tools/tool-headers.ts'
import { broughtTools } from './turns/brought-tools.ts'
import { checkMemory } from './turns/checked-memory.ts'
import { requireConfigModels } from './turns/limited-models.ts'
import { checkTurnStart, failedInput } from './turns/retried-turn.ts'
import { configOwner, type TurnConfigs } from './turns/turn-config.ts'
import { type AgentConfig, noAgent, planTurn } from './turns/turn-plan.ts'

export interface SessionParts extends Pick<Services, 'host' | 'now' | 'records'> {
  readonly configs: TurnConfigs
  readonly media: Pick<TurnMedia, 'begin' | 'copy' | 'find'>
  readonly toolHeaders: Pick<ToolHeaders, 'keep'>
  /** Tools of remote (MCP) servers; called when a turn names such a server. */
  readonly remoteTools: () => RemoteTools
  /**
   * An agent's config for a turn; null for an agent that the project does not have. @throws {ServiceError}
   * `agent_not_runnable`
   */
  readonly agentConfig: (agent: SessionAgent) => AgentConfig | null | Promise<AgentConfig | null>
  /** Finds the active installation of an agent for a tenant, the newest one if there are several. */
  readonly installationFor: (project: string, tenant: string, agentId: string) => Promise<string | null>
  /** Finds an installation of this tenant, or of any tenant when null; resolves with null when there is none. */
  readonly installed: (project: string, tenant: string | null, installationId: string) => Promise<Installed | null>
  /**
   * @throws {ServiceError} `not_found` for an unknown tenant; `tenant_suspended` or `tenant_deleting` for an inactive
   * one.
   */
  readonly checkTenant: (project: string, tenant: string) => Promise<void>
  /**
   * Checks that the model can be called.
   *
   * @throws {ServiceError} `model_not_found`, `provider_not_configured`, `provider_not_active`.
   */
  readonly checkModel: (model: string, project: string) => unknown
  readonly defaultModel: () => string
}

type SessionUseCases = Omit<
  Pick<UseCases, Extract<keyof UseCases, `sessions.${string}`>>,
  'sessions.approve' | 'sessions.reject'
>

/**
 * Returns a session that the caller may access. A token bound to a session or to installations is restricted to those,
 * and an agent's key to sessions of that agent.
 *
 * @throws {ServiceError} `not_found`
 */
export const findSession = async (
  host: Host,
  call: Pick<Call<unknown, unknown, unknown>, 'scope' | 'principal'>,
  id: string,
): Promise<Resident> => {
  const { principal } = call
  const bound = boundTo(principal)
  if (bound !== null && bound !== id) throw new ServiceError('not_found', { param: 'session_id' })
  const session = await host.find(call.scope, sessionDefinition, id)
  const found = mayAccessSession(principal, session)
  if (!(found instanceof Promise ? await found : found)) throw new ServiceError('not_found', { param: 'session_id' })
  return session
}

/** The cause of a command: the caller's Idempotency-Key, or a new id without one. */
export const causeOf = (idempotency: Idempotency | null): string => idempotency?.cause ?? newId('req')

/** Checks that a repeated Idempotency-Key has the same body. @throws {ServiceError} `idempotency_key_reused`. */
export const checkSameRequest = (result: Delivered, idempotency: Idempotency | null): void => {
  if (!result.duplicate || idempotency === null) return
  if (result.commit?.event.fingerprint !== idempotency.fingerprint)
    throw new ServiceError('idempotency_key_reused', { param: 'Idempotency-Key' })
}

/** Use-cases that create, read, run and follow sessions. Approvals are in approval-use-cases.ts. */
export const sessionUseCases = (parts: SessionParts): SessionUseCases => ({
  ...lifecycle(parts),
  ...reading(parts),
  'sessions.fork': (call) => forkSession(parts, call),
  'sessions.turns': (call) => startTurn(parts, call),
  'sessions.stream': async (call) => {
    const session = await findSession(parts.host, call, call.params.session_id)
    const begins = call.query.snapshot === true && call.after === null
    const stream = begins
      ? await snapshotStream(parts.host, session, readerOf(call.principal))
      : parts.host.feed.follow(session.id, call.after ?? 0, { at: 'never' })
    return { stream, ...streamPlace(session), replayed: false }
  },
  'sessions.cancel': async (call) => {
    const session = await findSession(parts.host, call, call.params.session_id)
    await parts.host.deliverTo(session, { event: cancelEvent(call), cause: causeOf(call.idempotency) })
    return sessionView(await findSession(parts.host, call, session.id))
  },
})

/** Cancellations by members, and those with a reason, are audited; an end user who stops an answer is not. */
const cancelEvent = (call: Parameters<UseCases['sessions.cancel']>[0]) => {
  const isAudited = call.principal.kind === 'dashboard' || call.body?.reason !== undefined
  return { type: 'cancel', ...(isAudited && { by: actorOf(call), ...reasonOf(call.body) }) } as const
}

const lifecycle = (parts: SessionParts) => {
  const { host, now } = parts
  return {
    'sessions.create': async (call) => {
      const { scope, body, idempotency } = call
      const { agent, tenant, user } = await newSessionOwner(parts, call)
      const id = newIdFor(call, 'ses', host.newActorId)
      const owner = { project: scope.project, tenant, user, createdAt: now() }
      const input = { session_id: id, ...agent, ...picked(body, givenFields) }
      await host.create({ kind: sessionDefinition, id, owner, input, cause: causeOf(idempotency) })
      // another process that creates it has written the row when it answers
      await host.rows.shownOf(id)
      return newSessionView(await host.find(scope, sessionDefinition, id))
    },
    'sessions.delete': async (call) => {
      const session = await findSession(host, call, call.params.session_id)
      await host.deliverTo(session, { event: { type: 'delete' }, cause: causeOf(call.idempotency) })
      await host.rows.shown()
      return { id: session.id, deleted: true }
    },
  } satisfies Partial<UseCases>
}

/** The session that a token is bound to; null for all other credentials. */
const boundTo = (principal: Principal): string | null =>
  principal.kind === 'client_token' ? principal.sessionId : null

/** The list for a token bound to one session: that session, if it exists and matches the filters. */
const listBound = async (
  host: Host,
  call: Parameters<UseCases['sessions.list']>[0],
): Promise<ResultOf<'sessions.list'>> => {
  const { page, limit, starting_after: _after, ...filters } = call.query
  const { after } = beginOf(call.query)
  const found = await findSession(host, call, boundTo(call.principal) ?? '').catch(nullWhenNotFound)
  const wanted = Object.entries(filters).filter(([, value]) => value !== undefined)
  const fits = (row: JsonObject): boolean => wanted.every(([field, value]) => row[field] === value)
  const rows = found === null ? [] : [sessionView(found)].filter(fits)
  const shown = rows.filter(({ id }) => page === 1 && (after === undefined || id < after))
  return numberedPage(shown, { page, limit, total: exactly(rows.length) })
}

const reading = ({ host, records, media }: SessionParts) =>
  ({
    'sessions.get': async (call) => sessionView(await findSession(host, call, call.params.session_id)),
    'sessions.list': async (call) =>
      boundTo(call.principal) === null
        ? listSessions(
            { host, records },
            { ...call, scope: await listedScope(call.principal, call.scope) },
            sessionListFilters(call.principal),
          )
        : listBound(host, call),
    'sessions.messages': async (call) => {
      const session = await findSession(host, call, call.params.session_id)
      return messagePage(host, session, { ...call.query, reader: readerOf(call.principal) })
    },
    'sessions.image': async (call) => {
      const session = await findSession(host, call, call.params.session_id)
      const image = await media.find(call.params.image_id, { actor: session.id, owner: session.owner })
      if (image === null) throw new ServiceError('not_found', { param: 'image_id' })
      return { contentType: image.mimeType, bytes: image.bytes }
    },
    'sessions.events': async (call) => {
      const { page, limit, turn_number, after } = call.query
      const session = await findSession(host, call, call.params.session_id)
      const range = turn_number === undefined ? wholeLog(session) : await rangeOfTurn(host, session, turn_number)
      const { first, last } = behind(range, after ?? 0)
      const { events, hasMore } = await pageOfRange(host, session, { range, after, page, limit })
      const { data, pagination } = numberedPage(
        events.map((event) => sessionEventView(session.id, event, readerOf(call.principal))),
        { page, limit, total: exactly(Math.max(0, last - first + 1)) },
      )
      return { data, pagination: { ...pagination, has_more: hasMore } }
    },
  }) satisfies Partial<UseCases>

type TurnCall = Parameters<UseCases['sessions.turns']>[0]

const startTurn = async (parts: SessionParts, call: TurnCall): Promise<StreamAnswer> => {
  const { host, configs } = parts
  const { body, scope, idempotency } = call
  const session = await findSession(host, call, call.params.session_id)
  checkBody(call)
  const { retry_of, input = '' } = body
  const retried = retry_of === undefined ? null : await failedInput(host, session, retry_of)
  const { user } = session.owner
  checkMemory({ memory: body.memory, user, of: 'session' })
  const agent = await turnAgent(parts, call, session)
  checkLeave(call.reserved, agent)
  const { declared, brought } = await broughtTools(parts.remoteTools, body.tools ?? [], session.owner)
  const own = await parts.toolHeaders.keep(declared, {
    owner: session.owner,
    param: 'tools',
    before: agent.tools,
  })
  const limits = workLimitsOf(call.principal)
  const request = { ...body, tools: [...own, ...brought], user, ...limits, guarded: !isServerSide(call.principal) }
  requireConfigModels(limits.models, agent, { named: body.model, byDefault: parts.defaultModel() })
  const plan = planTurn(request, agent, parts.defaultModel())
  const checked = parts.checkModel(plan.model, scope.project)
  if (checked instanceof Promise) await checked
  const kept = configs.keep(scope.project, plan.config, configOwner(session.id, session.owner))
  const config = kept instanceof Promise ? await kept : kept
  const started = (given: TurnInput) => ({
    event: {
      type: 'turn' as const,
      ...given,
      ...(retry_of !== undefined && { retry_of }),
      tool_results: body.tool_results ?? [],
      model: plan.model,
      config,
      tools: plan.tools,
      ...(idempotency !== null && { fingerprint: idempotency.fingerprint }),
    },
    // the turn.started event in the log has the other fields
    stored: { type: 'turn', ...(idempotency !== null && { fingerprint: idempotency.fingerprint }) },
    cause: causeOf(idempotency),
  })
  const place = { actor: session.id, owner: session.owner, after: session.state.lastSequence }
  const deliver = (given: TurnInput) => host.deliverTo(session, started(given))
  const begin = () =>
    typeof input === 'string'
      ? deliver({ input })
      : parts.media.begin(
          { input, place, model: plan.model, scope: isServerSide(call.principal) ? scope : null },
          deliver,
        )
  const result = await (retried === null ? begin() : deliver(retried))
  checkSameRequest(result, idempotency)
  const stream = turnStream(host, session.id, result.commit?.events ?? [])
  return { stream, ...streamPlace(session), replayed: result.duplicate }
}

const checkBody = ({ body, bytes }: TurnCall): void => {
  checkTurnStart(body)
  const { input = '' } = body
  const parts = typeof input === 'string' ? [{ text: input }] : input
  // protocols of other products have a body with more than the turn
  checkLength(bytes?.length ?? lengthOf(parts), parts, 'input')
}

/** @throws {ServiceError} `agent_not_runnable` */
const turnAgent = async (parts: SessionParts, { principal }: TurnCall, session: Resident): Promise<AgentConfig> => {
  const found = agentOf(parts, session)
  const agent = found instanceof Promise ? await found : found
  if (agent === null) throw new ServiceError('agent_not_runnable', { message: "The session's agent was deleted." })
  if (principal.kind === 'client_token' && agent.private === true)
    throw new ServiceError('agent_not_runnable', {
      message: 'The agent is private, and the session has no installation.',
    })
  return agent
}

/** @throws {ServiceError} `secret_key_required` for a field that the agent does not let this caller set. */
const checkLeave = (reserved: readonly ReservedField[] = [], agent: AgentConfig): void => {
  const kept = reserved.find(({ field, leave }) => !agent[leave]?.includes(field))
  if (kept === undefined) return
  throw new ServiceError('secret_key_required', {
    param: kept.param,
    message: `This credential may not set ${kept.field}, which the agent defines.`,
  })
}

/** The current config of the session's agent; null when the agent was deleted. */
export const agentOf = (parts: SessionParts, session: Resident): AgentConfig | null | Promise<AgentConfig | null> => {
  const { agent_id: agentId, installation_id: installationId = null } = contextOf(
    sessionDefinition,
    session.state.snapshot,
  )
  const { project, tenant } = session.owner
  return agentId === null ? noAgent : parts.agentConfig({ project, agentId, installationId, tenant })
}

/** Streams a turn from its first event until it ends or pauses. */
const turnStream = (host: Host, session: string, started: readonly LogEvent[]) => {
  const first = started[0]
  return host.feed.follow(session, (first?.sequence ?? 1) - 1, {
    at: 'idle',
    after: (event) => endsTurn(event) && event.turn_number === first?.turn_number,
  })
}

export const endsTurn = (event: LogEvent): boolean =>
  event.event_type === 'turn.completed' || event.event_type === 'turn.failed'
