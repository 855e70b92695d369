/** What a check of a call found, as the request log has it. */
export type GuardFinding = {
  readonly guardrail: string
  readonly check: string
  readonly on: 'input' | 'output'
  /** `failed`: the check itself failed, and the guardrail lets such calls pass. */
  readonly outcome: 'flagged' | 'redacted' | 'blocked' | 'failed'
  /** Number of places, texts or answers. */
  readonly found: number
}
