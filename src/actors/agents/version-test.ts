import type { Charge } from '#gateway/call/accounting/charge.ts'
import { actorCaller } from '#gateway/call/caller.ts'
import type { ModelRequest } from '#gateway/call/provider-port.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { type Metered, metered } from '#gateway/turns/metered.ts'
import { BrokenAnswer, type TurnModels } from '#gateway/turns/turn-models.ts'
import { type ErrorCode, ServiceError } from '#specs/errors/errors.ts'
import { truncated } from '../records/sanitize.ts'
import type { Clock } from '../runtime/index.ts'
import { modelTool } from '../sessions/tools/model-tool.ts'
import { runnable } from './effective-config.ts'
import type { Manifest, TestEvidence } from './schema.ts'

/** Dependencies of `tryDraft`. */
export interface VersionTestParts {
  readonly models: TurnModels
  readonly clock: Clock
}

/** A draft to test, the input, and the caller. */
export interface Trial {
  readonly project: string
  readonly agentId: string
  readonly config: Manifest
  readonly input: string
  readonly by: string
  /** Id of the requesting key; null for other credentials. */
  readonly keyId: string | null
  /** The same for each attempt of one request. */
  readonly idempotencyKey: string
}

/** Most tokens of a test's answer, even if the manifest allows more (`agent_versions.test`). */
const maxTestTokens = 512
/** Characters of the answer that are stored. */
const maxOutput = 2000
/** Timeout of the model call in ms; exceeding it fails the test. */
const patienceMs = 60_000

/** Result of a test and its metered usage; `metered` is null when the model returned nothing. */
export interface Tried {
  readonly evidence: TestEvidence
  readonly metered: Metered | null
}

/** Errors that reveal nothing about the draft: the project may not call any model at the moment. */
const refusals: ReadonlySet<ErrorCode> = new Set([
  'rate_limit_exceeded',
  'budget_exceeded',
  'price_unknown',
  'credit_balance_exhausted',
])

/**
 * Calls the draft's model once. The model is given the tools, but its tool calls are only recorded, not run. A failure
 * of the model is a test result too.
 *
 * @throws {ServiceError} when the project's limits, budgets or credits refuse the call.
 */
export const tryDraft = async (parts: VersionTestParts, trial: Trial): Promise<Tried> => {
  const { config, input, by } = trial
  const about = {
    input,
    model: config.model,
    tested_by: by,
    tested_at: new Date(parts.clock.now()).toISOString(),
  }
  try {
    const { metered: charged, ...answer } = await answerOf(parts, trial)
    return { evidence: { ...about, error: null, ...answer }, metered: charged }
  } catch (error) {
    if (!(error instanceof ServiceError) || refusals.has(error.code)) throw error
    const { code, message } = error
    const nothing = { passed: false, output: '', tool_calls: [], usage: null }
    const charged = error instanceof BrokenAnswer ? chargedTo(trial, error.charge) : null
    return { evidence: { ...about, ...nothing, error: { code, message } }, metered: charged }
  }
}

const answerOf = async ({ models, clock }: VersionTestParts, trial: Trial) => {
  const late = new AbortController()
  const cancel = clock.after(patienceMs, () => late.abort())
  try {
    const caller = actorCaller({ project: trial.project, tenant: null, user: null }, trial.agentId, trial.keyId)
    const { text, toolCalls, usage, charge } = await models.call(requestOf(trial), caller, {
      onDelta: () => {},
      signal: late.signal,
    })
    const calls = toolCalls.map((call) => ({ tool: call.name, arguments: truncated(call.arguments) }))
    return {
      passed: text !== '' || calls.length > 0,
      output: text.slice(0, maxOutput).toWellFormed(),
      tool_calls: calls,
      usage: usageOf(usage, charge.costUsd),
      metered: chargedTo(trial, charge),
    }
  } catch (error) {
    if (late.signal.aborted)
      throw new ServiceError('provider_timeout', { message: 'The model did not answer in time.', cause: error })
    throw error
  } finally {
    cancel()
  }
}

const chargedTo = ({ agentId }: Trial, charge: Charge): Metered =>
  metered({ operation: 'agent_version.test', ...charge, agentId })

const requestOf = ({ config, input, idempotencyKey }: Trial): ModelRequest => {
  const { system_prompt, tools, temperature, max_tokens, sampling } = runnable(config)
  const { tool_choice: _choice, parallel_tool_calls: _parallel, ...more } = sampling ?? {}
  return {
    model: config.model,
    instructions: system_prompt === null ? [] : [system_prompt],
    messages: [{ role: 'user', content: input }],
    tools: tools.map(modelTool),
    maxTokens: Math.min(max_tokens ?? maxTestTokens, maxTestTokens),
    idempotencyKey,
    ...(temperature !== null && { temperature }),
    ...(Object.keys(more).length > 0 && { more }),
  }
}

const usageOf = (
  { inputTokens, outputTokens }: TokenUsage,
  cost: string | null,
): NonNullable<TestEvidence['usage']> => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  cost_usd: cost,
})
