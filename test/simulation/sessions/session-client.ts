import type { JsonObject, LogEvent } from '#storage/ports.ts'
import type { World } from '#test/actors/sessions/harness.ts'
import type { Client } from '../client.ts'
import { callAs, operatorOf } from '../world/identities.ts'
import { ActionClient } from './action-client.ts'
import type { Reader } from './stream-client.ts'

type TurnBody = Parameters<World['useCases']['sessions.turns']>[0]['body']
type ToolBody = NonNullable<TurnBody['tools']>[number]

/** A turn ends or waits for people within this many connections: more than any run needs. */
const maxConnections = 40

const toolsOf = (client: Client): readonly ToolBody[] => {
  const { random } = client.parts
  const one = (name: string): ToolBody => {
    const expiry = random.chance(0.3) ? { expires_in: random.between(1, 6) } : {}
    const needsApproval = random.chance(0.6)
    if (random.chance(0.25)) return { type: 'function', function: { name }, needsApproval, ...expiry }
    const effect = random.chance(0.5) ? 'idempotent' : 'at_most_once'
    return { type: 'http', name, url: 'http://127.0.0.1:9/', needsApproval, effect, ...expiry }
  }
  return ['first', 'second'].slice(0, random.between(0, 2)).map(one)
}

/** A client that uses sessions: creates them, runs turns, decides, cancels, deletes, and reads everything. */
export class SessionClient extends ActionClient {
  readonly sessions: string[] = []
  #turns = 0

  async create(): Promise<void> {
    const { ledger } = this.parts
    const idempotency = this.key()
    const { scope } = this.identity
    const answer = await this.received('creates a session', async ({ useCases, idempotent }) => {
      const request = { operation: 'sessions.create', scope, idempotency, secret: false }
      const outcome = await idempotent.run(request, (seeded) =>
        useCases['sessions.create'](callAs(this.identity, {}, {}, { metadata: { by: this.name } }, seeded)),
      )
      if ('error' in outcome) throw outcome.error
      const id = String(Object(outcome.result).id)
      ledger.expect(ledger.ownerOf(id) !== undefined, () => `${this.name} is told of ${id}, which is not in the log`)
      return id
    })
    if ('code' in answer) ledger.broken(`${this.name} cannot create a session: ${answer.code}`)
    else this.sessions.push(answer.value)
  }

  /** One turn, followed until it ends, with a decision whenever it waits. */
  async turn(session: string): Promise<void> {
    const idempotency = this.key()
    const token = `${this.name} says ${++this.#turns}`
    const tools = toolsOf(this)
    const body = { input: token, ...(tools.length > 0 && { tools }) }
    const reader = this.reader(session, null)
    const { ledger, cluster, scheduler } = this.parts
    const [waits, sentAt] = [cluster.waitsNow, scheduler.now()]
    const answer = await this.received(`starts a turn of ${session}`, async ({ useCases }, node, waited) => {
      const call = callAs(this.identity, { session_id: session }, {}, body, idempotency)
      const { stream } = await useCases['sessions.turns'](call)
      ledger.expect(
        ledger.has(session, idempotency.cause),
        () => `the turn ${token} is acknowledged, but not in the log`,
      )
      // the answer to a repeated request starts with the first event of the turn
      if (waited()) reader.restart()
      return { ended: reader.follow(stream, node, waited, () => false) }
    })
    if ('code' in answer) return
    waits.acknowledged.push(scheduler.now() - sentAt)
    const ended = await answer.value.ended
    const first = reader.seen[0]
    if (first !== undefined) {
      const isIts = first.event_type === 'turn.started' && first.payload.input_text === token
      ledger.expect(isIts, () => `the stream of ${token} starts with ${first.event_type} ${first.sequence}`)
    }
    if (ended === 'done' && !isOver(reader) && waiting(reader).length === 0 && !ledger.isDeleted(session)) {
      ledger.broken(`the stream of ${token} ends, and the turn neither ends nor waits`)
    }
    await this.#follow(session, reader, first?.turn_number)
    if (reader.answeredAt !== undefined) waits.answered.push(reader.answeredAt - sentAt)
  }

