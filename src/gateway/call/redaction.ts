/** What stands for the personal data that was taken out of one request, so that its answer can have it back. */
export interface Restorer {
  /** The text with every placeholder of this request turned back. */
  restore(text: string): string
  /** For streams: what can be handed on of the text so far; a placeholder may be cut in two between parts. */
  push(part: string): string
  /** What `push` had kept back. */
  end(): string
  /** For a further stream of the same answer: each tool call and each choice has one of its own. */
  fork(): Restorer
}

/** Texts of a request without personal data, in order. */
export interface Redacted {
  readonly texts: readonly string[]
  readonly toolArguments: readonly string[]
  /** Turns the answer back; null when nothing was replaced, or the project wants no restoring. */
  readonly restorer: Restorer | null
  /** How many different values of each type were replaced; absent for none. */
  readonly found?: Found
  /** What was replaced in the texts; absent where that is not known plainly. */
  readonly replacements?: readonly Replacement[]
}

/** A value of which every finding in a request's texts got the same placeholder. */
export interface Replacement {
  readonly value: string
  readonly placeholder: string
  readonly times: number
}

/** How many different values of each type of personal data were replaced. */
export type Found = Readonly<Record<string, number>>

/** Redaction as a project wants it. */
export interface RedactionPolicy {
  /** The same for policies that redact the same. */
  readonly key: string
  /** Whether texts of messages are redacted. */
  readonly input: boolean
  /** Whether arguments of tool calls are. */
  readonly toolArguments: boolean
  /** Whether texts to embed are; vectors have nothing to be put back into. */
  readonly embeddings: boolean
  /** Whether texts to speak are; a placeholder is spoken. */
  readonly speech: boolean
  /**
   * Texts of a request before they go to a provider, and JSON texts of tool calls' arguments, which stay JSON; each in
   * order, whatever `input` and `toolArguments` say. `redactChat` (src/gateway/redaction/chat-redaction.ts) does this
   * for a chat body.
   */
  redact(texts: readonly string[], toolArguments?: readonly string[]): Redacted
  /** The same in a worker, for texts that would hold the loop. @throws {ServiceError} `redaction_unavailable` */
  redactApart(texts: readonly string[], toolArguments?: readonly string[]): Promise<Redacted>
}

/** Personal data in requests, by each project's policy. */
export interface Redaction {
  /** null: the project redacts nothing on the way to providers. Answers without waiting for a project in steady use. */
  policyOf(project: string): RedactionPolicy | null | Promise<RedactionPolicy | null>
  /** A body for the request log: personal data and secrets are always taken out, whatever the policy. */
  forLog(body: string): string
}
