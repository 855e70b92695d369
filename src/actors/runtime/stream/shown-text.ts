import type { JsonObject, LogEvent } from '#storage/ports.ts'
import { backoffMs, type Clock } from '../clock.ts'
import type { HostOptions } from '../host-options.ts'
import type { Logger } from '../logger.ts'
import type { Delivered, Delivery, Resident } from '../resident.ts'

/**
 * Maximum number of sequences that are shown before they are durable. A process that takes an actor over from another
 * skips as many, so that no id ever names two events (specs/decisions/0345-text-before-its-commit.md).
 */
export const maxAhead = 1024

/** Default for `ShownTextParts.commitMs`, in ms. */
const usualCommitMs = 1000

/**
 * Streams commit at common times, so that many of them share a write of the store: at one in each `commitMs` for this
 * many streams. There are two at least, so that a short answer is no part before its end, and ten at most, so that no
 * write is long.
 */
const perCommonTime = 16
const commonTimes = { min: 2, max: 10 }

/** Number of events and of UTF-16 units that are committed at once, without waiting for `commitMs`. */
const manyPieces = 512
const muchText = 16 * 1024

/** Dependencies of `ShownText`. */
export interface ShownTextParts {
  readonly clock: Pick<Clock, 'soon' | 'next' | 'after' | 'steady'>
  readonly log: Logger
  /** Longest time in ms for which text is shown without being durable. */
  readonly commitMs?: number
  /** Returns the actor if it is in memory. */
  readonly resident: (actor: string) => Resident | undefined
  /** Publishes events that are not durable yet to the actor's followers, here and in other processes. */
  readonly publish: (resident: Resident, events: readonly LogEvent[]) => void
  readonly deliver: (actor: string, delivery: Delivery) => Promise<Delivered>
}

/** Text of one running effect. */
interface Stream {
  readonly effect: string
  /** The events shown so far that are not durable, in order. */
  pieces: LogEvent[]
  chars: number
  /** Text that is shown when the running code has ended, or once the actor takes it again. */
  waiting: string
  planned: boolean
  readonly show: () => void
  /** Stops the timer of the next commit. */
  stop: (() => void) | undefined
  /** Whether a commit is being made. */
  committing: boolean
  failures: number
}

/**
 * Text that running effects stream. Followers of an actor get it at once, under the sequences that it will have in the
 * log; it becomes durable with the actor's next step, or by one commit a second. If the process dies before, the text
 * is superseded: its sequences are never used again, and the effect begins again or fails.
 */
export class ShownText {
  readonly #parts: ShownTextParts
  readonly #streams = new Map<string, Stream>()

  constructor(parts: ShownTextParts) {
    this.#parts = parts
  }

  /** Adds text of an effect of the actor. Text that arrives by one read of the network is shown as one event. */
  add(actor: string, effect: string, text: string): void {
    if (text === '') return
    const stream = this.#streamOf(actor, effect)
    stream.waiting += text
    if (stream.planned) return
    stream.planned = true
    const { clock } = this.#parts
    // at the end of the turn of the loop, it would wait until the text of all other streams was read
    if (clock.next === undefined) clock.soon(stream.show)
    else clock.next(stream.show)
  }

  /** Returns the events after `after` that were shown and are not durable. */
  after(actor: string, after: number): readonly LogEvent[] {
    return this.#streams.get(actor)?.pieces.filter(({ sequence }) => sequence > after) ?? []
  }

  /** The durable events after `after`, and those behind them that were shown and are not durable. */
  behind(actor: string, durable: readonly LogEvent[], after: number): readonly LogEvent[] {
    const shown = this.after(actor, durable.at(-1)?.sequence ?? after)
    return shown.length === 0 ? durable : [...durable, ...shown]
  }

  /** Newest sequence of the actor that was shown; 0 when all that was shown is durable. */
  newest(actor: string): number {
    return this.#streams.get(actor)?.pieces.at(-1)?.sequence ?? 0
  }

  /** What was shown and is not durable, as the delivery that makes it so; undefined when there is nothing. */
  part(resident: Resident): Delivery | undefined {
    const stream = this.#streams.get(resident.id)
    const type = resident.definition.text?.part
    if (stream === undefined || type === undefined) return undefined
    this.settled(resident)
    const last = stream.pieces.at(-1)
    if (last === undefined) return undefined
    const { effect } = stream
    return { event: { type, ...textOf(stream) }, stored: { type }, cause: `${effect}#${last.sequence}`, part: effect }
  }

  /** The fields of a result for what was shown and is not durable, with the text that was still to be shown. */
  rest(resident: Resident, { done }: Pick<Delivery, 'done' | 'event' | 'cause'>): JsonObject {
    const stream = this.#streams.get(resident.id)
    if (stream === undefined || stream.effect !== done) return { delta: '' }
    this.settled(resident)
    this.#show(resident.id, stream)
    const { delta, cuts } = textOf(stream)
    // not shown: the actor was not in memory, or too much of it was not durable
    const left = stream.waiting
    if (left === '') return { delta, cuts }
    return { delta: delta + left, cuts: [...cuts, left.length] }
  }

