import type { Services } from '#actors/capability/services.ts'
import type { BrowserJobEvent, BrowserStep } from '#machines/browser-job/browser-job.ts'
import type { EffectContext } from '#runtime/index.ts'
import type { Host } from '#runtime/internal.ts'
import { persistently } from '#runtime/internal.ts'

export interface JournalParts extends Pick<Services, 'clock' | 'now'> {
  readonly host: Pick<Host, 'deliver'>
}

/**
 * Reports the progress of one attempt of a job to its log. Each method returns whether the report was committed:
 * reports of an attempt that was cancelled, or replaced by another process, are rejected.
 */
export class JobJournal {
  readonly #parts: JournalParts
  readonly #context: EffectContext
  readonly #attempt: number
  #reported = 0

  /** @param attempt from 1. */
  constructor(parts: JournalParts, context: EffectContext, attempt: number) {
    this.#parts = parts
    this.#context = context
    this.#attempt = attempt
  }

  started(): Promise<boolean> {
    return this.#say({ type: 'started', attempt: this.#attempt, at: this.#parts.now() })
  }

  stepped(step: BrowserStep): Promise<boolean> {
    return this.#say({ type: 'stepped', attempt: this.#attempt, step })
  }

  /** Times in ms since the epoch. */
  waits(message: string | null, until: { readonly at: number; readonly expires_at: number }): Promise<boolean> {
    return this.#say({ type: 'waits', attempt: this.#attempt, message, ...until })
  }

  submitting(): Promise<boolean> {
    return this.#say({ type: 'submitting', attempt: this.#attempt })
  }

  async #say(event: BrowserJobEvent): Promise<boolean> {
    const { host, clock } = this.#parts
    const { actor, idempotencyKey, signal } = this.#context
    const cause = `${idempotencyKey}#${this.#attempt}.${++this.#reported}`
    try {
      const deliver = () => host.deliver(actor, { event, cause, part: idempotencyKey })
      return (await persistently({ clock, signal }, deliver)).commit !== null && !signal.aborted
    } catch {
      // the actor is gone, parked or on another node: the report is not accepted
      return false
    }
  }
}
