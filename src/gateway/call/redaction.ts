/** Replaces the placeholders in the answer to a request with the personal data that was removed from the request. */
export interface Restorer {
  /** Returns the text with every placeholder of this request replaced. */
  restore(text: string): string
  /**
   * For streams: returns the restored text that can be passed on so far; the rest may be the start of a placeholder.
   */
  push(part: string): string
  /** Returns the text that `push` held back. */
  end(): string
  /** Returns a restorer for another stream of the same answer: each tool call and each choice requires its own. */
  fork(): Restorer
}

/** Texts of a request with personal data replaced, in order. */
export interface Redacted {
  readonly texts: readonly string[]
  readonly toolArguments: readonly string[]
  /** Restores the answer; null when nothing was replaced or the project's policy does not restore. */
  readonly restorer: Restorer | null
  /** Number of distinct values replaced, by type; absent for none. */
  readonly found?: Found | undefined
  /** The replacements made in the texts; absent when they are not known individually. */
  readonly replacements?: readonly Replacement[] | undefined
}

/** A value that was replaced by the same placeholder wherever it occurs in a request's texts. */
export interface Replacement {
  readonly value: string
  readonly placeholder: string
  readonly times: number
}

/** Number of distinct values replaced, by type of personal data. */
export type Found = Readonly<Record<string, number>>

/** The redaction policy of a project. */
export interface RedactionPolicy {
  /** Cache key: equal for policies with the same effect. */
  readonly key: string
  /** Whether message texts are redacted. */
  readonly input: boolean
  /** Whether arguments of tool calls are redacted. */
  readonly toolArguments: boolean
  /** Whether texts to embed are redacted; vectors cannot be restored. */
  readonly embeddings: boolean
  /** Whether texts for speech synthesis are redacted; the placeholder is spoken. */
  readonly speech: boolean
  /**
   * Redacts the texts of a request and the JSON texts of tool calls' arguments, which remain JSON; each in order,
   * regardless of `input` and `toolArguments`. `redactChat` (src/gateway/redaction/chat-redaction.ts) applies this to a
   * chat body.
   */
  redact(texts: readonly string[], toolArguments?: readonly string[]): Redacted
  /**
   * Same as `redact` but in a worker, for texts that would block the event loop.
   * @throws {ServiceError} `redaction_unavailable`
   */
  redactInBackground(texts: readonly string[], toolArguments?: readonly string[]): Promise<Redacted>
}

/** Redaction of personal data in requests, by each project's policy. */
export interface Redaction {
  /**
   * Returns null when the project redacts nothing in its requests to providers. Synchronous for a project in steady
   * use.
   */
  policyOf(project: string): RedactionPolicy | null | Promise<RedactionPolicy | null>
  /** Redacts a body for the request log: personal data and secrets are always removed, whatever the policy. */
  forLog(body: string): string
}
