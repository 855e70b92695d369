import type { ToolOutcome } from '#actors/capability/agent-resources.ts'
import type { Telemetry } from '#telemetry/telemetry.ts'
import { type TurnTool, toolName } from '../turns/turn-config.ts'
import type { ToolCall, ToolRunner } from './tool-runner.ts'

/**
 * Returns the runner with metrics of each call, and a span by OpenTelemetry's GenAI conventions where traces are on. A call
 * that waits for a person, to connect an account or to answer its server, has not failed.
 */
export const measuredTools = (tools: ToolRunner, telemetry: Telemetry): ToolRunner => ({
  ...tools,
  run: async (call) => {
    const startedMs = performance.now()
    const measure = async (): Promise<ToolOutcome> => {
      const outcome = await tools.run(call)
      telemetry.ranTool(kindOf(call.tool), resultOf(outcome), performance.now() - startedMs)
      return outcome
    }
    if (telemetry.tracer === null) return measure()
    const name = toolName(call.tool)
    return telemetry.tracer.run(`execute_tool ${name}`, { attributes: attributesOf(call, name) }, async (span) => {
      const outcome = await measure()
      if (resultOf(outcome) === 'failed' && !outcome.ok) {
        span.set({ 'error.type': outcome.code })
        span.end(outcome.message)
      }
      return outcome
    })
  },
})

/** A kind of limited variety: `http`, or the resource that serves the tool. */
const kindOf = (tool: TurnTool): string => (tool.type === 'server' ? tool.resource : tool.type)

const resultOf = (outcome: ToolOutcome): 'ok' | 'failed' | 'waiting' => {
  if (outcome.ok) return 'ok'
  return outcome.connection === undefined && outcome.input === undefined ? 'failed' : 'waiting'
}

const attributesOf = ({ actionId, sessionId, runId, project }: ToolCall, name: string) => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': name,
  'gen_ai.tool.call.id': actionId,
  'gen_ai.tool.type': 'extension',
  'gen_ai.conversation.id': sessionId ?? runId ?? undefined,
  'troupe.project': project,
})
