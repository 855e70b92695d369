import { agents } from '#actors/agents/kinds.ts'
import type { A2aProtocol, Call, StreamAnswer } from '#actors/call/call.ts'
import { nullWhenNotFound, orNotFound } from '#actors/call/not-found.ts'
import { readerOf } from '#actors/call/speaker.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import { runDefinition } from '#machines/run/run-definition.ts'
import { waitingEvents } from '#machines/run/run-steps.ts'
import { shownPayload } from '#records/shown-event.ts'
import { Table } from '#records/table.ts'
import { type Clock, contextOf, isId } from '#runtime/index.ts'
import type { Host, Resident } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { ResultOf } from '#specs/index.ts'
import { type LogEvent, projectScope, type RecordStore } from '#storage/index.ts'
import { foundRuns, searchRuns, totalOfRuns } from '../list-runs.ts'
import { findRun } from '../run-use-cases.ts'
import { runView } from '../run-views.ts'
import { answerOf } from './a2a-answers.ts'
import { a2aCard } from './a2a-card.ts'
import type { A2aMessage } from './a2a-message.ts'
import { type PushConfig, pushConfigView } from './a2a-push-config.ts'
import type { A2aPushes } from './a2a-pushes.ts'
import { type A2aTask, a2aTask, runStatusOf, stateOf, type TaskView, viewOf, type WaitingCall } from './a2a-task.ts'
import { A2aTasks } from './a2a-tasks.ts'
import { requireVersion } from './a2a-version.ts'

/** Dependencies of `A2aRuns`. */
export interface A2aRunsParts {
  readonly host: Host
  readonly records: RecordStore
  readonly clock: Clock
  readonly now: () => number
  /** Address of the server, for cards. */
  readonly serverUrl: string
  readonly pushes: A2aPushes
  readonly useCases: Pick<UseCases, 'runs.create' | 'runs.cancel' | 'runs.list' | 'actions.approve' | 'actions.reject'>
}

/** A message, and where the updates of its task are sent; null: nowhere beside the response. */
export interface A2aSending {
  readonly message: A2aMessage
  readonly push: PushConfig | null
  /** What its sender wants of the task. */
  readonly view?: TaskView
}

/** Where a task was when its message had been received. */
interface Received {
  readonly id: string
  /** Sequence of its log after which what follows the message begins. */
  readonly after: number
}

/** A call about an agent. */
export type AgentCall = Call<{ readonly agent_id: string }, unknown, unknown>

/** A page of tasks. */
export interface ListQuery {
  readonly pageSize: number
  readonly contextId?: string | undefined
  readonly pageToken?: string | undefined
  /** State of the tasks. */
  readonly status?: string | undefined
  /** Tasks of an earlier state are left out, in ms since the epoch. */
  readonly since?: number | undefined
}

type RunsCall = Parameters<UseCases['runs.list']>[0]

interface TaskPage {
  readonly ids: readonly string[]
  readonly nextPageToken: string
  readonly totalSize: number
}

/** Tasks of a context that lists have, the newest of them. */
const maxInContext = 1_000

/** Longest time that a message waits for its task, in ms. */
const maxWaitMs = 5 * 60 * 1000

/** Runs of agents as tasks of A2A. */
export class A2aRuns {
  readonly #parts: A2aRunsParts
  readonly #tasks: A2aTasks

  constructor(parts: A2aRunsParts) {
    this.#parts = parts
    this.#tasks = new A2aTasks(parts.records, parts.host, parts.now)
  }

  /** @throws {ServiceError} `not_found` */
  async card(call: AgentCall, agentId: string): Promise<ResultOf<'a2a.card'>> {
    const agent = await this.#agent(call, agentId)
    return a2aCard({ ...agent.data, id: agent.id }, agent.version, `${this.#parts.serverUrl}/v1/agents/${agent.id}/a2a`)
  }

  /** The card of the host's agent for this caller. @throws {ServiceError} `not_found` if it has none, or several */
  async hostCard(call: Call<Record<never, never>, unknown, unknown>): Promise<ResultOf<'a2a.card'>> {
    const { principal, scope } = call
    const own = principal.kind === 'agent_key' ? [principal.agentId] : await this.#agentIds(scope.project)
    const [id] = own
    if (id !== undefined && own.length === 1)
      return this.card({ ...aboutOf(call), params: { agent_id: id }, body: undefined }, id)
    const message =
      id === undefined
        ? 'There is no agent.'
        : 'There are several agents: read the card of one at /v1/agents/{id}/a2a/.well-known/agent-card.json.'
    throw new ServiceError('not_found', { message })
  }

