import { answerTo } from '#test/e2e/gateway/simulated-answer.ts'
import type { Random } from '#test/simulation/world/random.ts'
import { type Frame, frames } from '../quickstart/sse-lines.ts'
import type { GatedCall, RequestedTurn, ToolRuns } from './evidence.ts'
import { type NodeClient, Refused, type Wanted } from './node-client.ts'

/** A decision on a tool call, as its client remembers it. */
export type Decision = Omit<GatedCall, 'action'> & { acknowledged: boolean; readonly gated: boolean }

/** Kinds of turns that a client requests. */
export type TurnKind = keyof typeof turnKinds

interface TurnPlan {
  readonly input: (token: string) => string
  readonly runs?: ToolRuns
  readonly gated?: boolean
  readonly decision?: 'approve' | 'reject'
  readonly cancelled?: boolean
}

const refund = (token: string): string => `Please use issue_refund with order: ${token}`

const turnKinds = {
  plain: { input: (token) => `What is ${token}?` },
  slow: { input: (token) => `slow please, what is ${token}?` },
  cancelled: { input: (token) => `slow please, what is ${token}?`, cancelled: true },
  handed: { input: refund, runs: 'caller', gated: true, decision: 'approve' },
  once: { input: refund, runs: 'at_most_once', gated: true, decision: 'approve' },
  repeatable: { input: refund, runs: 'idempotent', gated: true, decision: 'approve' },
  rejected: { input: refund, runs: 'at_most_once', gated: true, decision: 'reject' },
  ungated: { input: refund, runs: 'at_most_once', gated: false, decision: 'approve' },
} as const satisfies Readonly<Record<string, TurnPlan>>

/** Relative frequency of each kind. */
export const turnWeights: readonly (readonly [TurnKind, number])[] = [
  ...([
    ['plain', 5],
    ['slow', 4],
    ['once', 5],
    ['repeatable', 3],
  ] as const),
  ...([
    ['handed', 2],
    ['rejected', 1],
    ['ungated', 1],
    ['cancelled', 1],
  ] as const),
]

export interface VisitParts {
  readonly client: NodeClient
  readonly random: Random
  readonly toolUrl: string
}

const isOver = ({ event }: Frame): boolean => event === 'turn.completed' || event === 'turn.failed'
const isPause = ({ event }: Frame): boolean => event === 'turn.paused'

/**
 * One session and its client, which requests a turn, resumes with the last event's id whenever a stream breaks, decides
 * on pending tool calls, and records the frames that it receives.
 */
export class SessionVisit {
  readonly id: string
  readonly turns: RequestedTurn[] = []
  readonly decisions: Decision[] = []
  readonly frames: Frame[] = []
  readonly #parts: VisitParts
  #isRefused = false

  constructor(id: string, parts: VisitParts) {
    this.id = id
    this.#parts = parts
  }

  /** Creates a session on whichever node answers. */
  static async open(key: string, parts: VisitParts): Promise<SessionVisit> {
    const create = { method: 'POST', path: '/v1/sessions', body: {}, key } as const
    return new SessionVisit(await parts.client.json(create, ({ id }) => String(id)), parts)
  }

  /** Runs a turn to its end; `taken` is called when the service has acknowledged it. @throws {Refused}, {GivenUp}. */
  async request(kind: TurnKind, token: string, taken: () => void = nothing): Promise<void> {
    try {
      await this.#turn(kind, token, taken)
    } catch (error) {
      this.#isRefused = true
      throw error
    }
  }

  /**
   * Whether a request was refused that should have been accepted: the session's further events then differ from what
   * its client expects.
   */
  get isRefused(): boolean {
    return this.#isRefused
  }

  async #turn(kind: TurnKind, token: string, taken: () => void): Promise<void> {
    const plan: TurnPlan = turnKinds[kind]
    const turn = { token, acknowledged: false, output: outputOf(plan, token) }
    this.turns.push(turn)
    const from = this.frames.length
    const start = { ...this.#request('turns?restarts=true', this.#bodyOf(plan, token)), key: `turn-${token}` }
    const cancel = plan.cancelled === true ? this.#cancelOnce(token) : undefined
    const heard = () => {
      turn.acknowledged = true
      taken()
      return cancel?.()
    }
    await this.#follow(start, from, (frame) => isOver(frame) || isPause(frame), heard)
    if (plan.decision !== undefined) await this.#decide(plan, plan.decision, token, from)
  }

  async #decide(plan: TurnPlan, decision: 'approve' | 'reject', token: string, from: number): Promise<void> {
    const started = this.frames.slice(from).find(({ event }) => event === 'tool_call.started')
    // a turn that was interrupted before its model called the tool has nothing to decide
    if (started === undefined) return
    const decided = {
      actionId: String(started.data.action_id),
      runs: plan.runs ?? 'caller',
      decision,
      acknowledged: plan.gated !== true,
      gated: plan.gated === true,
    }
    this.decisions.push(decided)
    const last = this.frames.at(-1)
    if (last === undefined || !isPause(last)) return
    const waited = this.frames.length
    await (decision === 'reject' ? this.#reject(decided) : this.#approve(decided, token))
    if (!this.frames.slice(waited).some(isOver)) await this.#follow(null, waited, isOver, nothing)
  }