  async #follow(session: string, reader: Reader, turn: number | undefined): Promise<void> {
    for (let connection = 0; connection < maxConnections && !isOver(reader); connection++) {
      if (waiting(reader).length > 0) await this.#decide(session, waiting(reader))
      const answer = await this.received(
        `resumes ${session} after ${reader.last}`,
        async ({ useCases }, node, waited) => {
          if (waited()) reader.leave()
          const call = callAs(this.identity, { session_id: session }, {}, undefined, null, reader.last)
          const { stream } = await useCases['sessions.stream'](call)
          const over = (): boolean => isOver(reader) || waiting(reader).length > 0 || reader.seen.length > 300
          return { ended: reader.follow(stream, node, waited, over) }
        },
      )
      if ('code' in answer) return
      await answer.value.ended
      if (turn === undefined && reader.seen.length > 0) return
    }
  }

  async #decide(session: string, actions: readonly LogEvent[]): Promise<void> {
    const { random, scheduler } = this.parts
    if (random.chance(0.4)) await scheduler.pause(random.between(0, 900))
    const paused = random.pick(actions)
    const action = String(paused?.payload.action_id)
    const decision = random.weighted(
      [
        ['approve', 8],
        ['approve_twice', 3],
        ['approve_and_reject', 1],
        ['approve_action', 3],
        ['reject', 2],
        ['cancel', 1],
        ['wait', 2],
      ],
      'approve',
    )
    if (decision === 'approve') await this.approve(session, action)
    if (decision === 'approve_twice') await Promise.all([this.approve(session, action), this.approve(session, action)])
    if (decision === 'approve_and_reject') {
      await Promise.all([this.approve(session, action), this.reject(session, action)])
    }
    if (decision === 'approve_action') await this.approveAction(action)
    if (decision === 'reject') await this.reject(session, action)
    if (decision === 'cancel') await this.cancel(session)
    if (decision === 'wait') await scheduler.pause(random.between(500, 4000))
  }

  async approve(session: string, action_id: string): Promise<void> {
    const idempotency = this.key()
    const reader = this.reader(session, null)
    const body = { action_id, tool_results: [{ action_id, output: `output of ${action_id}` }] }
    const answer = await this.received(`approves ${action_id}`, async ({ useCases }, node, waited) => {
      const { stream } = await useCases['sessions.approve'](
        callAs(operatorOf(this.identity), { session_id: session }, {}, body, idempotency),
      )
      this.acknowledged(action_id, idempotency.cause, 'approve')
      if (waited()) reader.restart()
      return { ended: reader.follow(stream, node, waited, () => false) }
    })
    if ('value' in answer) await answer.value.ended
  }

  async reject(session: string, action_id: string): Promise<void> {
    const idempotency = this.key()
    await this.received(`rejects ${action_id}`, async ({ useCases }) => {
      const call = callAs(operatorOf(this.identity), { session_id: session }, {}, { action_id }, idempotency)
      await useCases['sessions.reject'](call)
      this.acknowledged(action_id, idempotency.cause, 'reject')
    })
  }

  async cancel(session_id: string): Promise<void> {
    const { ledger } = this.parts
    const idempotency = this.key()
    await this.received(`cancels ${session_id}`, async ({ useCases }) => {
      await useCases['sessions.cancel'](callAs(this.identity, { session_id }, {}, {}, idempotency))
      ledger.expect(ledger.has(session_id, idempotency.cause), () => `${session_id} is told cancelled, but is not`)
    })
  }

  async delete(session_id: string): Promise<void> {
    const { ledger } = this.parts
    const idempotency = this.key()
    await this.received(`deletes ${session_id}`, async ({ useCases }) => {
      await useCases['sessions.delete'](callAs(this.identity, { session_id }, {}, undefined, idempotency))
      ledger.expect(ledger.isDeleted(session_id), () => `${session_id} is told deleted, but is not`)
    })
  }

  /** Creates an action of the caller, decided by two concurrent requests. */
  async ownAction(): Promise<void> {
    const { random, ledger } = this.parts
    const idempotency = this.key()
    const { scope } = this.identity
    const body = { tool: 'own', arguments: { n: 1 }, risk_level: 'low', expires_in: random.between(1, 20) } as const
    const answer = await this.received('creates an action', async ({ useCases, idempotent }) => {
      const request = { operation: 'actions.create', scope, idempotency, secret: false }
      const outcome = await idempotent.run(request, (seeded) =>
        useCases['actions.create'](callAs(this.identity, {}, {}, body, seeded)),
      )
      if ('error' in outcome) throw outcome.error
      const id = String(Object(outcome.result).id)
      ledger.expect(ledger.ownerOf(id) !== undefined, () => `${this.name} is told of ${id}, which is not in the log`)
      return id
    })
    if ('code' in answer) return
    await Promise.all([this.approveAction(answer.value), random.chance(0.5) && this.approveAction(answer.value)])
  }
}

const endOf = (payload: JsonObject): string => String(payload.action_id)

/** Whether the reader has seen its turn end. */
const isOver = ({ seen }: Reader): boolean => {
  const type = seen.at(-1)?.event_type
  return type === 'turn.completed' || type === 'turn.failed' || seen.some(endsTurn)
}

const endsTurn = ({ event_type }: LogEvent): boolean => event_type === 'turn.completed' || event_type === 'turn.failed'

/** `turn.paused` events that nothing has resolved, as far as the reader has seen. */
const waiting = ({ seen }: Reader): readonly LogEvent[] => {
  const resolved = new Set(seen.filter(({ event_type }) => event_type === 'turn.resumed').map((e) => endOf(e.payload)))
  const open = new Map<string, LogEvent>()
  for (const event of seen) {
    if (event.event_type === 'turn.paused' && !resolved.has(endOf(event.payload))) open.set(endOf(event.payload), event)
  }
  return [...open.values()]
}
