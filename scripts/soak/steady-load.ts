import type { Service } from '../services/service.ts'

export interface SteadyLoadOptions {
  readonly server: Pick<Service, 'url'>
  /** A secret key. */
  readonly key: string
  readonly turnsPerSecond: number
}

/** Number of turns per session, after which another one replaces it and it is left to be passivated. */
const turnsOfASession = 20
const sessionsAtATime = 16

/**
 * Sends turns at a steady rate, regardless of how long they take: a slow server gets as many as a fast one. Sessions
 * are replaced over time, so that anything the server retains per session shows.
 */
export class SteadyLoad {
  readonly #options: SteadyLoadOptions
  readonly #slots: { session: Promise<string>; turns: number; last: Promise<void> }[] = []
  readonly #open = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #times: number[] = []
  #failures: string[] = []
  #sent = 0

  constructor(options: SteadyLoadOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = setInterval(() => this.#send(), 1000 / this.#options.turnsPerSecond)
  }

  /** Stops sending turns; resolves when those already sent have ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#open)
  }

  /** Returns the times in ms of turns that ended since the last call, and the failures. */
  take(): { readonly times: readonly number[]; readonly failures: readonly string[] } {
    const taken = { times: this.#times, failures: this.#failures }
    this.#times = []
    this.#failures = []
    return taken
  }

  #send(): void {
    const place = this.#sent++ % sessionsAtATime
    const slot = this.#slotAt(place)
    slot.turns++
    // a session runs one turn at a time
    const turn = slot.last
      .then(async () => this.#turn(await slot.session))
      .catch((error: unknown) => this.#failed(error))
    slot.last = turn
    this.#open.add(turn)
    void turn.finally(() => this.#open.delete(turn))
  }

  #slotAt(place: number) {
    const slot = this.#slots[place]
    if (slot !== undefined && slot.turns < turnsOfASession) return slot
    const opened = { session: this.#openSession(), turns: 0, last: Promise.resolve() }
    // its rejection is reported as the failure of its first turn
    opened.session.catch(() => {})
    this.#slots[place] = opened
    return opened
  }

  async #turn(session: string): Promise<void> {
    const startedAt = performance.now()
    const frames = await this.#post(`/v1/sessions/${session}/turns`, { input: 'Say a few words about order 1042.' })
    if (!frames.includes('event: turn.completed')) throw new Error(`a turn did not complete: ${frames.slice(-200)}`)
    this.#times.push(performance.now() - startedAt)
  }

  async #openSession(): Promise<string> {
    const { id }: { readonly id: string } = JSON.parse(await this.#post('/v1/sessions', {}))
    return id
  }

  async #post(path: string, body: object): Promise<string> {
    const { server, key } = this.#options
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${answer.status} ${text.slice(0, 200)}`)
    return text
  }

  #failed(error: unknown): void {
    this.#failures.push(error instanceof Error ? `${error.message} ${error.cause ?? ''}`.trim() : String(error))
  }
}
