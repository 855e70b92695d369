import type { JsonObject } from '#storage/index.ts'

/** The messages of a page with AG-UI, as its events make them; not kept where those before are not known. */
export class AgUiShown {
  readonly #earlier: readonly JsonObject[] | null
  #own: readonly JsonObject[] = []

  constructor(earlier: readonly JsonObject[] | null) {
    this.#earlier = earlier
  }

  get messages(): readonly JsonObject[] | null {
    return this.#earlier === null ? null : [...this.#earlier, ...this.#own]
  }

  add(message: JsonObject): void {
    if (this.#earlier !== null) this.#own = [...this.#own, message]
  }

  /** Adds text to the last message. */
  append(delta: string): void {
    this.#change((last) => ({ ...last, content: `${last.content}${delta}` }))
  }

  /** Adds a tool call to the last message of the model. */
  call(toolCall: JsonObject): void {
    this.#change((last) => ({
      ...last,
      toolCalls: [...(Array.isArray(last.toolCalls) ? last.toolCalls : []), toolCall],
    }))
  }

  /** Removes the last message. */
  drop(): void {
    this.#own = this.#own.slice(0, -1)
  }

  #change(change: (last: JsonObject) => JsonObject): void {
    const at = this.#own.findLastIndex(({ role }) => role === 'assistant')
    const last = this.#own[at]
    if (last !== undefined) this.#own = this.#own.with(at, change(last))
  }
}
