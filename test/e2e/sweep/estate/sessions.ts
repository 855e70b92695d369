import { png } from '#test/gateway/simulated/image-bytes.ts'
import type { EstatePart } from './estate-part.ts'

const uiMessage = (text: string): object => ({ id: 'm1', role: 'user', parts: [{ type: 'text', text }] })
const agUiMessage = (n: number): object => ({ id: `m${n}`, role: 'user', content: `reply exactly: ${n}` })

/** The estate of sessions and actions. */
export const sessions: EstatePart = {
  make: async ({ api, id, mark }) => {
    const bytes = Buffer.concat([png(8, 8), Buffer.from(mark)])
    const image = { type: 'input_image', image_url: `data:image/png;base64,${bytes.toString('base64')}` }
    const turn = await api.turn(id('session_id'), { input: [image] })
    const [started] = await turn.all()
    const [{ image_id }] = Object(started?.data.input)
    return { image_id, actor_id: id('session_id'), chat: id('session_id'), assignee_id: id('member_id') }
  },
  common: ['assignee_id'],
  noIds: ['messageId'],
  bodies: {
    'ag_ui.run': (_, n) => ({ threadId: `thread-${n}`, runId: `run-${n}`, messages: [agUiMessage(n)] }),
    'ui_messages.send': (_, n) => ({ messages: [uiMessage(`reply exactly: ${n}`)] }),
    'sessions.create': ({ id }, n) => ({ agent_id: id('agent_id'), metadata: { n } }),
    'actions.create': ({ id }, n) => ({
      ...{ tool: 'refund', arguments: { n } },
      ...{ tenant_id: id('tenant_id'), run_id: id('run_id'), session_id: id('session_id') },
    }),
    // the version of the review changes with each request
    'action_reviews.update': async ({ api, id }, n) => ({
      assignee_id: id('assignee_id'),
      snoozed_until: `2100-01-01T00:00:${String(n % 60).padStart(2, '0')}.000Z`,
      version: (await api.get(`/v1/actions/${id('action_id')}/review`)).body.version,
    }),
  },
  once: {
    'sessions.approve': ({ id }) => ({ action_id: id('action_id') }),
    'sessions.reject': ({ id }) => ({ action_id: id('action_id') }),
  },
  shownBy: {
    'ag_ui.run tools': 'test/e2e/protocols/ag-ui.e2e.test.ts',
    'actions.create expires_in': 'test/e2e/crash/crash-timers.e2e.test.ts',
    'actions.approve note': 'test/actors/sessions/approvals.test.ts',
    'actions.approve tool_results': 'test/e2e/agents/own-actions.e2e.test.ts',
    'actions.approve content': 'test/e2e/mcp/mcp-input.e2e.test.ts',
    'actions.reject response': 'test/e2e/mcp/mcp-input.e2e.test.ts',
    'sessions.approve content': 'test/e2e/mcp/mcp-input.e2e.test.ts',
    'sessions.fork reason': 'test/e2e/crash/forks.e2e.test.ts',
  },
  beyondSchema: {
    'ag_ui.run': 'new messages have a text, and those of tools name their call',
    'ui_messages.send': 'the last message has a text, a decision or an output',
    'sessions.turns': 'a turn has input or tool_results',
    'actions.complete': 'it says output or error, not both',
    'action_reviews.update': 'the version is that of the review, the time lies in the future, and the member exists',
    'actions.approve': 'content is for an action whose server requests values',
  },
}
