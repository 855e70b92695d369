import { Refused } from '../api.ts'
import { endsTurn, type Frame, isEvent, type StreamReader } from '../stream-reader.ts'
import type { World } from '../world.ts'

const pauses = isEvent('turn.paused')
const isResumed = isEvent('turn.resumed')

/**
 * An end user whose client survives any number of crashes: it retries with the same key until the request is known to be
 * accepted, and resumes with the last event id whenever a stream breaks. `frames` is all that it received, in order.
 */
export class Visitor {
  readonly session: string
  readonly frames: Frame[] = []
  readonly #world: World
  #turns = 0

  constructor(world: World, session: string) {
    this.#world = world
    this.session = session
  }

  /** Number of requested turns. */
  get turns(): number {
    return this.#turns
  }

  /** Runs a turn until it has ended or waits for an approval. */
  async request(body: object): Promise<void> {
    const turn = ++this.#turns
    const from = this.frames.length
    await this.#until(from, endsOrPauses, isEvent('turn.started'), () =>
      this.#world.api.turn(this.session, body, keyed(`turn-${turn}`)),
    )
  }

  /** Approves the pending action and reads the turn to its end. @returns false when the turn did not wait. */
  async approve(): Promise<boolean> {
    const last = this.frames.at(-1)
    if (last === undefined || !pauses(last)) return false
    const action = last.data.action_id
    await this.#until(this.frames.length, endsTurn, isResumed, () =>
      this.#world.api.approve(this.session, action, keyed(`approve-${action}`)),
    )
    return true
  }

  async #until(
    from: number,
    over: (frame: Frame) => boolean,
    heard: (frame: Frame) => boolean,
    open: () => Promise<StreamReader>,
  ): Promise<void> {
    const seen = () => this.frames.slice(from)
    while (!seen().some(over)) {
      await this.#attempt(async () => {
        const follow = () => this.#world.api.follow(this.session, this.frames.at(-1)?.id ?? '0')
        const reader = await (seen().some(heard) ? follow() : open())
        await reader.until(over).catch(() => undefined)
        reader.stop()
        this.frames.push(...reader.frames)
      })
    }
  }

  /** Waits for the server when it is down. @throws {Refused} when it refuses the request, except with a 503. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (error instanceof Refused && error.status !== 503) throw error
      await this.#world.listening
    }
  }
}

const endsOrPauses = (frame: Frame): boolean => endsTurn(frame) || pauses(frame)

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
