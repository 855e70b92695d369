import type { Principal } from '#actors/call/call.ts'
import { isObject } from '#runtime/index.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { sessions } from '#specs/resources/sessions.ts'
import { type OfferedTool, type ToolMode, toolsFor } from '#src/tool-server/offered-tools.ts'
import type { OfferedTools } from '#src/tool-server/tool-server.ts'
import { authorise } from '../api/credentials/authorise.ts'
import { textIn } from '../api/schema.ts'

/** Returns the tools of a mode that a credential may use: the others would only be refused. */
export const offeredTo = (principal: Principal, wanted: ToolMode | null): OfferedTools => {
  const isOfApp = principal.kind === 'secret_key' && principal.grant !== undefined
  // what an app may change, its member has read and granted
  const mode = wanted ?? (isOfApp ? 'write' : 'read')
  const callable = toolsFor(mode)
  const tools = callable.filter(({ operation }) => isAuthorised(operation, principal))
  return { tools, callable, decides: mode === 'write' && isAuthorised(sessions['sessions.approve'], principal) }
}

/**
 * Refuses an app's call of a tool that only further scopes would offer, so that it can request them of its member.
 *
 * @throws {ServiceError} `insufficient_scope`
 */
export const requireScope = (
  principal: Principal,
  body: Buffer,
  { mode, tools }: { readonly mode: ToolMode | null; readonly tools: readonly OfferedTool[] },
): void => {
  if (principal.kind !== 'secret_key' || principal.grant === undefined) return
  const name = calledTool(body)
  const tool = toolsFor(mode ?? 'write').find((each) => each.name === name)
  if (tool === undefined || tools.includes(tool)) return
  const { limits: _, ...unlimited } = principal
  if (isAuthorised(tool.operation, unlimited)) throw new ServiceError('insufficient_scope', { param: 'operations' })
}

const isAuthorised = (operation: Operation, principal: Principal): boolean => {
  try {
    authorise(operation, principal)
    return true
  } catch {
    return false
  }
}

/** Name of the tool that a message calls; null for another message, which the protocol's own parser judges. */
const calledTool = (body: Buffer): string | null => {
  try {
    const message: unknown = JSON.parse(body.toString('utf8'))
    return isObject(message) && message.method === 'tools/call' ? textIn(message.params, 'name') : null
  } catch {
    return null
  }
}