  /** Shows the text that waited for the end of a step of another cause. */
  resume(actor: string): void {
    const stream = this.#streams.get(actor)
    if (stream !== undefined) this.#show(actor, stream)
  }

  /** Forgets what is durable by now, and the whole stream if its effect has ended. */
  settled({ id, state }: Resident): void {
    const stream = this.#streams.get(id)
    if (stream === undefined) return
    if (state.inFlight[stream.effect] === undefined) {
      this.drop(id)
      return
    }
    stream.pieces = stream.pieces.filter(({ sequence }) => sequence > state.lastSequence)
    stream.chars = lengthOf(stream.pieces)
    if (stream.pieces.length === 0) this.#stop(stream)
    if (stream.waiting !== '' && !stream.planned) this.#show(id, stream)
  }

  /** Forgets a stream: its effect has ended, or runs in another process. */
  drop(actor: string): void {
    const stream = this.#streams.get(actor)
    if (stream === undefined) return
    this.#stop(stream)
    this.#streams.delete(actor)
  }

  #streamOf(actor: string, effect: string): Stream {
    const known = this.#streams.get(actor)
    if (known?.effect === effect) return known
    this.drop(actor)
    const show = (): void => {
      made.planned = false
      this.#show(actor, made)
    }
    const made: Stream = {
      effect,
      pieces: [],
      chars: 0,
      waiting: '',
      planned: false,
      show,
      stop: undefined,
      committing: false,
      failures: 0,
    }
    this.#streams.set(actor, made)
    return made
  }

  #show(actor: string, stream: Stream): void {
    const resident = this.#parts.resident(actor)
    const isCurrent = this.#streams.get(actor) === stream && resident?.state.inFlight[stream.effect] !== undefined
    if (stream.waiting === '' || !isCurrent || resident.stepping || stream.pieces.length >= maxAhead) return
    const emission = resident.definition.text?.piece(resident.state.snapshot.context, stream.waiting)
    if (emission === undefined) return
    const sequence = (stream.pieces.at(-1)?.sequence ?? resident.state.lastSequence + resident.state.skip) + 1
    const piece: LogEvent = { ...emission, sequence }
    stream.pieces.push(piece)
    stream.chars += stream.waiting.length
    stream.waiting = ''
    this.#parts.publish(resident, [piece])
    this.#plan(actor, stream)
  }

  #plan(actor: string, stream: Stream): void {
    const { clock, commitMs = usualCommitMs } = this.#parts
    const isMuch = stream.pieces.length >= manyPieces || stream.chars >= muchText
    // one commit at a time, and after a failure only when its wait is over: a full disk would get one for each piece
    if (stream.committing || (stream.stop !== undefined && (!isMuch || stream.failures > 0))) return
    this.#stop(stream)
    const { min, max } = commonTimes
    const times = Math.min(max, Math.max(min, Math.ceil(this.#streams.size / perCommonTime)))
    const early = Math.floor(clock.steady() % (commitMs / times))
    stream.stop = clock.after(isMuch ? 0 : commitMs - early, () => void this.#commit(actor, stream))
  }

  async #commit(actor: string, stream: Stream): Promise<void> {
    const { clock, log, deliver } = this.#parts
    stream.committing = true
    try {
      await deliver(actor, { event: { type: '$shown' }, cause: `${stream.effect}#shown`, flush: stream.effect })
      stream.committing = false
      stream.failures = 0
      stream.stop = undefined
      if (stream.pieces.length > 0 && this.#streams.get(actor) === stream) this.#plan(actor, stream)
    } catch (error) {
      stream.committing = false
      log.warn({ actorId: actor, failures: stream.failures, err: error }, 'shown text not committed, trying again')
      if (this.#streams.get(actor) !== stream) return
      stream.stop = clock.after(backoffMs(stream.failures++, 50, 2000), () => void this.#commit(actor, stream))
    }
  }

  #stop(stream: Stream): void {
    stream.stop?.()
    stream.stop = undefined
  }
}

/** Opens the shown text of a host. */
export const openShown = (
  { clock, log, streamCommitMs }: Pick<HostOptions, 'clock' | 'log' | 'streamCommitMs'>,
  parts: Pick<ShownTextParts, 'resident' | 'publish' | 'deliver'>,
): ShownText =>
  new ShownText({ clock, log, ...(streamCommitMs !== undefined && { commitMs: streamCommitMs }), ...parts })

const deltaOf = ({ payload }: LogEvent): string => (typeof payload.delta === 'string' ? payload.delta : '')

const lengthOf = (pieces: readonly LogEvent[]): number =>
  pieces.reduce((length, piece) => length + deltaOf(piece).length, 0)

const textOf = ({ pieces }: Stream): { readonly delta: string; readonly cuts: readonly number[] } => {
  const texts = pieces.map(deltaOf)
  return { delta: texts.join(''), cuts: texts.map(({ length }) => length) }
}
