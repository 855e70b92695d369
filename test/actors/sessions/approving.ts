import type { Call, Principal } from '#actors/call/call.ts'
import type { LogEvent } from '#storage/ports.ts'
import { userScope } from '#storage/scope.ts'
import { callOf, collect, type Script, turn, type World } from './harness.ts'

type TurnBody = Parameters<World['useCases']['sessions.turns']>[0]['body']
type ToolBody = Exclude<NonNullable<TurnBody['tools']>[number], { readonly type: 'mcp' }>
type Results = readonly { readonly action_id: string; readonly output: string }[]

/** A tool that the caller runs. */
export const functionTool = (name: string, needsApproval?: boolean): Extract<ToolBody, { type: 'function' }> => ({
  type: 'function',
  function: { name },
  ...(needsApproval !== undefined && { needsApproval }),
})

/** A tool that the server runs. */
export const httpTool = (name: string, more: Partial<ToolBody & { type: 'http' }> = {}): ToolBody => ({
  type: 'http',
  name,
  url: 'http://127.0.0.1:9/',
  ...more,
})

/** A model's answer that calls these tools, with their names as arguments. */
export const calls = (...names: readonly string[]): Script => ({
  calls: names.map((name) => ({ name, arguments: JSON.stringify({ of: name }) })),
})

/** Ids of the calls that wait for approval according to a stream, by tool. */
const waitingIn = (events: readonly LogEvent[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    events
      .filter((event) => event.event_type === 'turn.paused')
      .map(({ payload }) => [String(payload.tool), String(payload.action_id)]),
  )

/** The same call with an Idempotency-Key. */
export const keyed = <P, Q, B>(call: Call<P, Q, B>, key: string, body = key): Call<P, Q, B> => ({
  ...call,
  idempotency: { cause: `idem:${key}`, fingerprint: body, seed: null },
})

/** The same call by an end user's browser. */
export const asUser = <P, Q, B>(
  call: Call<P, Q, B>,
  tenant: string,
  user: string,
  sessionId: string | null = null,
): Call<P, Q, B> => {
  const project = call.scope.project
  const permissions = ['sessions:turn']
  const principal: Principal = {
    kind: 'client_token',
    project,
    tenant,
    user,
    permissions,
    sessionId,
    installationIds: [],
  }
  return { ...call, principal, scope: userScope(project, tenant, user) }
}

/** Runs a turn that pauses, and returns the ids of the waiting calls. */
export const pausedTurn = async (
  world: World,
  session: string,
  body: TurnBody,
): Promise<{ readonly events: readonly LogEvent[]; readonly waiting: Readonly<Record<string, string>> }> => {
  const events = await turn(world, session, body)
  return { events, waiting: waitingIn(events) }
}

/** A call of `sessions.approve`. */
export const approval = (session: string, action_id: string, tool_results?: Results) =>
  callOf({ session_id: session }, {}, { action_id, ...(tool_results !== undefined && { tool_results }) })

/** Approves with the output `output of <id>`, unless results are given; collects the resumed stream. */
export const approve = async (
  world: World,
  session: string,
  action_id: string,
  results: Results = [{ action_id, output: `output of ${action_id}` }],
): Promise<readonly LogEvent[]> =>
  collect((await world.useCases['sessions.approve'](approval(session, action_id, results))).stream)

/** Rejects an action, and returns the response. */
export const reject = (world: World, session: string, action_id: string) =>
  world.useCases['sessions.reject'](callOf({ session_id: session }, {}, { action_id }))

/** The action as GET shows it. */
export const action = (world: World, action_id: string) =>
  world.useCases['actions.get'](callOf({ action_id }, {}, undefined))

/** The session's status on the wire. */
export const statusOf = async (world: World, session_id: string): Promise<string> =>
  (await world.useCases['sessions.get'](callOf({ session_id }, {}, undefined))).status

/** The payload of the last event of a kind. */
export const lastPayload = (events: readonly LogEvent[], type: string) =>
  events.findLast((event) => event.event_type === type)?.payload
