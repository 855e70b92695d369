import type { EventStream, StreamEnding } from '#runtime/messages/event-stream.ts'
import type { LogEvent } from '#storage/ports.ts'
import type { Ledger } from '../ledger.ts'
import type { Node } from '../world/node.ts'
import type { Random } from '../world/random.ts'
import type { Scheduler } from '../world/scheduler.ts'
import { latencyMs } from '../world/sim-process.ts'
import { AttemptText } from './attempt-text.ts'

/** The parts of a reader. */
export interface ReaderParts {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly ledger: Ledger
  readonly name: string
}

/** How a connection ended: by the server (`lost`: to be resumed), by a crash, or by the client. */
export type Ended = StreamEnding | 'broken' | 'left'

/** A client leaves a stream that is silent for this time, in ms. */
const longestMs = 8000

/** One client's view of a session's log, over any number of connections. */
export class Reader {
  readonly session: string
  /** Sequence of the last event received; null before the first one of a stream whose start the client does not know. */
  last: number | null
  seen: LogEvent[] = []
  /** When it had the first event after `turn.started`. */
  answeredAt: number | undefined
  #text: AttemptText
  readonly #parts: ReaderParts
  #close: (() => void) | undefined

  constructor(session: string, last: number | null, parts: ReaderParts) {
    this.session = session
    this.last = last
    this.#parts = parts
    this.#text = new AttemptText(parts.ledger.chunksOf)
  }

  /** Closes the connection, if there is one. */
  leave(): void {
    this.#close?.()
  }

  /** Forgets what was read. */
  restart(): void {
    this.leave()
    this.last = null
    this.seen = []
    this.#text = new AttemptText(this.#parts.ledger.chunksOf)
  }

  /**
   * Follows a stream; called in the process, if the client still waits for it. `over` decides after each frame whether
   * the client has what it needs.
   */
  follow(stream: EventStream, { process }: Node, waited: () => boolean, over: () => boolean): Promise<Ended> {
    const { scheduler, random } = this.#parts
    if (!waited()) return Promise.resolve('left')
    return new Promise((resolve) => {
      let open = true
      let arrival = scheduler.now()
      const sent: (() => void)[] = []
      const close = (how: Ended): void => {
        if (!open) return
        open = false
        leave()
        process.enter(() => control.stop())
        resolve(how)
      }
      const arrive = (work: () => void): void => {
        arrival = Math.max(arrival, scheduler.now() + latencyMs(random))
        sent.push(work)
        // what arrives in the same moment arrives in the order in which it was sent
        scheduler.after(arrival - scheduler.now(), () => {
          const next = sent.shift()
          if (open) next?.()
        })
      }
      const leave = process.connected(() => arrive(() => close('broken')))
      this.#close = () => close('left')
      const leaveMs = random.chance(0.35) ? random.between(5, 1500) : longestMs
      scheduler.after(leaveMs, () => close('left'))
      const control = stream.start({
        push: (events) => {
          for (const event of events) this.#parts.ledger.shown(this.session, event, this.#parts.name)
          arrive(() => {
            for (const event of events) this.#take(event)
            if (over()) close('left')
          })
          if (random.chance(0.85)) return true
          process.after(random.between(0, 400), () => control.resume())
          return false
        },
        end: (reason) => arrive(() => close(reason)),
      })
    })
  }

  #take(event: LogEvent): void {
    const { ledger, name } = this.#parts
    const { sequence } = event
    const last = this.last
    ledger.expect(
      last === null || ledger.follows(this.session, last, sequence),
      () => `${name} gets ${this.session} #${sequence} after ${last}`,
    )
    this.last = sequence
    if (this.seen.at(-1)?.event_type === 'turn.started') this.answeredAt ??= this.#parts.scheduler.now()
    this.seen.push(event)
    const mixed = this.#text.take(event)
    ledger.expect(mixed === null, () => `${name} gets ${this.session} #${sequence}: ${mixed}`)
    const text = this.#textOf(event)
    const isIts = text === null || outputOf(event) === text
    ledger.expect(isIts, () => `${name} was shown ${text}, the output is ${outputOf(event)}`)
  }

  /**
   * The text that the client has, from the deltas since the turn began or was restarted, at an end that has it all: not
   * at a failure after a crash, before which more may have been shown and sequences are left out. Null otherwise.
   */
  #textOf(end: LogEvent): string | null {
    const { error } = end.payload
    const isNext = end.sequence - 1 === this.seen.at(-2)?.sequence
    const isWhole =
      end.event_type === 'turn.completed' ||
      (end.event_type === 'turn.failed' && Object(error).code === 'cancelled' && isNext)
    const from = this.seen.findLastIndex(
      ({ event_type, turn_number }) =>
        turn_number === end.turn_number && (event_type === 'turn.started' || event_type === 'turn.restarted'),
    )
    if (!isWhole || from < 0) return null
    const deltas = this.seen.slice(from).filter(({ event_type }) => event_type === 'output_text.delta')
    return deltas.map(({ payload }) => payload.delta).join('')
  }
}

const outputOf = ({ event_type, payload: { output } }: LogEvent): unknown =>
  event_type === 'turn.completed' ? output : Object(output).text
