import type { StreamAnswer, UiMessageProtocol } from '#actors/call/call.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { contextOf } from '#runtime/index.ts'
import type { Host, Resident } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { firstOfTurn } from '../event-pages.ts'
import { findSession } from '../session-use-cases.ts'
import { approvesOf, callWith, continued, decideCalls, type ProtocolParts } from './decide-calls.ts'
import { inPlace, placedInput, turnInputOf } from './placed-input.ts'
import { uiRequest } from './ui-request.ts'

type TurnBody = Parameters<UseCases['sessions.turns']>[0]['body']

/** Most turns without an input of their own that a replayed message has. */
const maxTurns = 16

/** Sessions for pages with Vercel's AI SDK (`useChat`). */
export const uiMessageUseCases = (parts: ProtocolParts): Pick<UseCases, 'ui_messages.send' | 'ui_messages.resume'> => ({
  'ui_messages.send': async (call) => {
    const session = await findSession(parts.host, call, call.params.session_id)
    const { id: _, messages: __, trigger: ___, messageId: ____, ...rest } = call.body
    const options = { ...rest, ...waitingTools(rest) }
    const request = uiRequest(call.body)
    if (request.kind === 'continue') {
      const { messageId, calls, decisions } = request
      const answer = await decideCalls(parts, call, { decisions, options })
      return { ...answer, protocol: protocolOf(call, { messageId, calls }) }
    }
    const { turn: latest } = contextOf(sessionDefinition, session.state.snapshot)
    if (request.kind === 'repeat' && latest === 0)
      throw new ServiceError('invalid_transition', { param: 'trigger', message: 'The session has no turn yet.' })
    const input = request.kind === 'input' ? request.input : placedInput([])
    const begins = request.kind === 'input' ? { input: turnInputOf(input) } : { retry_of: latest }
    const turn = { ...callWith(call, { ...options, ...begins }), idempotency: call.idempotency }
    const began = await parts.useCases['sessions.turns'](turn).catch(inPlace(input))
    return { ...began, protocol: protocolOf(call) }
  },
  'ui_messages.resume': async (call): Promise<StreamAnswer> => {
    const { host } = parts
    const session = await findSession(host, call, call.params.session_id)
    if (call.params.chat !== session.id)
      throw new ServiceError('not_found', { param: 'chat', message: 'The id of the chat must be that of the session.' })
    await host.delivered(session.id)
    const { calls } = contextOf(sessionDefinition, session.state.snapshot)
    const isEmpty = !session.busy && !calls.some(({ status }) => status === 'pending')
    if (isEmpty) return { ...continued(host, session, session.state.lastSequence), isEmpty }
    const { first, turn } = await beginOfMessage(host, session)
    return {
      ...continued(host, session, first - 1),
      protocol: protocolOf(call, { messageId: `msg_${turn}_assistant` }),
    }
  },
})

/**
 * The tools of a page, whose functions the turn waits for: an output that began the next turn could not come with a
 * decision about another call of this one.
 */
const waitingTools = ({ tools, pause_on_tool_calls }: Pick<TurnBody, 'tools' | 'pause_on_tool_calls'>) => {
  if (tools === undefined || pause_on_tool_calls !== undefined) return {}
  return { tools: tools.map((tool) => (tool.type === 'function' ? { needsApproval: true, ...tool } : tool)) }
}

const protocolOf = (
  { principal }: Parameters<UseCases['ui_messages.resume']>[0] | Parameters<UseCases['ui_messages.send']>[0],
  { messageId = null, calls = [] }: Partial<Pick<UiMessageProtocol, 'messageId' | 'calls'>> = {},
): UiMessageProtocol => ({ name: 'ui_messages', messageId, calls, approves: approvesOf(principal) })

/** The turn with which the latest message begins: one that only brought outputs goes on with the message before. */
const beginOfMessage = async (host: Host, session: Resident): Promise<{ first: number; turn: number }> => {
  const { turn: latest } = contextOf(sessionDefinition, session.state.snapshot)
  for (let turn = latest; ; turn--) {
    const first = await firstOfTurn(host, session, turn)
    const [started] = await host.readPage(session, first - 1, 1)
    const { input_text, input } = started?.payload ?? {}
    const isWhole = input_text !== '' || input !== undefined || turn <= 1 || latest - turn >= maxTurns
    if (isWhole) return { first, turn }
  }
}
