import { Random } from '#test/simulation/world/random.ts'
import type { PlainAction } from './evidence.ts'
import { type ClientParts, GivenUp, NodeClient, Refused } from './node-client.ts'
import { SessionVisit, turnWeights, type VisitParts } from './session-visit.ts'
import type { Problem } from './verdict.ts'
import { Watcher } from './watcher.ts'

/** A standalone action, as its client remembers it. */
export type PlainDecision = { -readonly [field in keyof Omit<PlainAction, 'action'>]: PlainAction[field] }

export interface LoadParts {
  readonly clients: ClientParts
  readonly seed: number
  readonly toolUrl: string
  readonly say: (line: string) => void
}

const visitors = 12
const deciders = 3

/** The load while the cluster is disturbed: clients that talk to sessions, decide on tools, and watch. */
export class Load {
  readonly visits: SessionVisit[] = []
  readonly watchers = new Map<SessionVisit, Watcher>()
  readonly plain: PlainDecision[] = []
  /** Requests that the service refused, or never answered. */
  readonly problems: Problem[] = []
  readonly #parts: ClientParts
  readonly #seed: number
  readonly #toolUrl: string
  readonly #say: LoadParts['say']
  readonly #watching: Promise<void>[] = []
  #isOver = false
  #tokens = 0

  constructor(parts: LoadParts) {
    this.#parts = parts.clients
    this.#seed = parts.seed
    this.#toolUrl = parts.toolUrl
    this.#say = parts.say
  }

  /** Runs until `stop`, and then until all started work has ended. */
  async run(): Promise<void> {
    const people = Array.from({ length: visitors }, (_, at) => this.#visitor(`visitor-${at}`))
    const others = Array.from({ length: deciders }, (_, at) => this.#decider(`decider-${at}`))
    await Promise.all([...people, ...others])
  }

  stop(): void {
    this.#isOver = true
  }

  /**
   * Runs one more turn of each session that had no request refused, then waits until the watchers have received
   * everything.
   */
  async finish(visits: readonly SessionVisit[]): Promise<void> {
    const waiting = visits.filter(({ isRefused }) => !isRefused)
    const visiting = async () => {
      for (let visit = waiting.pop(); visit !== undefined; visit = waiting.pop())
        await visit.request('plain', this.#token()).catch(this.report)
    }
    await Promise.all(Array.from({ length: visitors }, visiting))
    for (const [visit, watcher] of this.watchers)
      watcher.finish(visit.isRefused ? 0 : Number(visit.frames.at(-1)?.id ?? 0))
    await Promise.all(this.#watching)
  }

  /** Records a failure of the service; rethrows any other error. */
  readonly report = (error: unknown): void => {
    if (!(error instanceof Refused || error instanceof GivenUp)) throw error
    this.problems.push({ kind: 'broken', what: error.message })
    this.#say(`BROKEN ${error.message}`)
  }

  async #visitor(name: string): Promise<void> {
    const random = new Random(`${this.#seed}:${name}`)
    const parts: VisitParts = { client: new NodeClient(this.#parts, random), random, toolUrl: this.#toolUrl }
    for (let session = 0; !this.#isOver; session++) {
      await this.#visit(`${name}-${session}`, parts).catch(this.report)
    }
  }

  async #visit(name: string, parts: VisitParts): Promise<void> {
    const { random } = parts
    const visit = await SessionVisit.open(name, parts)
    this.visits.push(visit)
    if (random.chance(0.25)) this.#watch(visit, name)
    for (let turns = random.between(2, 6); turns > 0 && !this.#isOver; turns--) {
      await visit.request(random.weighted(turnWeights, 'plain'), this.#token())
      await wait(random.between(20, 300))
    }
  }

  #watch(visit: SessionVisit, name: string): void {
    const watcher = new Watcher(visit.id, new NodeClient(this.#parts, new Random(`${this.#seed}:${name}:watcher`)))
    this.watchers.set(visit, watcher)
    this.#watching.push(watcher.watch().catch(this.report))
  }

  /** Creates standalone actions and decides on them, on half of them twice. */
  async #decider(name: string): Promise<void> {
    const random = new Random(`${this.#seed}:${name}`)
    const client = new NodeClient(this.#parts, random)
    for (let at = 0; !this.#isOver; at++) {
      await this.#decision(client, random, `${name}-${at}`).catch(this.report)
      await wait(random.between(50, 400))
    }
  }

  async #decision(client: NodeClient, random: Random, key: string): Promise<void> {
    const body = { tool: 'transfer', arguments: { order: key } }
    const id = await client.json({ method: 'POST', path: '/v1/actions', body, key }, (action) => String(action.id))
    const decision = random.weighted(
      [
        ['approve', 3],
        ['reject', 1],
        ['none', 1],
      ] as const,
      'none',
    )
    const made: PlainDecision = { id, decision: decision === 'none' ? null : decision, acknowledged: false }
    this.plain.push(made)
    if (decision === 'none') return
    const wanted = { method: 'POST', path: `/v1/actions/${id}/${decision}`, body: {} } as const
    for (const again of random.chance(0.5) ? ['', '-again'] : [''])
      await client.json({ ...wanted, key: `${key}${again}` }, () => {
        made.acknowledged = true
      })
  }

  #token(): string {
    return `q${++this.#tokens}z`
  }
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
