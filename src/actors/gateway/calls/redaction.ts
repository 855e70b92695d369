/** What stands for the personal data that was taken out of one request, so that its answer can have it back. */
export interface Restorer {
  /** The text with every placeholder of this request turned back. */
  restore(text: string): string
  /** For streams: what can be handed on of the text so far; a placeholder may be cut in two between parts. */
  push(part: string): string
  /** What `push` had kept back. */
  end(): string
}

/** Redaction as a project wants it. */
export interface RedactionPolicy {
  /** Texts of a request before they go to a provider: those that were changed, and how to turn their answer back. */
  redact(texts: readonly string[]): { readonly texts: readonly string[]; readonly restorer: Restorer | null }
}

/** Personal data in requests, by each project's policy. */
export interface Redaction {
  /** null: the project redacts nothing on the way to providers. Answers without waiting for a project in steady use. */
  policyOf(project: string): RedactionPolicy | null | Promise<RedactionPolicy | null>
  /** A body for the request log: personal data and secrets are always taken out, whatever the policy. */
  forLog(body: string): string
}
