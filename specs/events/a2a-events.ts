import {
  array,
  boolean,
  described,
  json,
  jsonObject,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '../dsl/schema.ts'

const taskId = string({ description: 'Id of the task, which is that of its run.' })
const contextId = string({ description: 'Context of the task.' })

const part = object(
  {
    text: optional(string()),
    data: optional(json()),
    mediaType: optional(string()),
  },
  { title: 'A2aPart', description: 'A text or a JSON value.' },
)

const message = object(
  {
    messageId: string({ description: 'Id of the message.' }),
    contextId: optional(string()),
    taskId: optional(string()),
    role: oneOf('ROLE_USER', 'ROLE_AGENT'),
    parts: array(part),
  },
  { title: 'A2aMessage', description: 'A message of a task.' },
)

const status = object(
  {
    state: described(
      oneOf(
        ...([
          'TASK_STATE_SUBMITTED',
          'TASK_STATE_WORKING',
          'TASK_STATE_INPUT_REQUIRED',
          'TASK_STATE_AUTH_REQUIRED',
          'TASK_STATE_COMPLETED',
          'TASK_STATE_FAILED',
          'TASK_STATE_CANCELED',
        ] as const),
      ),
      '`TASK_STATE_INPUT_REQUIRED`: a call waits for a decision, which a message to the task brings.',
    ),
    message: optional(message),
    timestamp: optional(timestamp()),
  },
  { title: 'A2aTaskStatus', description: 'State of a task.' },
)

const artifact = object(
  { artifactId: string(), name: string(), parts: array(part) },
  { title: 'A2aArtifact', description: 'Output of a task.' },
)

/** A task of A2A: a run. */
export const a2aTask = object(
  {
    id: taskId,
    contextId,
    status,
    artifacts: optional(array(artifact)),
    history: described(optional(array(message)), 'The message that began the task.'),
    metadata: optional(jsonObject()),
  },
  { title: 'A2aTask', description: 'A task of an agent: a run.' },
)

/** The members of a stream's responses in A2A. Each response has one of them. */
export const a2aUpdates = {
  task: object({ task: a2aTask }, { title: 'A2aTaskStarted', description: 'The task, when the stream begins.' }),
  statusUpdate: object(
    { statusUpdate: object({ taskId, contextId, status }, { title: 'A2aStatusUpdate' }) },
    { title: 'A2aStatusResponse', description: 'The state of the task has changed.' },
  ),
  artifactUpdate: object(
    {
      artifactUpdate: object(
        { taskId, contextId, artifact, append: boolean(), lastChunk: boolean() },
        { title: 'A2aArtifactUpdate' },
      ),
    },
    { title: 'A2aArtifactResponse', description: 'The output of the task.' },
  ),
} as const
