import type { OpenCall, SessionTool } from '#machines/session/session-data.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Principal } from '../call/call.ts'
import { contextOf } from '../runtime/index.ts'
import type { Resident } from '../runtime/internal.ts'

/**
 * Checks that a credential may decide about a call of a session which it reaches. A client token may decide what the
 * operator leaves to its user, and run the `function` tools that its page declared.
 *
 * @throws {ServiceError} `insufficient_scope` where the token lacks the permission; `forbidden` where no client token
 * may decide.
 */
export const checkMayDecide = (
  { principal, decision }: { readonly principal: Principal; readonly decision: 'approve' | 'reject' },
  session: Resident,
  call: OpenCall,
): void => {
  if (principal.kind !== 'client_token') return
  const { tools } = contextOf(sessionDefinition, session.state.snapshot)
  const needed = neededFor(tools[call.tool], decision)
  if (needed === null)
    throw new ServiceError('forbidden', { param: 'action_id', message: `Only the operator may ${decision} this call.` })
  if (!needed.some((permission) => principal.permissions.includes(permission)))
    throw new ServiceError('insufficient_scope', {
      param: 'action_id',
      message: `The token needs the permission ${needed.join(' or ')} to ${decision} this call.`,
    })
}

/** The permissions of which a client token needs one; null where none is enough. */
const neededFor = (tool: SessionTool | undefined, decision: 'approve' | 'reject'): readonly string[] | null => {
  const isPages = tool?.declared_by === 'page'
  if (isPages && decision === 'approve') return ['sessions:tools']
  const isUsers = tool?.approver === 'end_user'
  if (isPages) return isUsers ? ['sessions:tools', 'sessions:approve'] : ['sessions:tools']
  // an approval of a function tool is its output, which a page gives only for tools of its own
  if (!isUsers || (tool.kind === 'function' && decision === 'approve')) return null
  return ['sessions:approve']
}
