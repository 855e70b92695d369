import type { Services } from '#actors/capability/services.ts'
import { routeCost } from '#gateway/call/accounting/route-price.ts'
import { tokensOfChars } from '#gateway/call/accounting/usage.ts'
import type { Caller } from '#gateway/call/caller.ts'
import type { GatewayCore } from '#gateway/call/gateway-core.ts'
import type { Routes } from '#gateway/call/routes.ts'
import type { Guardrails } from '#gateway/guardrails/stored-guardrails.ts'
import { priceAt } from '#gateway/prices/prices.ts'
import { serves } from '#gateway/providers/provider-formats.ts'
import type { WireObject } from '#outgoing/wire.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { isId } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope } from '#storage/index.ts'
import { defaultCallPolicy, type ModelTimeouts } from '../call/call-policy.ts'
import type { ChatCalls } from '../call/chat-calls.ts'
import { RouteHealth } from '../call/pools/route-health.ts'
import { Upstreams } from '../call/upstreams.ts'
import { authorizeOf } from '../providers/provider-formats.ts'
import type { Voice } from '../voice/open-voice.ts'
import type { AgentOperations } from './agent/agent-operations.ts'
import { usualConfig } from './conversation/session-config.ts'
import { LocalSession } from './local-session.ts'
import type { RealtimeClient, RealtimeSession } from './realtime-client.ts'
import { type RelayParts, RelaySession } from './relay/relay-session.ts'
import { requireUnguarded } from './relay/unguarded.ts'
import { maxSessionMs, realtimeSecrets, SecretBudget, type SecretData } from './secrets/secret-budget.ts'
import { Voices } from './speech/voices.ts'

export interface RealtimeParts extends GatewayCore, Pick<Services, 'guard' | 'records' | 'now'> {
  readonly chats: Pick<ChatCalls, 'stream'>
  readonly guardrails?: Guardrails | undefined
  readonly voice: Pick<Voice, 'speech' | 'transcription'>
  readonly policy?: Partial<ModelTimeouts>
}

/** A request for a session. */
interface RealtimeRequest {
  readonly caller: Caller
  /** Model or agent; null: that of the secret. */
  readonly model: string | null
  /** Session of an agent that is continued; null: a new one. */
  readonly sessionId: string | null
  /** Operations of sessions, for agents. */
  readonly operations: AgentOperations
}

/** A session that may be opened: every check that can refuse the upgrade has been made. */
interface RealtimeOffer {
  /** Opens the session for a socket. */
  open(client: RealtimeClient): RealtimeSession
}

export interface Realtime {
  /** @throws {ServiceError} for a request that the caller may not make, or a model that is not known. */
  offer(request: RealtimeRequest): Promise<RealtimeOffer>
  close(): Promise<void>
}

/** Opens the Realtime API. No connection is opened before the first session. */
export const openRealtime = (parts: RealtimeParts): Realtime => {
  const { guard, records, now, chats, voice } = parts
  const policy = { ...defaultCallPolicy, ...parts.policy }
  const upstreams = new Upstreams(guard, policy, { telemetry: parts.telemetry, authorizeOf })
  const relay: RelayParts = { ...parts, policy, upstreams, health: new RouteHealth(now) }
  const table = new Table(records, realtimeSecrets, now)
  return {
    offer: async (request) => {
      const secret = await secretOf(table, request.caller)
      const budget = secret === null ? null : new SecretBudget(table, secret)
      budget?.check()
      const model = modelOf(request, secret)
      const config = secret?.data.session ?? {}
      const { caller } = request
      if (isId(model, 'agt')) return agentOffer({ ...parts, budget, config }, request, model)
      refuseVisitors(caller)
      if (await isRelayed(parts.routes, caller.project, model)) {
        await requireUnguarded(parts.guardrails, caller)
        return { open: (client) => new RelaySession(relay, { client, caller, model, budget, session: config }) }
      }
      // here, where a refusal can still say what is wrong
      usualConfig.with(config)
      const voices = new Voices(voice, caller, budget)
      const answers = { model: { chats, caller, model, budget } }
      return {
        open: (client) => opened({ client, model, voices, config, answers, expiresAtMs: now() + maxSessionMs }),
      }
    },
    close: () => upstreams.close(),
  }
}

