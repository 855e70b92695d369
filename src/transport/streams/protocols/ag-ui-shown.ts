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

  get hasReasoning(): boolean {
    return this.messages?.some(({ role }) => role === 'reasoning') ?? false
  }

  add(message: JsonObject): void {
    if (this.#earlier !== null) this.#own = [...this.#own, message]
  }

  /** Adds text to a message. */
  append(id: string, delta: string): void {
    this.#change(id, ({ content }) => ({ content: `${content}${delta}` }))
  }

  /** Adds a tool call to a message of the model. */
  call(id: string, toolCall: JsonObject): void {
    this.#change(id, ({ toolCalls }) => ({ toolCalls: [...(Array.isArray(toolCalls) ? toolCalls : []), toolCall] }))
  }

  /** Removes a message. */
  drop(id: string | null): void {
    this.#own = this.#own.filter((message) => message.id !== id)
  }

  /** Removes the text of a message. */
  empty(id: string | null): void {
    this.#change(id, () => ({ content: '' }))
  }

  #change(id: string | null, change: (message: JsonObject) => JsonObject): void {
    const at = this.#own.findLastIndex((message) => message.id === id)
    const message = this.#own[at]
    if (message !== undefined) this.#own = this.#own.with(at, { ...message, ...change(message) })
  }
}
