import { ModelError, type ModelProvider, type ModelRequest, type ModelUsage } from '../gateway/provider-port.ts'
import type { Clock } from '../runtime/clock.ts'
import { modelTool } from '../sessions/model-tool.ts'
import { truncated } from '../sessions/sanitize.ts'
import { runnable } from './effective-config.ts'
import type { Manifest, TestEvidence } from './schema.ts'

/** What trying a draft needs. */
export interface VersionTestParts {
  /** @throws {ModelError} */
  readonly resolve: (model: string) => { readonly provider: ModelProvider; readonly model: string }
  /** USD as exact decimal text; null when the price is unknown. */
  readonly costOf: (model: string, usage: ModelUsage) => string | null
  readonly clock: Clock
}

/** What is tried, by whom. */
export interface Trial {
  readonly config: Manifest
  readonly input: string
  readonly by: string
  /** The same at every attempt of one request. */
  readonly idempotencyKey: string
}

/** A test's answer is cut short here, whatever the manifest says (interface "Agent version test": token-capped). */
export const maxTestTokens = 512
/** Characters of the answer that are kept. */
const maxOutput = 2000
/** A model that takes longer has failed the test, in ms. */
const patienceMs = 60_000

/**
 * Asks the draft's model once. Nothing but the model runs: it is told of the tools, and what it calls is noted, not
 * done. A model that fails is evidence too.
 */
export const tryDraft = async (parts: VersionTestParts, trial: Trial): Promise<TestEvidence> => {
  const { config, input, by } = trial
  const evidence = {
    input,
    model: config.model,
    tested_by: by,
    tested_at: new Date(parts.clock.now()).toISOString(),
  }
  try {
    return { ...evidence, error: null, ...(await answerOf(parts, trial)) }
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    const { code, message } = error
    return { ...evidence, passed: false, output: '', tool_calls: [], usage: null, error: { code, message } }
  }
}

const answerOf = async ({ resolve, costOf, clock }: VersionTestParts, trial: Trial) => {
  const { provider, model } = resolve(trial.config.model)
  const late = new AbortController()
  const cancel = clock.after(patienceMs, () => late.abort())
  try {
    const answer = await provider.stream(requestOf(trial, model), () => {}, late.signal)
    const calls = answer.toolCalls.map((call) => ({ tool: call.name, arguments: truncated(call.arguments) }))
    return {
      passed: answer.text !== '' || calls.length > 0,
      output: answer.text.slice(0, maxOutput).toWellFormed(),
      tool_calls: calls,
      usage: usageOf(answer.usage, costOf(model, answer.usage)),
    }
  } catch (error) {
    if (late.signal.aborted) throw new ModelError('provider_timeout', 'The model did not answer in time.')
    throw error
  } finally {
    cancel()
  }
}

const requestOf = ({ config, input, idempotencyKey }: Trial, model: string): ModelRequest => {
  const { system_prompt, tools, temperature, max_tokens } = runnable(config)
  return {
    model,
    instructions: system_prompt === null ? [] : [system_prompt],
    messages: [{ role: 'user', content: input }],
    tools: tools.map(modelTool),
    maxTokens: Math.min(max_tokens ?? maxTestTokens, maxTestTokens),
    idempotencyKey,
    ...(temperature !== null && { temperature }),
  }
}

const usageOf = (
  { inputTokens, outputTokens }: ModelUsage,
  cost: string | null,
): NonNullable<TestEvidence['usage']> => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  cost_usd: cost,
})