const opened = (parts: ConstructorParameters<typeof LocalSession>[0]): RealtimeSession => {
  const session = new LocalSession(parts)
  session.open()
  return session
}

interface AgentOfferParts extends RealtimeParts {
  readonly budget: SecretBudget | null
  readonly config: WireObject
}

const agentOffer = async (parts: AgentOfferParts, request: RealtimeRequest, model: string): Promise<RealtimeOffer> => {
  const { budget, config, voice, now } = parts
  const { caller, operations } = request
  usualConfig.with(config)
  const sessionId = request.sessionId ?? (await operations.create({ agent_id: model }))
  const { agentId, newest, costUsd } = await operations.find(sessionId)
  if (agentId !== model) throw new ServiceError('not_found', { param: 'session_id' })
  const after = request.sessionId === null ? 0 : newest
  const voices = new Voices(voice, caller, budget)
  const answers = { agent: { operations, budget, sessionId, after, costUsd, estimate: estimateBy(parts, caller) } }
  return { open: (client) => opened({ client, model, voices, config, answers, expiresAtMs: now() + maxSessionMs }) }
}

/** Estimates the cost of a model call of a caller by what it read and wrote, in characters. */
const estimateBy =
  ({ routes }: Pick<RealtimeParts, 'routes'>, { project }: Caller) =>
  async (model: string, read: number, written: number): Promise<string | null> => {
    const [route] = await routes.resolve(project, model, 'chat')
    const [inputTokens, outputTokens] = [tokensOfChars(read), tokensOfChars(written)]
    const tokens = { inputTokens, outputTokens, cachedTokens: 0, reasoningTokens: 0, estimated: true } as const
    return route === undefined ? null : routeCost(route, { tokens })
  }

/** The record of the secret that opened the socket; null for other credentials. @throws {ServiceError} */
const secretOf = async (table: Table<SecretData>, { principal, project }: Caller): Promise<Row<SecretData> | null> => {
  const id = 'realtimeSecret' in principal ? principal.realtimeSecret : undefined
  if (id === undefined) return null
  const row = await table.get(projectScope(project), id)
  if (row === null) throw new ServiceError('authentication_required', { message: 'The secret has expired.' })
  return row
}

/** @throws {ServiceError} `missing_field`; `forbidden` for another model than that of the secret */
const modelOf = ({ model }: RealtimeRequest, secret: Row<SecretData> | null): string => {
  const bound = secret?.data.model ?? null
  if (bound !== null && model !== null && model !== bound)
    throw new ServiceError('forbidden', { param: 'model', message: 'The secret is for another model.' })
  const named = model ?? bound
  if (named === null) throw new ServiceError('missing_field', { param: 'model' })
  return named
}

/**
 * Refuses models to credentials that visitors of a page hold: a secret is bound by the server that created it.
 *
 * @throws {ServiceError} `secret_key_required`
 */
const refuseVisitors = ({ principal }: Caller): void => {
  const isToken = principal.kind === 'client_token' && principal.realtimeSecret === undefined
  const isPublic = principal.kind === 'agent_key' && principal.keyType === 'public'
  if (isToken || isPublic) throw new ServiceError('secret_key_required', { param: 'model' })
}

/**
 * Whether the provider of a model has realtime sessions: the price list says so, or the name of the model where it is not
 * listed.
 *
 * @throws {ServiceError} `model_not_found`, `provider_not_configured`
 */
const isRelayed = async (routes: Routes, project: string, model: string): Promise<boolean> => {
  const [route] = await routes.resolve(project, model, 'chat')
  if (route === undefined || !serves(route.format, 'realtime')) return false
  const listed = priceAt(route.provider, route.model)
  return listed === undefined ? /realtime/i.test(route.model) : listed.mode === 'realtime'
}
