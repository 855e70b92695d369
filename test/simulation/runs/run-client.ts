import type { Idempotency } from '#actors/call/call.ts'
import { agentVersionDefinition } from '#machines/agent-version/agent-version-definition.ts'
import { requestErasure } from '#runtime/erasure/erase-listed.ts'
import type { LogEvent } from '#storage/ports.ts'
import { ActionClient } from '../sessions/action-client.ts'
import type { Reader } from '../sessions/stream-client.ts'
import { callAs } from '../world/identities.ts'
import type { Server } from '../world/node.ts'
import { subagentsOf, versionOf } from './run-agents.ts'

/** How long a client follows a run, in ms: longer than most take. */
const patienceMs = 45_000
const maxConnections = 40

/** A run that was requested under an Idempotency-Key. */
export interface KeyedRun {
  readonly token: string
  readonly run: string
}

/** A client that uses runs: creates, decides, delegates, cancels, deletes and reads them. */
export class RunClient extends ActionClient {
  /** Runs that must each exist once. */
  readonly keyed: KeyedRun[] = []
  /** Logs that were read from their start. */
  readonly readers: Reader[] = []
  #requestCount = 0

  /** @returns the id of the run; null if it was refused. */
  async create(agent_id: string): Promise<string | null> {
    const { random, ledger } = this.parts
    const token = `${this.name} asks ${++this.#requestCount}`
    const idempotency = random.chance(0.75) ? this.key() : null
    const tenant = random.pick(['ten_1', 'ten_2', null]) ?? null
    const body = {
      input: { prompt: token },
      ...(tenant !== null && { tenant_id: tenant, external_user_id: 'usr_1' }),
      ...(random.chance(0.2) && { expires_in: random.between(2, 30) }),
    }
    const answer = await this.received(`runs ${agent_id}`, async (server) => {
      const id = await this.#once(server, 'runs.create', idempotency, (seeded) =>
        server.useCases['runs.create'](callAs(this.identity, { agent_id }, {}, body, seeded)),
      )
      ledger.expect(ledger.ownerOf(id) !== undefined, () => `${this.name} is told of ${id}, which is not in the log`)
      return id
    })
    if ('code' in answer) {
      ledger.broken(`${this.name} cannot run ${agent_id}: ${answer.code}`)
      return null
    }
    if (idempotency !== null) this.keyed.push({ token, run: answer.value })
    return answer.value
  }

  /** Reads the log of a run until it ends, decides what waits, and does the same for its children. */
  async follow(run_id: string, begun = this.parts.scheduler.now()): Promise<void> {
    const { scheduler, random } = this.parts
    const reader = this.reader(run_id, 0)
    const known = new Set<string>()
    const others: Promise<void>[] = []
    this.readers.push(reader)
    for (let connection = 0; connection < maxConnections && !isOver(reader); connection++) {
      if (scheduler.now() - begun > patienceMs) break
      for (const child of childrenIn(reader).filter((each) => !known.has(each))) {
        known.add(child)
        if (random.chance(0.85)) others.push(this.follow(child, begun))
      }
      const waits = random.pick(waiting(reader))
      if (waits !== undefined) await this.#decide(run_id, String(waits.payload.action_id))
      if (!(await this.#listen(run_id, reader, known))) break
    }
    await Promise.all(others)
  }

  /** One connection. @returns false if the run is not found for this client. */
  async #listen(run_id: string, reader: Reader, known: ReadonlySet<string>): Promise<boolean> {
    const { cluster, ledger, random, scheduler } = this.parts
    const answer = await this.received(`follows ${run_id} after ${reader.last}`, async ({ useCases }, node, waited) => {
      if (waited()) reader.leave()
      const call = callAs(this.identity, { run_id }, { limit: 100 }, undefined, null, reader.last)
      const answered = await useCases['runs.events']({ ...call, accept: 'text/event-stream' })
      if (!('events' in answered)) throw new Error('a stream was asked for')
      const seen = (): boolean => waiting(reader).length > 0 || childrenIn(reader).some((each) => !known.has(each))
      return { ended: reader.follow(answered.events.stream, node, waited, seen) }
    })
    if ('code' in answer) {
      const unmade = cluster.hasReplaced && !ledger.actors.has(run_id)
      const gone = ledger.isDeleted(run_id)
      ledger.expect(gone || unmade, () => `${this.name} is refused ${run_id}: ${answer.code}`)
      if (unmade) await scheduler.pause(random.between(100, 1000))
      return !gone
    }
    const ended = await answer.value.ended
    const whole = ended !== 'done' || isOver(reader) || ledger.isDeleted(run_id)
    ledger.expect(whole, () => `the stream of ${run_id} ends, and the run does not`)
    return true
  }

  async #decide(run: string, action: string): Promise<void> {
    const { random, scheduler } = this.parts
    if (random.chance(0.4)) await scheduler.pause(random.between(0, 900))
    const decision = random.weighted(
      [
        ['approve', 8],
        ['approve_twice', 3],
        ['approve_and_reject', 1],
        ['reject', 2],
        ['cancel', 1],
        ['wait', 2],
      ],
      'approve',
    )
    if (decision === 'approve') await this.approveAction(action)
    if (decision === 'approve_twice') await Promise.all([this.approveAction(action), this.approveAction(action)])
    if (decision === 'approve_and_reject') await Promise.all([this.approveAction(action), this.rejectAction(action)])
    if (decision === 'reject') await this.rejectAction(action)
    if (decision === 'cancel') await this.cancel(run)
    if (decision === 'wait') await scheduler.pause(random.between(500, 4000))
  }

  async cancel(run_id: string): Promise<void> {
    const { ledger } = this.parts
    const idempotency = this.key()
    await this.received(`cancels ${run_id}`, async ({ useCases }) => {
      const { status } = await useCases['runs.cancel'](callAs(this.identity, { run_id }, {}, {}, idempotency))
      const commits = ledger.actors.get(run_id)?.commits ?? []
      const done = ledger.isDeleted(run_id) || commits.some(({ snapshot }) => snapshot?.value === 'cancelled')
      ledger.expect(done, () => `${run_id} is told cancelled, but is not`)
      ledger.expect(status === 'cancelled' || ledger.isDeleted(run_id), () => `${run_id} is cancelled, and ${status}`)
    })
  }

  /** Delegates to one of the agents that the run's agent may delegate to, or to one that it may not. */
  async delegate(run_id: string, agent: string): Promise<void> {
    const { random, ledger } = this.parts
    const { project } = this.identity.scope
    const to = random.chance(0.9) ? random.pick(subagentsOf[agent] ?? []) : 'agt_lead'
    if (to === undefined) return
    const agent_version_id = versionOf(project, to)
    const idempotency = random.chance(0.8) ? this.key() : null
    await this.received(`delegates ${run_id} to ${to}`, async (server) => {
      await this.#makeVersion(server, to)
      const body = { agent_version_id, input: { prompt: `${this.name} delegates` } }
      const id = await this.#once(server, 'runs.delegate', idempotency, (seeded) =>
        server.useCases['runs.delegate'](callAs(this.identity, { run_id }, {}, body, seeded)),
      )
      const notified = ledger.actors.get(run_id)?.events.some(({ payload }) => payload.child_run_id === id)
      const there = ledger.ownerOf(id) !== undefined && (notified || ledger.isDeleted(run_id))
      ledger.expect(there, () => `${this.name} is told of the child ${id} of ${run_id}, which is not in the log`)
    })
  }

  /** Deletes an actor, as the erasure of a tenant does it. */
  async delete(actor: string): Promise<void> {
    const { ledger } = this.parts
    const { project } = this.identity.scope
    await this.received(`deletes ${actor}`, async (server) => {
      await requestErasure(server, { actor, project, tenant: ledger.ownerOf(actor)?.tenant ?? null })
      ledger.expect(ledger.isDeleted(actor), () => `${actor} is told deleted, but is not`)
    })
  }

  /** Reads the run, and its log in pages. */
  async read(run_id: string): Promise<void> {
    const { random, ledger } = this.parts
    const limit = random.between(2, 9)
    let cursor: string | undefined
    let next = 1
    do {
      const query = { limit, ...(cursor !== undefined && { cursor }) }
      const answer = await this.received(`reads ${run_id} from ${next}`, async ({ useCases }) => {
        await useCases['runs.get'](callAs(this.identity, { run_id }, {}, undefined))
        const answered = await useCases['runs.events'](callAs(this.identity, { run_id }, query, undefined))
        if (!('json' in answered)) throw new Error('a page was asked for')
        return answered.json
      })
      if ('code' in answer) return
      for (const event of answer.value.data) {
        ledger.expect(event.sequence === next++, () => `a page of ${run_id} has ${event.sequence} before ${next}`)
        ledger.shown(run_id, event, this.name)
      }
      cursor = answer.value.next_cursor ?? undefined
    } while (cursor !== undefined)
  }

  /** Sends a request whose answer is stored under its key. @returns the id in its answer. */
  async #once(
    { idempotent }: Server,
    operation: string,
    idempotency: Idempotency | null,
    work: (seeded: Idempotency | null) => Promise<{ readonly id: string }>,
  ): Promise<string> {
    if (idempotency === null) return (await work(null)).id
    const { scope } = this.identity
    const outcome = await idempotent.run({ operation, scope, idempotency, secret: false }, work)
    if ('error' in outcome) throw outcome.error
    return String(Object(outcome.result).id)
  }

  /** Creates the version; a repetition finds it. */
  async #makeVersion({ host, clock }: Server, agent: string): Promise<void> {
    const { project } = this.identity.scope
    const id = versionOf(project, agent)
    const input = { version_id: id, agent_id: agent, version: '1.0.0', config: '{}', requirements: '{}' }
    const owner = { project, tenant: null, user: null, createdAt: clock.now() }
    const created_by = { kind: 'secret_key', id: null }
    await host.create({
      kind: agentVersionDefinition,
      id,
      owner,
      input: { ...input, visibility: 'private', created_by },
      cause: 'first',
    })
  }
}

const ends = new Set(['run.completed', 'run.failed', 'run.cancelled', 'run.expired'])

/** Whether the reader has seen its run end. */
const isOver = ({ seen }: Reader): boolean => ends.has(seen.at(-1)?.event_type ?? '')

const childrenIn = ({ seen }: Reader): readonly string[] =>
  seen.filter(({ event_type }) => event_type === 'run.delegated').map(({ payload }) => String(payload.child_run_id))

const settles = new Set(['run.tool_call.completed', 'run.action.rejected', 'run.action.approved'])

/** Calls that wait for a person or an output, as far as the reader has seen. */
const waiting = ({ seen }: Reader): readonly LogEvent[] => {
  const settled = new Set(
    seen.filter(({ event_type }) => settles.has(event_type)).map(({ payload }) => payload.action_id),
  )
  return seen.filter(
    ({ event_type, payload }) => event_type === 'run.requires_action' && !settled.has(payload.action_id),
  )
}
