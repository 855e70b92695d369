import type { Clock, EffectContext } from '#runtime/index.ts'

/** Longest time in ms for which reasoning waits before it is in the log. */
const journalMs = 1000

/**
 * An answer whose reasoning is shown: it is journaled as it comes, at most once a second, and text waits until the
 * reasoning before it is in the log.
 */
export class AnswerInOrder {
  readonly #clock: Pick<Clock, 'after'>
  readonly #context: Pick<EffectContext, 'part' | 'show'>
  readonly #waiting: { readonly isText: boolean; text: string }[] = []
  #writing: Promise<void> | undefined
  #stop: (() => void) | undefined

  constructor(clock: Pick<Clock, 'after'>, context: Pick<EffectContext, 'part' | 'show'>) {
    this.#clock = clock
    this.#context = context
  }

  reason(text: string): void {
    this.#add(false, text)
    this.#stop ??= this.#clock.after(journalMs, () => void this.written())
  }

  say(text: string): void {
    if (this.#waiting.length === 0 && this.#writing === undefined) this.#context.show(text)
    else {
      this.#add(true, text)
      void this.written()
    }
  }

  /** Resolves when the log has all reasoning so far, and readers the text after it. */
  async written(): Promise<void> {
    this.#stop?.()
    this.#stop = undefined
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
    })
    await this.#writing
  }

  #add(isText: boolean, text: string): void {
    const last = this.#waiting.at(-1)
    if (last?.isText === isText) last.text += text
    else this.#waiting.push({ isText, text })
  }

  async #write(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (next.isText) this.#context.show(next.text)
      else await this.#context.part({ type: 'model_reasoned', delta: next.text }, { type: 'model_reasoned' })
    }
  }
}