  async #agentIds(project: string): Promise<readonly string[]> {
    const table = new Table(this.#parts.records, agents, this.#parts.now)
    return (await table.list(projectScope(project), { limit: 2 })).map(({ id }) => id)
  }

  /** @throws {ServiceError} `not_found` for an agent that the caller does not reach. */
  async require(call: AgentCall): Promise<void> {
    await this.#agent(call, call.params.agent_id)
  }

  /** Sends a message, and resolves with its task: at once, or when it has ended or waits. */
  async sent(call: AgentCall, sending: A2aSending, isHasty: boolean): Promise<A2aTask> {
    const { id, after } = await this.#received(call, sending)
    if (!isHasty) await this.#settled(call, id, after)
    return this.task(call, id, sending.view)
  }

  /** Sends a message, and streams its task. */
  async sentAndFollowed(call: AgentCall, sending: A2aSending, rpcId: string | number | null): Promise<StreamAnswer> {
    return this.#streamed(call, await this.#received(call, sending), rpcId)
  }

  async #received(call: AgentCall, { message, push }: A2aSending): Promise<Received> {
    requireVersion(call)
    if (message.taskId === null) return this.#begun(call, message, push)
    if (push !== null) await this.setPush(call, message.taskId, push)
    return this.#answered(call, message.taskId, message)
  }

  /** Begins a task. The same message begins it once. */
  async #begun(call: AgentCall, message: A2aMessage, push: PushConfig | null): Promise<Received> {
    if (push !== null) this.#parts.pushes.require(push)
    const agentId = (await this.#agent(call, call.params.agent_id)).id
    const { text, data, messageId, contextId } = message
    const prompt = [text, ...data.map((value) => JSON.stringify(value))].filter((part) => part !== '').join('\n\n')
    if (prompt === '') throw invalidField('message.parts', 'The message is empty.')
    const id = await this.#tasks.begun(call, { agentId, messageId, contextId })
    // before the run, so that its first update is sent
    if (push !== null) await this.#keepPush(call, id, push)
    const idempotency = { cause: `a2a:${id}`, fingerprint: id, seed: id.slice('run_'.length) }
    const body = { input: { prompt } }
    const about = { ...aboutOf(call), params: { agent_id: agentId } }
    try {
      await this.#parts.useCases['runs.create']({ ...about, body, idempotency })
    } catch (error) {
      // after another error it is unknown whether there is a run
      if (error instanceof ServiceError && (await this.#isMissing(call, id))) {
        await this.#tasks.refused(call, id)
        if (push !== null) await this.#parts.pushes.remove(call, id, push.id ?? ofMessage)
      }
      throw error
    }
    return { id, after: 0 }
  }

  /** A message that is sent again brings the same config, which has an id of its own only if its sender chose one. */
  async #keepPush(call: AgentCall, run: string, push: PushConfig): Promise<void> {
    const context = await this.#tasks.contextOf(call, run)
    await this.#parts.pushes.set(call, { run, context }, { ...push, id: push.id ?? ofMessage })
  }

  async #isMissing(call: AgentCall, id: string): Promise<boolean> {
    return (await findRun(this.#parts.host, call, id).catch(nullWhenNotFound)) === null
  }

  /** Answers what a task waits for. */
  async #answered(call: AgentCall, id: string, message: A2aMessage): Promise<Received> {
    const run = await this.#run(call, id, 'message.taskId')
    const calls = waitingOf(call, run)
    if (calls.length === 0)
      throw unsupported('message.taskId', 'The task does not wait for a message: begin another one without taskId.')
    const after = run.state.lastSequence
    const { action_id, approved, ...content } = answerOf(call.principal, message, calls)
    const about = { ...aboutOf(call), params: { action_id } }
    if (approved) await this.#parts.useCases['actions.approve']({ ...about, body: content })
    else await this.#parts.useCases['actions.reject']({ ...about, body: {} })
    await this.#parts.host.delivered(action_id)
    return { id, after }
  }

  /** @throws {ServiceError} `not_found` */
  async task(call: AgentCall, id: string, view: TaskView = {}): Promise<A2aTask> {
    return viewOf(await this.#taskOf(call, await this.#run(call, id)), view)
  }

  /** @param view artifacts are left out unless they are wanted, which the protocol requires of lists. */
  async list(call: AgentCall, query: ListQuery, { includeArtifacts = false, historyLength }: TaskView) {
    const view = { includeArtifacts, historyLength }
    requireVersion(call)
    const agent_id = (await this.#agent(call, call.params.agent_id)).id
    const { pageSize, contextId, since, status } = query
    const about = { ...aboutOf(call), params: {}, body: undefined, query: { agent_id, limit: pageSize } }
    // expired runs have failed too, which takes two statuses
    const isSearched = contextId !== undefined || since !== undefined || status === 'TASK_STATE_FAILED'
    const page = isSearched ? await this.#searched(call, about, query) : await this.#paged(about, query)
    const tasks = await Promise.all(page.ids.map((id) => this.task(call, id, view).catch(nullWhenNotFound)))
    const { nextPageToken, totalSize } = page
    return { tasks: tasks.filter((task) => task !== null), nextPageToken, pageSize, totalSize }
  }

  /** A page of all tasks of an agent, in the order in which they began. */
  async #paged(about: RunsCall, { pageToken, status: state }: ListQuery): Promise<TaskPage> {
    const status = state === undefined ? undefined : runStatusOf(state)
    const query = { ...about.query, ...(status !== undefined && { status }), ...(pageToken && { cursor: pageToken }) }
    const call = { ...about, query }
    const [page, totalSize] = await Promise.all([
      this.#parts.useCases['runs.list'](call),
      totalOfRuns(this.#parts, call),
    ])
    return { ids: page.data.map(({ id }) => id), nextPageToken: page.next_cursor ?? '', totalSize }
  }

  /** A page of the tasks that are searched for, the last updated first. Its token is the number of those before it. */
  async #searched(call: AgentCall, about: RunsCall, query: ListQuery): Promise<TaskPage> {
    const { pageSize, pageToken = '', contextId, since = 0, status } = query
    if (!/^\d{0,6}$/.test(pageToken)) throw invalidField('pageToken', 'It must be the token of a page.')
    const from = Number(pageToken)
    const runs =
      contextId === undefined
        ? await searchRuns(this.#parts, about)
        : await foundRuns(this.#parts, about, await this.#tasks.runsOf(call, contextId, maxInContext))
    const matching = runs
      .filter((run) => run.updated_at >= since && (status === undefined || stateOf(run.status) === status))
      .sort((one, other) => other.updated_at - one.updated_at)
    const next = from + pageSize
    const nextPageToken = next < matching.length ? String(next) : ''
    return { ids: matching.slice(from, next).map(({ id }) => id), nextPageToken, totalSize: matching.length }
  }

  /** @throws {ServiceError} `invalid_transition` for a task that has ended. */
  async cancelled(call: AgentCall, id: string): Promise<A2aTask> {
    const run = await this.#run(call, id)
    try {
      await this.#parts.useCases['runs.cancel']({ ...aboutOf(call), params: { run_id: run.id }, body: {} })
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'invalid_transition') throw error
      const extra = { reason: 'TASK_NOT_CANCELABLE' }
      throw new ServiceError(error.code, { param: 'run_id', message: 'The task has ended.', extra, cause: error })
    }
    return this.task(call, id)
  }

  /** Sets where the updates of a task are sent. */
  async setPush(call: AgentCall, id: string, config: PushConfig) {
    const run = await this.#run(call, id)
    const context = await this.#tasks.contextOf(call, run.id)
    return pushConfigView(await this.#parts.pushes.set(call, { run: run.id, context }, config))
  }

  async pushConfigs(call: AgentCall, id: string): Promise<ResultOf<'a2a.push_configs'>> {
    const run = await this.#run(call, id)
    return { configs: (await this.#parts.pushes.list(call, run.id)).map(pushConfigView), nextPageToken: '' }
  }

  async pushConfig(call: AgentCall, id: string, config: string): Promise<ResultOf<'a2a.push_config'>> {
    const run = await this.#run(call, id)
    return pushConfigView(await this.#parts.pushes.find(call, run.id, config))
  }

  async removePush(call: AgentCall, id: string, config: string): Promise<Record<never, never>> {
    const run = await this.#run(call, id)
    await this.#parts.pushes.remove(call, run.id, config)
    return {}
  }

  /** Follows a task that has not ended. */
  async followed(call: AgentCall, id: string, rpcId: string | number | null): Promise<StreamAnswer> {
    const run = await this.#run(call, id)
    if (!run.busy) throw unsupported('run_id', 'The task has ended.')
    return this.#streamed(call, { id, after: run.state.lastSequence }, rpcId)
  }

  /** The task, and its updates until it has ended or waits. */
  async #streamed(call: AgentCall, { id, after }: Received, rpcId: string | number | null): Promise<StreamAnswer> {
    const run = await this.#run(call, id)
    const seen = run.state.lastSequence
    const task = await this.#taskOf(call, run)
    const { contextId } = task
    const protocol: A2aProtocol = {
      name: 'a2a',
      rpcId,
      task: JSON.parse(JSON.stringify(task)),
      contextId,
      taskId: id,
      seen,
    }
    const isOver = run.busy && !(after < seen && waitingOf(call, run).length > 0)
    // the event before is read again, so that the task is sent at once
    const stream = this.#parts.host.feed.follow(id, Math.max(0, seen - 1), {
      at: 'idle',
      after: (event) => isWait(event) && (event.sequence > seen || !isOver),
    })
    return { stream, tenant: run.owner.tenant, replayed: false, protocol }
  }

  /** Resolves when a task has ended or waits, after some minutes, or when the caller has gone. */
  #settled(call: AgentCall, id: string, after: number): Promise<void> {
    const { host, clock } = this.#parts
    let stop = (): void => {}
    const ended = new Promise<void>((resolve) => {
      const stream = host.feed.follow(id, after, { at: 'idle', after: isWait })
      // the stream may end while it starts
      const control = stream.start({ push: () => true, end: () => resolve() })
      const cancel = clock.after(maxWaitMs, resolve)
      call.onGone?.(resolve)
      stop = () => {
        control.stop()
        cancel()
      }
    })
    return ended.finally(() => stop())
  }

  async #taskOf(call: AgentCall, run: Resident): Promise<A2aTask> {
    const [view, context] = await Promise.all([runView(this.#parts.host, run), this.#tasks.contextOf(call, run.id)])
    return a2aTask(view, context, waitingOf(call, run))
  }

  async #agent({ principal, scope }: AgentCall, id: string) {
    const table = new Table(this.#parts.records, agents, this.#parts.now)
    const isOwn = principal.kind !== 'agent_key' || principal.agentId === id
    const row = isOwn ? await table.get(projectScope(scope.project), id) : null
    const agent = orNotFound(row, 'agent_id', 'There is no such agent.')
    return { id: agent.id, data: agent.data, version: String(agent.version) }
  }

  async #run(call: AgentCall, id: string, param = 'run_id'): Promise<Resident> {
    requireVersion(call)
    const agent = await this.#agent(call, call.params.agent_id)
    const run = isId(id, 'run') ? await findRun(this.#parts.host, call, id).catch(nullWhenNotFound) : null
    if (run === null || contextOf(runDefinition, run.state.snapshot).agent_id !== agent.id)
      throw new ServiceError('not_found', { param, message: 'The agent has no such task.' })
    return run
  }
}

/** Id of a config that a message brings without one. */
const ofMessage = 'message'

const isWait = ({ event_type }: LogEvent): boolean => event_type === 'run.requires_action'

/** The calls that a run waits for, as the caller may see them. */
const waitingOf = ({ principal }: AgentCall, run: Resident): readonly WaitingCall[] => {
  if (!run.busy) return []
  const { calls } = contextOf(runDefinition, run.state.snapshot)
  return waitingEvents(calls).map(({ payload }) => {
    const shown = shownPayload({ event_type: 'run.requires_action', payload }, readerOf(principal))
    const { action_id, tool, reason, arguments: input = {}, input: form, connection } = shown
    const texts = { action_id: String(action_id), tool: String(tool), reason: String(reason), arguments: input }
    return { ...texts, ...(form !== undefined && { input: form }), ...(connection !== undefined && { connection }) }
  })
}

/** What a call has beside its parameters and body. `ServedCall` has getters, so nothing is spread. */
const aboutOf = (call: Call<unknown, unknown, unknown>) => ({
  ...{ principal: call.principal, scope: call.scope, query: {}, requestId: call.requestId, files: [] },
  ...{ remoteAddress: call.remoteAddress, idempotency: null, after: null, accept: '', signal: call.signal },
})

const unsupported = (param: string, message: string): ServiceError =>
  new ServiceError('invalid_transition', { param, message, extra: { reason: 'UNSUPPORTED_OPERATION' } })
