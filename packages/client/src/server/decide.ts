import { Session, type Troupe, TroupeError } from '../index.ts'
import { asFields } from '../schema.ts'

/** A decision of a user about a call of one of their own sessions. */
export interface DecisionRequest {
  readonly decision: 'approve' | 'reject'
  readonly session_id: string
  readonly action_id: string
  /** Tenant and user who are signed in, as your own server knows them: never from the body of a request. */
  readonly tenant_id: string
  readonly external_user_id: string
  readonly tool_results?: readonly { readonly action_id: string; readonly output: string }[]
}

/**
 * Decides in a user's place, after it has made sure that the call belongs to the session, and the session to the user
 * and the tenant.
 *
 * @param client a client with a secret key
 * @returns how the call was resolved
 * @throws {TroupeError} (rejects) a `PermissionError`, `forbidden`, if something belongs to others, without saying which
 */
export const decide = async (client: Troupe, request: DecisionRequest): Promise<string> => {
  const { decision, session_id, action_id, tool_results } = request
  const read = async (path: string) => asFields(await (await client.request('GET', path)).json())
  const [session, action] = await Promise.all([
    read(`/v1/sessions/${encodeURIComponent(session_id)}`),
    read(`/v1/actions/${encodeURIComponent(action_id)}`),
  ])
  const isTheirs =
    session.tenant_id === request.tenant_id &&
    session.external_user_id === request.external_user_id &&
    action.session_id === session.id
  if (!isTheirs)
    throw new TroupeError('This call is not of a session of this user.', {
      type: 'permission_error',
      code: 'forbidden',
      status: 403,
    })
  // of its own: a server that decides for many users keeps none of their conversations
  const handle = new Session(client, session_id, {})
  return decision === 'reject'
    ? handle.reject(action_id)
    : handle.approve(action_id, { output: outputIn(tool_results, action_id) })
}

const outputIn = (results: DecisionRequest['tool_results'], actionId: string): string | undefined =>
  results?.find(({ action_id }) => action_id === actionId)?.output
