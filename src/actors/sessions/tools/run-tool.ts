import type { AnsweredInput, ReportProgress, ToolOutcome } from '#actors/capability/agent-resources.ts'
import type { ActionContext } from '#machines/action/action-data.ts'
import { actionDefinition } from '#machines/action/action-definition.ts'
import { runDefinition } from '#machines/run/run-definition.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { errorOutput, type ToolCallContext } from '#machines/tool-call/tool-calls.ts'
import { contextOf, type EffectContext, type IdempotentEffect, type UncertainEffect } from '#runtime/index.ts'
import type { Json, JsonObject, StoredEvent } from '#storage/index.ts'
import { actionExecution, inputAnswer } from '../schema.ts'
import { type TurnConfigs, type TurnTool, toolName } from '../turns/turn-config.ts'
import type { ToolRunner } from './tool-runner.ts'

/** Dependencies of the effects that run tools. */
export interface RunToolParts {
  readonly tools: ToolRunner
  readonly configs: TurnConfigs
}

interface Wanted {
  /** Declaration of the tool; null or absent when it is in the config. */
  readonly declared?: TurnTool | null
  readonly tool: string
  readonly arguments: string
  readonly config: Json
  readonly actionId: string
  readonly sessionId: string | null
  readonly runId: string | null
  readonly input?: AnsweredInput
  readonly progress: ReportProgress
}

/** The input answer with which a call resumes, where the tool's server requested input. */
const answeredOf = ({ input, answer }: ActionContext): Pick<Wanted, 'input'> =>
  input === null || answer === null ? {} : { input: { resume: String(input.resume), answer: inputAnswer(answer) } }

const lost = {
  code: 'outcome_unknown',
  message: 'The tool was called, but the outcome is unknown. It is not called again.',
}

const large = { code: 'tool_output_too_large', message: 'The tool ran, but its output is too large to be stored.' }

/**
 * Effect that runs the approved tool of an action. All retries have the same idempotency key, so a tool that honours it
 * acts once.
 */
export const runActionTool = (parts: RunToolParts): UncertainEffect => ({
  policy: 'from_params',
  run: async (_params, context) => {
    const action = contextOf(actionDefinition, context)
    const { outcome, ran } = await call(parts, context, {
      declared: action.execute === null ? null : actionExecution(JSON.parse(action.execute)),
      tool: action.tool,
      arguments: action.arguments,
      config: action.config,
      actionId: action.action_id,
      ...answeredOf(action),
      sessionId: action.session_id,
      runId: action.run_id,
      progress: (progress) => journaled(context, { type: 'tool_progressed', ...progress }),
    })
    if (outcome.ok) return { event: { type: 'tool_succeeded', output: outcome.output, ran } }
    const { connection, input } = outcome
    if (connection !== undefined) return { event: { type: 'connection_required', connection } }
    if (input !== undefined) return { event: { type: 'input_required', input: { ...input } } }
    return { event: { type: 'tool_failed', code: outcome.code, message: outcome.message, ran } }
  },
  unknown: () => ({ type: 'tool_failed', ...lost }),
  tooLarge: () => ({ type: 'tool_failed', ...large }),
})

/** Effect that ends what waits elsewhere for an input answer which will not come. */
export const releaseInput = ({ tools }: Pick<RunToolParts, 'tools'>): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, { actor, owner }) => {
    await tools.release?.({ actionId: actor, project: owner.project })
    return { event: { type: 'input_released' } }
  },
})

/** Effect that runs a session's tool without approval. An error becomes the tool's output, which the model reads. */
export const runSessionTool = (parts: RunToolParts): UncertainEffect =>
  runOwnTool(parts, (context) => {
    const session = contextOf(sessionDefinition, { context })
    return { ...session, sessionId: session.session_id, runId: null }
  })

/** The same effect for a run. */
export const runRunTool = (parts: RunToolParts): UncertainEffect =>
  runOwnTool(parts, (context) => {
    const run = contextOf(runDefinition, { context })
    return { ...run, sessionId: null, runId: run.run_id }
  })

/** A session or run as the caller of tools: its open calls, and the config with their declarations. */
type Caller = Pick<Wanted, 'sessionId' | 'runId'> & Pick<ToolCallContext, 'calls' | 'config'>

const runOwnTool = (parts: RunToolParts, callerOf: (context: JsonObject) => Caller): UncertainEffect => ({
  policy: 'from_params',
  run: async (params, context) => {
    const { calls, config, sessionId, runId } = callerOf(context.context)
    const actionId = idOf(params)
    const wanted = calls.find((each) => each.action_id === actionId)
    const { outcome, ran } = await call(parts, context, {
      tool: wanted?.tool ?? '',
      arguments: wanted?.arguments ?? '{}',
      config,
      actionId,
      sessionId,
      runId,
      progress: (progress) => journaled(context, { type: 'tool_progressed', action_id: actionId, ...progress }),
    })
    if (!outcome.ok && outcome.connection !== undefined) {
      const { connection } = outcome
      return { event: { type: 'connection_required', action_id: actionId, connection, by: 'tool' } }
    }
    if (!outcome.ok && outcome.input !== undefined) {
      const input = { ...outcome.input }
      return { event: { type: 'input_required', action_id: actionId, input, by: 'tool' } }
    }
    const output = outcome.ok ? outcome.output : errorOutput(outcome.code, outcome.message)
    return { event: { type: 'tool_answered', action_id: actionId, output, ran } }
  },
  unknown: (params) => answeredWith(params, lost),
  tooLarge: (params) => answeredWith(params, large),
})

/** Journals an event in full in the log; the commit stores only its type. */
const journaled = ({ part }: EffectContext, event: StoredEvent): Promise<void> => part(event, { type: event.type })

const answeredWith = (params: JsonObject, { code, message }: typeof lost): StoredEvent => ({
  type: 'tool_answered',
  action_id: idOf(params),
  output: errorOutput(code, message),
})

const idOf = (params: JsonObject): string => String(params.action_id)

/** Runs a tool, and reports what a ledger notes of the call (src/actors/observation/tool-calls.ts). */
const call = async (
  parts: RunToolParts,
  context: EffectContext,
  wanted: Wanted,
): Promise<{ readonly outcome: ToolOutcome; readonly ran: JsonObject }> => {
  const startedMs = performance.now()
  const outcome = await outcomeOf(parts, context, wanted)
  const ran = { tool: wanted.tool, took_ms: Math.round(performance.now() - startedMs) }
  return { outcome, ran: outcome.ok ? ran : { ...ran, code: outcome.code, message: outcome.message } }
}

const outcomeOf = async (
  { tools, configs }: RunToolParts,
  { owner, idempotencyKey, signal }: EffectContext,
  wanted: Wanted,
): Promise<ToolOutcome> => {
  const tool = wanted.declared ?? (await declaredTool(configs, owner.project, wanted))
  if (tool === undefined) return { ok: false, code: 'unknown_tool', message: `There is no tool ${wanted.tool}.` }
  const { actionId, sessionId, runId, progress } = wanted
  const args: Json = JSON.parse(wanted.arguments)
  return tools.run({
    project: owner.project,
    tenant: owner.tenant,
    user: owner.user,
    tool,
    arguments: args,
    actionId,
    sessionId,
    runId,
    idempotencyKey,
    signal,
    progress,
    ...(wanted.input !== undefined && { input: wanted.input }),
  })
}

const declaredTool = async (
  configs: TurnConfigs,
  project: string,
  { config, tool }: Wanted,
): Promise<TurnTool | undefined> => {
  const { tools } = await configs.read(project, config)
  return tools.find((each) => toolName(each) === tool)
}
