import { keyOrClient } from '#specs/access.ts'
import { answersEvents } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { described, json, object, oneOf, optional, string } from '#specs/dsl/schema.ts'
import { agUiEvents, agUiMessages, agUiResume, agUiTools } from '#specs/events/ag-ui-events.ts'
import { turnErrors } from '../sessions.ts'

/** Sessions for pages with AG-UI: `new HttpAgent({ url, headers })`. */
export const agUi = defineOperations(
  { name: 'ag_ui', ofTenants: 'user' },
  {
    run: {
      summary: 'Run an agent with AG-UI',
      description:
        "For AG-UI 1.0. The thread is a session of the agent: its id, or an id of the page's own, for which a session is created. Messages after the last one of the agent begin a turn or answer calls of functions that the page declares in `tools`; `resume` decides about other calls, as `sessions.approve` and `sessions.reject` do. A run with neither sends all messages and follows the latest turn. Other fields of an input, such as `context`, are ignored. A run may be sent again: what is decided stays decided, and a message of the user begins one turn.",
      method: 'POST',
      path: '/v1/agents/{agent_id}/ag-ui',
      access: { ...keyOrClient, permissions: ['sessions:turn'] },
      chatBodyBytes: 64 * 1024 * 1024,
      unknownFields: 'ignore',
      query: {
        on_abort: described(
          optional(oneOf('continue', 'cancel')),
          'What happens to the turn when the page stops reading, as `abortRun` does. Default: `continue`.',
        ),
      },
      body: object({
        threadId: string({
          minLength: 1,
          maxLength: 256,
          description:
            'Id of a session, or an id of your own within the tenant, the user and the agent. With a public key it must be a UUID.',
        }),
        runId: string({ minLength: 1, maxLength: 256, description: 'Id of the run, which its events repeat.' }),
        messages: described(agUiMessages, 'Messages of the page. The session has the earlier ones.'),
        tools: described(optional(agUiTools), 'Functions that the page runs.'),
        resume: optional(agUiResume),
        state: described(optional(json()), 'State of the page, which stays there.'),
      }),
      answer: answersEvents(agUiEvents, { title: 'AgUiEvent', foreign: true }),
      errors: [
        ...turnErrors,
        'action_already_resolved',
        'tool_result_required',
        'insufficient_scope',
        'secret_key_required',
        'idempotency_key_reused',
      ],
    },
  },
)

declare module '#specs/index.ts' {
  interface Resources {
    readonly agUi: typeof agUi
  }
}
