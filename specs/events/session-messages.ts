import {
  array,
  boolean,
  constant,
  described,
  integer,
  json,
  object,
  oneOf,
  optional,
  string,
  union,
} from '../dsl/schema.ts'
import {
  decidedBy,
  requiredConnection,
  requiredInput,
  runBy,
  streamedEvents,
  turnError,
  turnUsage,
  urlCitationFields,
} from './events.ts'
import { shownImage } from './turn-input.ts'

const actionId = string({ description: 'Id of the action that represents the tool call.' })
const tool = string({ description: 'Name of the tool.' })
const shownArguments = described(
  json(),
  'Arguments of the call. Secrets are masked, except for a credential that may run the tool itself.',
)
const turnNumber = integer({ description: 'Number of the turn in its session, from 1.' })

const textPart = object(
  { type: constant('text'), text: string({ description: 'Text.' }) },
  { title: 'SessionMessageText', description: 'Text of the user or of the model.' },
)

const imagePart = object(
  { type: constant('image'), ...shownImage },
  { title: 'SessionMessageImage', description: 'An image of the user, by reference.' },
)

const reasoningPart = object(
  { type: constant('reasoning'), text: string({ description: 'What the model reasoned.' }) },
  {
    title: 'SessionMessageReasoning',
    description: 'What the model reasoned before the text or the calls that follow.',
  },
)

const toolPart = object(
  {
    type: constant('tool'),
    action_id: actionId,
    tool,
    arguments: shownArguments,
    ...runBy,
    status: described(
      oneOf('running', 'pending', 'awaiting_output', 'completed', 'rejected', 'cancelled'),
      '`pending`: waits for a decision, as in `pending_actions`. `awaiting_output`: the turn ended, and the next one brings the output in `tool_results`. `cancelled`: the turn ended before.',
    ),
    output: optional(string({ description: 'Output of the tool.' })),
    reason: optional(string({ description: 'Reason for the rejection.' })),
  },
  { title: 'SessionMessageTool', description: 'A tool call of the model.' },
)

const citationPart = object(
  { type: constant('citation'), ...urlCitationFields },
  { title: 'SessionMessageCitation', description: 'A page that the text of the message cites.' },
)

/** A message of a session. */
const sessionMessage = object(
  {
    id: string({ description: 'Made of the turn number and the role: `msg_3_user`, `msg_3_assistant`.' }),
    role: oneOf('user', 'assistant'),
    turn_number: turnNumber,
    status: described(
      oneOf('completed', 'in_progress', 'paused', 'failed'),
      '`paused`: waits for `pending_actions`. Messages of users are `completed`.',
    ),
    parts: described(
      array(union([textPart, imagePart, reasoningPart, toolPart, citationPart], 'type')),
      'Parts in the order in which they began.',
    ),
    usage: optional(turnUsage),
    error: optional(turnError),
    retry_of: optional(
      integer({ description: 'Failed turn whose input this one repeats. Its input is not repeated as a message.' }),
    ),
  },
  { title: 'SessionMessage', description: 'What the user or the model said in a turn.' },
)

const pendingAction = object(
  {
    action_id: actionId,
    turn_number: turnNumber,
    reason: oneOf('approval_required', 'connection_required', 'input_required'),
    tool,
    arguments: shownArguments,
    ...runBy,
    ...decidedBy,
    connection: optional(requiredConnection),
    input: optional(requiredInput),
  },
  { title: 'PendingAction', description: 'A tool call that the turn waits for.' },
)

const page = {
  data: described(array(sessionMessage), 'Messages, oldest first.'),
  pending_actions: described(array(pendingAction), 'Tool calls that the turn in progress waits for.'),
  last_event_id: integer({
    description: 'Sequence number of the last event of these messages. `sessions.stream` continues with `after`.',
  }),
  has_more: described(boolean(), 'Whether there are earlier messages.'),
} as const

/** The messages of a session's newest turns, or of those before a turn. */
export const sessionMessages = object(page, {
  title: 'SessionMessages',
  description: 'Messages of a session, with all that a page needs to go on from them.',
})

/** Events of a session's streams, with the messages that a stream can begin with. */
export const followedEvents = {
  ...streamedEvents,
  'session.snapshot': object(page, {
    title: 'SessionSnapshot',
    description:
      'The messages of the newest turns, as in `sessions.messages`. The first event of a stream with `snapshot=true`; its id is `last_event_id`.',
  }),
} as const
