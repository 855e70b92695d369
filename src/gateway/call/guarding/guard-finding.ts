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

/** Where in a turn something was found. `tool_output`: in what a tool returned to the model. */
export type TurnStage = 'input' | 'tool_output' | 'output'

/** What was found in the new texts of a turn's or run's model call, as its log has it: never the text itself. */
export type TurnFinding = Omit<GuardFinding, 'on'> & { readonly stage: TurnStage }
