import { keyOrTokenWith } from '#specs/access.ts'
import { answersEvents } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { defaulted, described, object, oneOf, optional, string } from '#specs/dsl/schema.ts'
import { uiMessages as messages, uiMessageParts } from '#specs/events/ui-message-parts.ts'
import { turnErrors, turnFieldRules, turnOptions } from '../sessions.ts'

const path = '/v1/sessions/{session_id}/ui-messages'
const access = keyOrTokenWith('sessions:turn')
const headers = [['x-vercel-ai-ui-message-stream', 'v1']] as const
const answer = { title: 'UiMessagePart', foreign: true } as const

/** Sessions for pages with Vercel's AI SDK: `useChat` with `DefaultChatTransport({ api })`. */
export const uiMessages = defineOperations(
  { name: 'ui_messages', ofTenants: 'user' },
  {
    send: {
      summary: 'Send a UI message',
      description:
        "For `useChat` of Vercel's AI SDK. A last message from the user creates a turn. A last message from the assistant continues the turn: its answered approvals and outputs of tools in the last step decide the calls, as `sessions.approve` and `sessions.reject` do. A turn waits for functions that the page declares in `tools`. Earlier messages are ignored: the session has them. `regenerate-message` repeats a failed turn. A request may be sent again: what is decided stays decided.",
      method: 'POST',
      path,
      access,
      fields: turnFieldRules,
      chatBodyBytes: 64 * 1024 * 1024,
      headers,
      body: object({
        id: described(
          optional(string({ maxLength: 256 })),
          'Id of the chat in the page. Ignored: the path names the session.',
        ),
        messages: described(
          messages,
          'Messages of the page. Only the last one, or the one that `messageId` names, is read.',
        ),
        trigger: defaulted(oneOf('submit-message', 'regenerate-message'), 'submit-message'),
        messageId: described(
          optional(string({ maxLength: 256 })),
          'Message from the assistant that the stream continues. A message from the user cannot be replaced.',
        ),
        ...turnOptions,
      }),
      answer: answersEvents(uiMessageParts, answer),
      errors: [...turnErrors, 'action_already_resolved', 'tool_result_required', 'insufficient_scope'],
    },
    resume: {
      summary: 'Resume a UI message',
      description:
        'Streams the message of the turn in progress from its start, also of one that waits for approvals. Answers 204 when there is none.',
      method: 'GET',
      path: `${path}/{chat}/stream`,
      access,
      headers,
      answer: answersEvents(uiMessageParts, { ...answer, mayBeEmpty: true }),
    },
  },
)

declare module '#specs/index.ts' {
  interface Resources {
    readonly uiMessages: typeof uiMessages
  }
}