  /** Approves through the session or through the action; sometimes twice concurrently, at two nodes. */
  async #approve(decided: Decision, token: string): Promise<void> {
    const { random } = this.#parts
    const outputs = [{ action_id: decided.actionId, output: `handed ${token}` }]
    const results = decided.runs === 'caller' ? { tool_results: outputs } : {}
    const bySession = { ...this.#request('approve?restarts=true', { action_id: decided.actionId, ...results }) }
    const byAction = { method: 'POST', path: `/v1/actions/${decided.actionId}/approve`, body: results } as const
    const isHasty = random.chance(0.3)
    const hasty = isHasty ? this.#approveToo(random.chance(0.5) ? bySession : byAction, decided) : undefined
    const key = `approve-${decided.actionId}`
    try {
      if (random.chance(0.5)) {
        const heard = () => {
          decided.acknowledged = true
          return undefined
        }
        await this.#follow({ ...bySession, key }, this.frames.length, isOver, heard)
      } else {
        await this.#parts.client.json({ ...byAction, key }, () => {
          decided.acknowledged = true
        })
      }
    } catch (error) {
      if (!isHasty || !isResolved(error)) throw error
    }
    await hasty
  }

  /** A second, concurrent approval, sent once: it may arrive first, second, or not at all. */
  async #approveToo(wanted: Wanted, decided: Decision): Promise<void> {
    try {
      const heard = await this.#parts.client.attempt({ ...wanted, key: `again-${decided.actionId}` }, async () => true)
      if (heard !== null) decided.acknowledged = true
    } catch (error) {
      if (!isResolved(error)) throw error
    }
  }

  async #reject(decided: Decision): Promise<void> {
    const wanted = this.#request('reject', { action_id: decided.actionId })
    await this.#parts.client.json({ ...wanted, key: `reject-${decided.actionId}` }, () => {
      decided.acknowledged = true
    })
  }

  /**
   * Returns a function that cancels once, when the first event of the turn has arrived; a turn that has ended since has
   * nothing to cancel.
   */
  #cancelOnce(token: string): () => Promise<void> {
    let called = false
    return async () => {
      if (called) return
      called = true
      const wanted = { ...this.#request('cancel', undefined), key: `cancel-${token}` }
      await this.#parts.client
        .json(wanted, () => {})
        .catch((error: unknown) => {
          if (!(error instanceof Refused && error.code === 'no_turn_in_progress')) throw error
        })
    }
  }

  /**
   * Opens a stream and reads until `over`, across any number of broken connections: it repeats the request until it is
   * answered, and resumes the stream after that. `start` null resumes immediately.
   */
  async #follow(
    start: Wanted | null,
    from: number,
    over: (frame: Frame) => boolean,
    heard: () => Promise<void> | undefined,
  ): Promise<void> {
    const { client } = this.#parts
    let work: Promise<void> | undefined
    let opening = start
    while (!this.frames.slice(from).some(over)) {
      const before = this.frames.length
      await client.attempt(opening ?? this.#resume(), async (response, alive) => {
        if (opening !== null) work = heard()
        work?.catch(ignored)
        opening = null
        for await (const frame of frames(response.body ?? new ReadableStream())) {
          alive()
          this.frames.push(frame)
          if (over(frame)) return
        }
      })
      if (this.frames.length === before) await breath()
    }
    await work
  }

  #resume(): Wanted {
    return {
      method: 'GET',
      path: `/v1/sessions/${this.id}/stream?restarts=true`,
      lastEventId: this.frames.at(-1)?.id ?? '0',
    }
  }

  #request(verb: string, body: object | undefined) {
    const path = `/v1/sessions/${this.id}/${verb}`
    return { method: 'POST', path, ...(body !== undefined && { body }) } as const
  }

  #bodyOf({ input, runs, gated }: TurnPlan, token: string): object {
    if (runs === undefined) return { input: input(token) }
    const declared = {
      name: 'issue_refund',
      description: 'Pays an order back.',
      parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    }
    const tool =
      runs === 'caller'
        ? { type: 'function', function: declared, needsApproval: true }
        : { type: 'http', ...declared, url: this.#parts.toolUrl, effect: runs, needsApproval: gated === true }
    return { input: input(token), tools: [tool], pause_on_tool_calls: gated === true }
  }
}

const outputOf = ({ input, runs, decision }: TurnPlan, token: string): RequestedTurn['output'] => {
  if (runs === undefined) return answerTo(input(token))
  return decision === 'reject' ? null : 'token'
}

const isResolved = (error: unknown): boolean => error instanceof Refused && error.code === 'action_already_resolved'

const nothing = (): undefined => undefined

/** Handles a rejection of a promise that is awaited later. */
const ignored = (): void => {}

/** Pause before a stream that ended without new events is opened again. */
const breath = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50))
