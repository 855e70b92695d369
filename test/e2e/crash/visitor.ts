import { Refused } from '../api.ts'
import { endsTurn, type Frame, isDelta, isEvent, type StreamReader } from '../stream-reader.ts'
import type { World } from '../world.ts'

/** It follows turns that a crash makes begin again. */
const restarts = { restarts: 'true' }

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

  /** The frames that are in the log: not those of text that a crash superseded before it was durable. */
  inLog(log: readonly { readonly sequence: number }[]): readonly Frame[] {
    const sequences = new Set(log.map(({ sequence }) => sequence))
    return this.frames.filter((frame) => sequences.has(Number(frame.id)) || !isDelta(frame))
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
      this.#world.api.stream(`/v1/sessions/${this.session}/turns?restarts=true`, body, keyed(`turn-${turn}`)),
    )
  }

  /** Approves the pending action and reads the turn to its end. @returns false when the turn did not wait. */
  async approve(): Promise<boolean> {
    const last = this.frames.at(-1)
    if (last === undefined || !pauses(last)) return false
    const action = last.data.action_id
    await this.#until(this.frames.length, endsTurn, isResumed, () =>
      this.#world.api.stream(
        `/v1/sessions/${this.session}/approve?restarts=true`,
        { action_id: action },
        keyed(`approve-${action}`),
      ),
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
        const follow = () => this.#world.api.follow(this.session, this.frames.at(-1)?.id ?? '0', restarts)
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
