import type { ServerTool } from '#actors/capability/agent-resources.ts'
import type { RemoteTools } from '#actors/capability/remote-tools.ts'
import type { Caller } from '#gateway/call/caller.ts'
import { isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import { newId } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResponseItem } from '../input-items.ts'
import type { ResponseOutput } from '../response-output.ts'
import type { ServerSearch } from '../searches/server-search.ts'
import { approvedCalls } from './approvals.ts'
import type { RemoteTool } from './remote-tools.ts'

/** Tools of the remote (MCP) servers of one response. */
export interface RemoteServers {
  /** One tool per remote tool. */
  readonly tools: readonly ServerSearch[]
  /**
   * Carries out the calls that the request approves.
   * @returns these calls and their results, as messages for the model.
   */
  begin(signal: AbortSignal): Promise<readonly WireObject[]>
  /** Adds to the output the lists of tools, and the calls that were made before the model was called; once. */
  show(output: ResponseOutput): void
}

/** For a response without remote servers. */
const noRemoteServers: RemoteServers = { tools: [], begin: async () => [], show: () => {} }

interface Offered {
  readonly label: string
  readonly tool: ServerTool
}

interface Call {
  readonly name: string
  readonly written: string
  readonly approval: string | null
}

/**
 * Opens the servers that a request names: registered ones by their label, others by their URL through the SSRF guard.
 *
 * @param items all items of the conversation: tools that were listed before are not listed again, and approved calls
 * are carried out.
 * @throws {ServiceError} `secret_key_required`; the errors of `RemoteTools.offer`.
 */
export const openRemoteServers = async (
  service: () => RemoteTools,
  { caller, items }: { readonly caller: Caller; readonly items: readonly ResponseItem[] },
  named: readonly RemoteTool[],
): Promise<RemoteServers> => {
  const [first] = named
  if (first === undefined) return noRemoteServers
  if (caller.principal.kind !== 'secret_key') throw new ServiceError('secret_key_required', { param: first.path })
  const offered: Offered[] = []
  for (const { path, label, declared } of named) {
    const { project, tenant, externalUserId: user } = caller
    const tools = await service().offer({ project, tenant, user, param: path }, declared)
    offered.push(...tools.map((tool) => ({ label, tool })))
  }
  return new OpenServers({ service: service(), caller, items, named, offered })
}

interface OpenParts {
  readonly service: RemoteTools
  readonly caller: Caller
  readonly items: readonly ResponseItem[]
  readonly named: readonly RemoteTool[]
  readonly offered: readonly Offered[]
}

class OpenServers implements RemoteServers {
  readonly tools: readonly ServerSearch[]
  readonly #parts: OpenParts
  readonly #found = new Set<string>()
  #shows: ((output: ResponseOutput) => void)[] = []

  constructor(parts: OpenParts) {
    this.#parts = parts
    this.tools = parts.offered.map((each) => this.#search(each))
    const listed = new Set(
      parts.items.filter(({ type }) => type === 'mcp_list_tools').map((item) => textOf(item.server_label)),
    )
    for (const { label } of parts.named.filter((each) => !listed.has(each.label))) {
      this.#shows.push((output) => {
        const item = output.remote('mcp_list_tools', 'mcpl', { server_label: label, tools: [] })
        item.done({ tools: this.#listOf(label) })
      })
    }
  }

  async begin(signal: AbortSignal): Promise<readonly WireObject[]> {
    const messages: WireObject[] = []
    for (const { id, label, name, written, approved, reason } of approvedCalls(this.#parts.items)) {
      const offered = this.#parts.offered.find((each) => each.label === label && nameOf(each) === name)
      const callId = `call_${id}`
      const made = { name: offered?.tool.name ?? name, arguments: written }
      messages.push({
        role: 'assistant',
        content: null,
        tool_calls: [{ id: callId, type: 'function', function: made }],
      })
      const content = !approved
        ? `The call was refused by the user. ${reason}`.trim()
        : offered === undefined
          ? 'The tool is no longer offered.'
          : await this.#called(
              offered,
              { name, written, approval: id },
              { signal, show: (late) => this.#shows.push(late) },
            )
      messages.push({ role: 'tool', tool_call_id: callId, content })
    }
    return messages
  }

  show(output: ResponseOutput): void {
    const shows = this.#shows
    this.#shows = []
    for (const show of shows) show(output)
  }

  #listOf(label: string): readonly WireObject[] {
    return this.#parts.offered
      .filter((each) => each.label === label)
      .map((each) => {
        const { description, parameters } = each.tool
        return { name: nameOf(each), description, input_schema: parameters }
      })
  }

  #search(offered: Offered): ServerSearch {
    const { tool } = offered
    const { name, description, parameters } = tool
    return {
      name,
      definition: { type: 'function', function: { name, description, parameters } },
      isShown: () => tool.deferred !== true || this.#found.has(name),
      call: async (written, { output, signal }) => {
        if (tool.needsApproval === true) {
          const request = { server_label: offered.label, name: nameOf(offered), arguments: written }
          output.remote('mcp_approval_request', 'mcpr', request).done({})
          return null
        }
        const content = await this.#called(
          offered,
          { name: nameOf(offered), written, approval: null },
          { signal, show: (now) => now(output) },
        )
        for (const each of foundIn(content)) this.#found.add(each)
        return content
      },
    }
  }

  async #called(
    { label, tool }: Offered,
    { name, written, approval }: Call,
    {
      signal,
      show,
    }: { readonly signal: AbortSignal; readonly show: (shown: (output: ResponseOutput) => void) => void },
  ): Promise<string> {
    const { caller, service } = this.#parts
    const { project, tenant, externalUserId: user } = caller
    const id = newId('call')
    const given = objectOf(parseJson(written))
    const call = {
      project,
      tenant,
      user,
      tool,
      arguments: JSON.parse(JSON.stringify(given)),
      sessionId: null,
      runId: null,
    }
    const outcome = await service.call({ ...call, actionId: id, idempotencyKey: id, signal })
    signal.throwIfAborted()
    const error = outcome.ok ? null : `${outcome.code}: ${outcome.message}`
    show((output) => {
      const about = { server_label: label, name, arguments: written, approval_request_id: approval }
      const item = output.remote('mcp_call', 'mcp', { ...about, output: null, error: null })
      item.written(written)
      item.done({ output: outcome.ok ? outcome.output : null, error }, error !== null)
    })
    return outcome.ok ? outcome.output : `The call failed. ${error}`
  }
}

/** The server's own name of a tool. The tool that searches among many tools has no such name and keeps its own. */
const nameOf = ({ tool }: Offered): string => textOf(tool.settings.tool) || tool.name

/** Names of tools in the result of a search among many tools. */
const foundIn = (output: string): readonly string[] => {
  if (!output.includes('"found_tools"')) return []
  const found = objectOf(parseJson(output)).found_tools
  return Array.isArray(found) ? found.filter(isObject).map(({ name }) => textOf(name)) : []
}
