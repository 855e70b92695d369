import type { AgentResource, ServerTool, ToolOutcome } from '#actors/capability/agent-resources.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { isObject } from '#runtime/index.ts'
import { type HttpToolCall, type HttpToolContext, type HttpToolResult, runHttpTool } from './http-tool.ts'
import type { HttpDeclaration, ToolHeaders } from './tool-headers.ts'
import type { ToolCall, ToolRunner } from './tool-runner.ts'

/** Dependencies of the server's tools. */
export interface ServerToolParts {
  readonly guard: SsrfGuard
  /** The project's signing secrets (`whsec_…`); null for an unknown project. */
  readonly signingSecrets: (project: string) => Promise<readonly string[] | null>
  /** Decrypts the headers that the tool was declared with. */
  readonly headers: Pick<ToolHeaders, 'open'>
  /** Resources that capabilities offer to agents; read at each call. */
  readonly resources: () => readonly AgentResource[]
  /** Waits between the attempts of an idempotent tool. */
  readonly pause: (ms: number) => Promise<void>
}

/** Most attempts of an idempotent tool that may not have been reached. All have the same idempotency key. */
const attempts = 3
const firstPauseMs = 200

const triedAgain = new Set(['tool_unreachable', 'tool_timeout', 'tool_answer_unreadable'])

/** Runner of all tools that the server itself runs. */
export const serverTools = (parts: ServerToolParts): ToolRunner => ({
  run: async (call) => {
    const { tool } = call
    if (tool.type === 'http') return runHttp(parts, call, tool)
    if (tool.type === 'server') return runResource(parts, call, tool)
    if (tool.type === 'web_search_preview') return runResource(parts, call, previewTool)
    return { ok: false, code: 'not_server_run', message: 'The caller runs this tool.' }
  },
  release: async (action) => {
    for (const resource of parts.resources()) await resource.release?.(action)
  },
})

/** OpenAI's name for web search; served by the `web` resource. */
const previewTool: ServerTool = {
  ...{ type: 'server', name: 'web_search', description: '', parameters: {}, resource: 'web', settings: {} },
  effect: 'idempotent',
}

const runResource = async ({ resources }: ServerToolParts, call: ToolCall, tool: ServerTool): Promise<ToolOutcome> => {
  const resource = resources().find(({ name }) => name === tool.resource)
  if (resource !== undefined) return resource.run({ ...call, tool })
  return { ok: false, code: 'capability_not_available', message: `This server has no ${tool.resource}.` }
}

const headersGone: ToolOutcome = {
  ok: false,
  code: 'tool_headers_unreadable',
  message: "The tool's headers cannot be opened for its URL: declare them again.",
}

const runHttp = async (parts: ServerToolParts, call: ToolCall, tool: HttpDeclaration): Promise<ToolOutcome> => {
  const secret = await parts.signingSecrets(call.project)
  if (secret === null) return { ok: false, code: 'not_found', message: 'The project no longer exists.' }
  const headers = await parts.headers.open(call.project, tool)
  if (headers === null) return headersGone
  const { idempotencyKey, signal } = call
  const context = { idempotencyKey, secret, guard: parts.guard, signal }
  const max = tool.effect === 'idempotent' ? attempts : 1
  const declared = { ...tool, headers }
  let outcome = await once(call, declared, context)
  for (let attempt = 1; attempt < max && !outcome.ok && triedAgain.has(outcome.code); attempt++) {
    await parts.pause(firstPauseMs * 2 ** (attempt - 1))
    outcome = await once(call, declared, context)
  }
  return outcome
}

const once = (call: ToolCall, tool: HttpDeclaration, context: HttpToolContext): Promise<HttpToolResult> =>
  runHttpTool(
    {
      name: tool.name,
      url: tool.url,
      ...(tool.method !== undefined && { method: tool.method }),
      ...(tool.headers !== undefined && { headers: tool.headers }),
      ...(tool.timeout_ms !== undefined && { timeoutMs: tool.timeout_ms }),
    },
    {
      actionId: call.actionId,
      arguments: isObject(call.arguments) ? call.arguments : { text: call.arguments },
      owner: ownerOf(call),
    },
    context,
  )

const ownerOf = ({ sessionId, runId }: ToolCall): HttpToolCall['owner'] => {
  if (sessionId !== null) return { sessionId }
  return runId === null ? null : { runId }
}
